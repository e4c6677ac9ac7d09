"""A run and its baseline as cases for a test framework: one for each item, with its outcome and its words."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.pairing import ItemClass
from benchbook.comparison.records import baseline_record, compared_run_derived
from benchbook.comparison.regressions import check_regressions, why_failed
from benchbook.errors import UsageError
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.measured import Measured
from benchbook.record.folder import Record, is_record, open_record
from benchbook.text import shorten

Outcome = Literal["passed", "failed", "skipped"]

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", re.ASCII)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_MEASURED, _RUN, _SCORE = "what-was-measured", "the-run-itself", "not-worse-than-the-baseline"
_TEXT = 400  # characters of a model's text in a message


class RegressionCase(NamedTuple):
    """`name`: ASCII letters, digits and `.`, `_`, `-`, `~`. `words`: why it failed or was skipped, else nothing."""

    name: str
    outcome: Outcome
    words: str


def regression_cases(
    run: str,
    baseline: str | None = None,
    *,
    runs: str | Path = "runs",
    allow_different: Collection[str] = (),
    margin: float | None = None,
) -> list[RegressionCase]:
    """The cases of a run against its baseline, both derived anew from their journals.

    `run` and `baseline` are records' folders, or ids of records in the folder `runs`; without a `baseline` it is the
    one that is set there. `allow_different`: see `check_regressions`. With a `margin` the score is tested by it, and an
    item that regressed is skipped: chance alone loses some.

    Raises: UsageError where a record is not there, or `allow_different` names what is not known; RecordError.
    """
    known = get_args(Measured)
    for one in allow_different:
        if one not in known:
            raise UsageError(f"allow-different: found {shorten(one, 60)!r}; expected {', '.join(known)}")
    base = baseline_record(runs) if baseline is None else _record(baseline, runs)
    found = compare(compared_run_derived(base), compared_run_derived(_record(run, runs)), margin=margin)
    return list(comparison_cases(found, cast("Collection[Measured]", allow_different)))


def comparison_cases(comparison: Comparison, allow_different: Collection[Measured] = ()) -> Iterator[RegressionCase]:
    """A case for whether the same was measured; one for a run that itself failed (A3); with a margin, one for the
    score; then one for each item: the baseline's in their order, and what only the run has.
    """
    yield _same_measured(comparison, allow_different)
    run = comparison.b.unanswered
    why = list(why_failed(comparison.b))
    if run.n_items and not why:
        why = [
            f"{run.n_items:,} of its items were not answered ({', '.join(run.why)}): they are missing, not regressed"
        ]
    yield from (RegressionCase(_RUN, "failed", one) for one in why)
    by_margin = comparison.score.not_worse is not None
    if by_margin:
        yield _not_worse(comparison)
    rows = comparison.items
    for name, row in zip(case_names(rows["item_id"]), rows.iter_rows(named=True), strict=True):
        yield RegressionCase(name, *_outcome(row, allow_different, by_margin))


def case_names(ids: Iterable[str]) -> Iterator[str]:
    """A name for each id, all of them different: the id where it is plain, else what is legible of it and a hash."""
    given: Counter[str] = Counter({_MEASURED: 1, _RUN: 1, _SCORE: 1})
    for one in ids:
        name = one
        if not _PLAIN.fullmatch(one):
            digest = hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            name = _NOT_PLAIN.sub("-", one[:40]).strip("-.") + "~" + digest
        given[name] += 1
        yield name if given[name] == 1 else f"{name}~{given[name]}"


def _record(name: str, runs: str | Path) -> Record:
    inside = Path(runs) / name
    return Record(inside) if is_record(inside) and not Path(name).exists() else open_record(name)


def _same_measured(comparison: Comparison, allow_different: Collection[Measured]) -> RegressionCase:
    differ = [one for one in comparison.measured if one.name not in allow_different]
    if not comparison.n_compared:
        return RegressionCase(_MEASURED, "failed", "the run and its baseline have no scored item in common")
    if not differ:
        return RegressionCase(_MEASURED, "passed", "")
    told = "; ".join(f"{one.name} ({', '.join(leaf.path for leaf in one.leaves)})" for one in differ)
    names = ",".join(one.name for one in differ)
    words = (
        f"what was measured differs: {told}; allow it with --benchbook-allow-different {names}, or make a new baseline"
    )
    return RegressionCase(_MEASURED, "failed", words)


def _not_worse(comparison: Comparison) -> RegressionCase:
    """The gate's rule by its margin: failed where it is worse, skipped where too few items tell."""
    check = check_regressions(comparison, allow_different=get_args(Measured))
    outcome: Outcome = "passed" if check.holds else "failed" if check.outcome == "does_not_hold" else "skipped"
    return RegressionCase(_SCORE, outcome, "; ".join(check.reasons))


def _outcome(row: Mapping[str, Any], allow_different: Collection[Measured], by_margin: bool) -> tuple[Outcome, str]:
    kind: ItemClass = row["class"]
    match kind:
        case "regressed":
            return ("skipped" if by_margin else "failed"), _told(row)
        case "only_in_a" if row["unanswered_why_b"] is not None:
            return "skipped", f"this run was not given an answer ({row['unanswered_why_b']}): missing, not regressed"
        case "only_in_a" if "evalset" in allow_different:
            return "skipped", "the baseline alone has it"
        case "only_in_a":
            return "failed", "the baseline has a score for it and this run has none: what is missing may have regressed"
        case "only_in_b":
            return "skipped", "this run alone has it, so there is nothing to hold it against"
        case "expected_changed":
            return "skipped", "its expected answer is another than in the baseline, so the two can't be compared"
        case "improved" | "same_correct" | "same_wrong":
            return "passed", ""


def _told(row: Mapping[str, Any]) -> str:
    lines = {
        "prompt": row["prompt"],
        "expected": row["expected"],
        "baseline": row["text_a"],
        "this run": row["text_b"],
        "why": row["miss_reason_b"],
    }
    told = [f"  {name:<9} {shorten(text, _TEXT)}" for name, text in lines.items() if text is not None]
    scores = f"{as_float(row['score_nano_a']):g} in the baseline, {as_float(row['score_nano_b']):g} in this run"
    return "\n".join([f"item {shorten(row['item_id'], 80)} regressed: {scores}", *told])
