"""A regression gate as JUnit XML: a test case for each item of the baseline, and one for the gate itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.comparison.compared import Comparison
from benchbook.comparison.regressions import RegressionCheck
from benchbook.evaluators.exact import as_float
from benchbook.views import numbers
from benchbook.views.junit import _attribute, _cut, _outcome, _suite, _text

__all__ = ["regressions_junit"]


_COLUMNS = (
    "class",
    "item_id",
    "prompt",
    "expected",
    "score_nano_a",
    "score_nano_b",
    "text_a",
    "text_b",
    "unanswered_why_b",
)


def regressions_junit(pair: Comparison, check: RegressionCheck) -> Iterator[str]:
    """The document, in pieces. The gate is a failure where it does not hold, an error where nothing can be said.

    An item that has no score in the run is an error. One that regressed is a failure where the number of such items was
    limited, or the run is worse; within the margin it is told, and fails nothing: chance alone loses some. Items that
    can't be compared (only the run has them, or another answer is expected now) are skipped.
    """
    counts = pair.counts
    n_errors, n_skipped = len(check.missing), counts["expected_changed"] + counts["only_in_b"]
    n_skipped += counts["only_in_a"] - n_errors
    failed, open_ = check.outcome == "does_not_hold", check.outcome in ("undecided", "not_complete")
    are_failures = check.max_regressions is not None or pair.score.verdict == "worse"
    n, n_failed = len(pair.items), counts["regressed"] if are_failures else 0
    at = str(pair.b.manifest.get("timestamp_utc", ""))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuites name={_attribute(pair.b.name)} tests="{n + 1}" failures="{n_failed + failed}" '
        f'errors="{n_errors + open_}" skipped="{n_skipped}">\n'
    )
    yield _suite("regression gate", 1, int(failed), int(open_), 0, at)
    yield f'<testcase classname="regressions" name={_attribute(f"against {pair.a.name}")}>\n'
    if not check.holds:
        kind, name = ("failure", "regressions") if failed else ("error", check.outcome)
        yield _outcome(kind, name, check.reasons[0], "\n".join(check.reasons))
    yield "</testcase>\n</testsuite>\n"
    yield _suite("items", n, n_failed, n_errors, n_skipped, at)
    missing = frozenset(check.missing)
    for row in pair.items.select(_COLUMNS).iter_rows(named=True):
        yield from _item(row, row["class"] == "only_in_a" and row["item_id"] in missing, are_failures)
    yield "</testsuite>\n</testsuites>\n"


def _item(row: dict[str, Any], is_missing: bool, are_failures: bool) -> Iterator[str]:
    yield f'<testcase classname="regressions.items" name={_attribute(row["item_id"])}>\n'
    if row["class"] == "regressed":
        before, after = (numbers.score(as_float(row[f"score_nano_{run}"])) for run in "ab")
        words = f"score {before} before, {after} now"
        if are_failures:
            yield _outcome("failure", "regressed", words, _details(row))
        else:
            yield f"<system-out>{_text(f'regressed, within the margin: {words}')}</system-out>\n"
    elif is_missing and row["unanswered_why_b"] is not None:
        words = f"not answered ({row['unanswered_why_b']}): missing, not regressed"
        yield _outcome("error", "not_answered", words, "")
    elif is_missing:
        yield _outcome("error", "no_score", "the run has no score for this item of the baseline", "")
    elif row["class"] in ("only_in_a", "only_in_b", "expected_changed"):
        yield f"<skipped message={_attribute(row['class'])}/>\n"
    yield "</testcase>\n"


def _details(row: dict[str, Any]) -> str:
    names = {"prompt": "prompt", "expected": "expected", "text_a": "before", "text_b": "now"}
    return "\n\n".join(f"{name}:\n{_cut(row[column])}" for column, name in names.items())
