"""`benchbook parse`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_text
from benchbook.errors import UsageError

__all__ = ["parse"]


@dataclass(frozen=True, slots=True)
class _Reader:
    """How one spec's lines are read. Both give a line of output."""

    read: Callable[[dict[str, Any]], dict[str, Any]]  # raises UsageError for a line that holds no case
    unreadable: Callable[[Any, str], dict[str, Any]]  # from the line's id and what is wrong with it


@click.command()
@click.argument("spec", metavar="SPEC")
@click.argument("file", metavar="FILE.jsonl")
@click.option("--json", "as_json", is_flag=True, help="Accepted as by every command: the output is JSON lines anyway.")
def parse(spec: str, file: str, as_json: bool) -> None:
    """Read judges' replies under SPEC (rubric@v1, judge_protocol@v1) and say what each is worth.

    FILE holds a JSON object a line: {"id", "reply", "options"?}, and for judge_protocol@v1 also {"output_text",
    "asked"?, "evaluation_set"?}. A line comes out for each, in order. Under rubric@v1:
    {"id", "ok": true, "accuracy_score", "faithfulness_score", "rationale"}, or
    {"id", "ok": false, "parse_error_reason", "detail"}. Under judge_protocol@v1:
    {"id", "valid", "flags", "verdict", "located", "details"}; the details say of each flag what was found, and where. A
    line that is no such object is told with a detail that names it, and does not stop the rest; the command then ends
    with 2.
    """
    del as_json
    reader = _reader_of(spec)
    unreadable = 0
    for number, line in _lines(file):
        case: dict[str, Any] = {}
        try:
            case = _object_on(line)
            result = reader.read(case)
        except UsageError as fault:
            unreadable += 1
            result = reader.unreadable(case.get("id"), f"{file}:{number}: {fault}")
        click.echo(json_text(result))
    if unreadable:
        what = "1 line is" if unreadable == 1 else f"{unreadable} lines are"
        raise UsageError(f"{file}: {what} not what {spec} reads; the output says why")


def _reader_of(spec: str) -> _Reader:
    if spec == "rubric@v1":
        return _Reader(_rubric, _unreadable_for_rubric)
    if spec == "judge_protocol@v1":
        from benchbook.evaluators.protocol.validity import parse_line

        return _Reader(parse_line, _unreadable_for_protocol)
    raise UsageError(f"no replies are read under {spec!r}; there are rubric@v1 and judge_protocol@v1")


def _rubric(case: dict[str, Any]) -> dict[str, Any]:
    from benchbook.evaluators.rubric.reply import Parsed, parse_reply
    from benchbook.evaluators.rubric.spec import rubric_v1

    spec, tags = rubric_v1(), _reasoning_tags(case.get("options"))
    reply = case.get("reply", 0)
    if not isinstance(reply, str | None):
        raise UsageError("reply: expected a string")
    found = parse_reply(reply or "", spec, tags)
    if not isinstance(found, Parsed):
        return {"id": case.get("id"), "ok": False, "parse_error_reason": found.reason, "detail": found.detail}
    scores = {one.score_key: score for one, score in zip(spec.criteria, found.scores, strict=True)}
    result = {"id": case.get("id"), "ok": True, **scores, "rationale": found.rationale}
    return result if found.reasoning is None else result | {"reasoning": found.reasoning}


def _reasoning_tags(options: Any) -> list[str]:
    if options is not None and not isinstance(options, dict):
        raise UsageError("options: expected an object")
    tags = (options or {}).get("reasoning_tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError("options.reasoning_tags: expected a list of strings")
    return tags


def _unreadable_for_rubric(case_id: Any, detail: str) -> dict[str, Any]:
    return {"id": case_id, "ok": False, "parse_error_reason": None, "detail": detail}


def _unreadable_for_protocol(case_id: Any, detail: str) -> dict[str, Any]:
    return {"id": case_id, "valid": False, "flags": [], "verdict": None, "located": [], "details": [], "detail": detail}


def _lines(file: str) -> Iterator[tuple[int, bytes]]:
    """Lines end at LF alone: U+2028 and its kin may stand inside a JSON string."""
    try:
        with Path(file).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise UsageError(f"{file}: can't be read ({error.strerror})") from None


def _object_on(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises: UsageError for anything else."""
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        case = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise UsageError(f"no UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no JSON ({error})") from None
    if not isinstance(case, dict):
        raise UsageError("no JSON object")
    return case


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    """What would come out as Infinity is refused as it comes in."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large a number")
    return value
