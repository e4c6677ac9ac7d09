"""`benchbook parse`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_text
from benchbook.errors import UsageError

__all__ = ["parse"]


@click.command()
@click.argument("spec", metavar="SPEC")
@click.argument("file", metavar="FILE.jsonl")
@click.option("--json", "as_json", is_flag=True, help="Accepted as by every command: the output is JSON lines anyway.")
def parse(spec: str, file: str, as_json: bool) -> None:
    """Read judges' replies under SPEC (rubric@v1, judge_protocol@v1, a rubric's folder) and say what each is worth.

    FILE holds a JSON object a line: {"id", "reply", "options"?}, and for judge_protocol@v1 also {"output_text",
    "asked"?, "evaluation_set"?}. A line comes out for each, in order. Under rubric@v1:
    {"id", "ok": true, "accuracy_score", "faithfulness_score", "rationale"}, or
    {"id", "ok": false, "parse_error_reason", "detail"}. Under judge_protocol@v1:
    {"id", "valid", "flags", "verdict", "located", "details"}; the details say of each flag what was found, and where. A
    line that is no such object is told with a detail that names it, and does not stop the rest; the command then ends
    with 2.
    """
    from benchbook.evaluators.registry import evaluator_asked_for

    del as_json
    evaluator = evaluator_asked_for(spec)
    unreadable = 0
    for number, line in _lines(file):
        case: dict[str, Any] = {}
        try:
            case = _object_on(line)
            result = evaluator.parse_line(case)
        except UsageError as fault:
            unreadable += 1
            result = evaluator.unparsed_line(case.get("id"), f"{file}:{number}: {fault}")
        click.echo(json_text(result))
    if unreadable:
        what = "1 line is" if unreadable == 1 else f"{unreadable} lines are"
        raise UsageError(f"{file}: {what} not what {spec} reads; the output says why")


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
