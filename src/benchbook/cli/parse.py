"""`benchbook parse`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_text
from benchbook.errors import UsageError

__all__ = ["parse"]

_Parser = Callable[[dict[str, Any]], dict[str, Any]]


@click.command()
@click.argument("spec", metavar="SPEC")
@click.argument("file", metavar="FILE.jsonl")
def parse(spec: str, file: str) -> None:
    """Read judges' replies under SPEC (rubric@v1, judge_protocol@v1) and say what each is worth.

    FILE holds a JSON object a line: {"id", "reply", "options"?}. A line comes out for each, in order:
    {"id", "ok": true, "accuracy_score", "faithfulness_score", "rationale"}, or
    {"id", "ok": false, "parse_error_reason", "detail"}. A line that is no such object is told as not ok and does not
    stop the rest; the command then ends with 2.
    """
    parser = _parser_of(spec)
    unreadable = 0
    for number, line in _lines(file):
        case, fault = _read(line)
        if fault is not None:
            unreadable += 1
            result = {
                "id": case.get("id"),
                "ok": False,
                "parse_error_reason": None,
                "detail": f"{file}:{number}: {fault}",
            }
        else:
            result = parser(case)
        click.echo(json_text(result))
    if unreadable:
        raise UsageError(f"{file}: {unreadable} lines are not objects with an id and a reply; see the output")


def _parser_of(spec: str) -> _Parser:
    if spec == "rubric@v1":
        return _rubric
    if spec == "judge_protocol@v1":
        from benchbook.scorers.judge_protocol import parse_line

        return parse_line
    raise UsageError(f"no replies are read under {spec!r}; there are rubric@v1 and judge_protocol@v1")


def _rubric(case: dict[str, Any]) -> dict[str, Any]:
    from benchbook.scorers.rubric_reply import Parsed, parse_reply

    options = case.get("options") or {}
    found = parse_reply(case["reply"] or "", options.get("reasoning_tags") or ())
    if not isinstance(found, Parsed):
        return {"id": case.get("id"), "ok": False, "parse_error_reason": found.reason, "detail": found.detail}
    result = {
        "id": case.get("id"),
        "ok": True,
        "accuracy_score": found.accuracy_score,
        "faithfulness_score": found.faithfulness_score,
        "rationale": found.rationale,
    }
    return result if found.reasoning is None else result | {"reasoning": found.reasoning}


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    """Lines end at LF alone: U+2028 and its kin may stand inside a JSON string."""
    try:
        with Path(file).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise UsageError(f"{file}: can't be read ({error.strerror})") from None


def _read(line: bytes) -> tuple[dict[str, Any], str | None]:
    """The object on a line, and what is wrong with it."""
    try:
        case = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except UnicodeDecodeError as error:
        return {}, f"no UTF-8 at byte {error.start + 1}"
    except (ValueError, RecursionError) as error:
        return {}, f"no JSON ({error})"
    if not isinstance(case, dict):
        return {}, "no JSON object"
    options = case.get("options")
    if options is not None and not isinstance(options, dict):
        return case, "options: expected an object"
    tags = (options or {}).get("reasoning_tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return case, "options.reasoning_tags: expected a list of strings"
    if not isinstance(case.get("reply", 0), str | None):
        return case, "reply: expected a string"
    return case, None
