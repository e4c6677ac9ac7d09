"""A regression gate as JUnit XML: a test case for each item of the baseline, and one for the gate itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.decisions.comparison import Comparison
from benchbook.decisions.regressions import RegressionCheck
from benchbook.reports import numbers
from benchbook.reports.junit import _attribute, _cut, _outcome, _suite
from benchbook.scorers.exact import as_float

__all__ = ["regressions_junit"]

_COLUMNS = ("class", "item_id", "prompt", "expected", "score_nano_a", "score_nano_b", "text_a", "text_b")


def regressions_junit(pair: Comparison, check: RegressionCheck) -> Iterator[str]:
    """The document, in pieces. An item that regressed is a failure; one that has no score in the run, an error.

    Items that can't be compared (only the run has them, or another answer is expected now) are skipped.
    """
    counts = pair.counts
    n_errors, n_skipped = len(check.missing), counts["expected_changed"] + counts["only_in_b"]
    n_skipped += counts["only_in_a"] - n_errors
    n, failures = len(pair.items), counts["regressed"] + (not check.holds)
    at = str(pair.b.manifest.get("timestamp_utc", ""))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuites name={_attribute(pair.b.name)} tests="{n + 1}" failures="{failures}" errors="{n_errors}" '
        f'skipped="{n_skipped}">\n'
    )
    yield _suite("regression gate", 1, int(not check.holds), 0, 0, at)
    yield f'<testcase classname="regressions" name={_attribute(f"against {pair.a.name}")}>\n'
    if not check.holds:
        yield _outcome("failure", "regressions", check.reasons[0], "\n".join(check.reasons))
    yield "</testcase>\n</testsuite>\n"
    yield _suite("items", n, counts["regressed"], n_errors, n_skipped, at)
    missing = frozenset(check.missing)
    for row in pair.items.select(_COLUMNS).iter_rows(named=True):
        yield from _item(row, row["class"] == "only_in_a" and row["item_id"] in missing)
    yield "</testsuite>\n</testsuites>\n"


def _item(row: dict[str, Any], is_missing: bool) -> Iterator[str]:
    yield f'<testcase classname="regressions.items" name={_attribute(row["item_id"])}>\n'
    if row["class"] == "regressed":
        before, after = (numbers.score(as_float(row[f"score_nano_{run}"])) for run in "ab")
        yield _outcome("failure", "regressed", f"score {before} before, {after} now", _details(row))
    elif is_missing:
        yield _outcome("error", "no_score", "the run has no score for this item of the baseline", "")
    elif row["class"] in ("only_in_a", "only_in_b", "expected_changed"):
        yield f"<skipped message={_attribute(row['class'])}/>\n"
    yield "</testcase>\n"


def _details(row: dict[str, Any]) -> str:
    names = {"prompt": "prompt", "expected": "expected", "text_a": "before", "text_b": "now"}
    return "\n\n".join(f"{name}:\n{_cut(row[column])}" for column, name in names.items())
