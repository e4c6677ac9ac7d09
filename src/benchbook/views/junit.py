"""JUnit XML: suites of test cases, and those of a regression gate, a case an item. Written while the items go by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from benchbook.evaluators.exact import as_float
from benchbook.text import one_line, visible
from benchbook.views import numbers
from benchbook.views.comparison import GATE_WORDS, gate_for_people_lines, turned_gate

if TYPE_CHECKING:
    from benchbook.comparison.compared import Comparison
    from benchbook.comparison.regressions import RegressionCheck

_MAX_CHARS = 4_000  # of one text
_NOT_XML = re.compile("[\ufffe\uffff]")  # what XML 1.0 forbids beside what `visible` has taken


@dataclass(frozen=True, slots=True)
class Suite:
    """Test cases under a name, and what becomes of them: numbers come first in the file, before any case is known."""

    name: str
    cases: Iterable[str]
    n: int
    failures: int = 0
    errors: int = 0
    skipped: int = 0


def suites(name: str, at: str, parts: Sequence[Suite]) -> Iterator[str]:
    """The document, in pieces. `at` is when it was, in UTC."""
    failures, errors, n_skipped = (
        sum(of) for of in zip(*((one.failures, one.errors, one.skipped) for one in parts), strict=True)
    )
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield (
        f'<testsuites name={_attribute(name)} tests="{sum(one.n for one in parts)}" failures="{failures}" '
        f'errors="{errors}" skipped="{n_skipped}">\n'
    )
    for one in parts:
        # JUnit's schema wants a time without an offset; ours is UTC (SPEC C7).
        yield (
            f'<testsuite name={_attribute(one.name)} tests="{one.n}" failures="{one.failures}" errors="{one.errors}" '
            f'skipped="{one.skipped}" timestamp={_attribute(at.removesuffix("Z"))}>\n'
        )
        yield from one.cases
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def case(classname: str, name: str, said: str = "", time: str | None = None) -> str:
    """A test case. `said` is its outcome, where it has another than that it passed; `time` is in seconds."""
    timed = "" if time is None else f' time="{time}"'
    return f"<testcase classname={_attribute(classname)} name={_attribute(name)}{timed}>\n{said}</testcase>\n"


def outcome(kind: str, name: str, message: str, details: str = "") -> str:
    """Why a case did not pass: a `failure`, or an `error`."""
    return f"<{kind} type={_attribute(name)} message={_attribute(message)}>{_text(details)}</{kind}>\n"


def skipped(why: str) -> str:
    return f"<skipped message={_attribute(why)}/>\n"


def system_out(words: str) -> str:
    """The output of a case that passed."""
    return f"<system-out>{_text(words)}</system-out>\n"


def cut(words: str | None) -> str:
    """A text, no longer than a report of tests can bear."""
    if words is None:
        return numbers.DASH
    return words if len(words) <= _MAX_CHARS else f"{words[:_MAX_CHARS]}… (cut after {_MAX_CHARS:,} characters)"


def _text(words: str) -> str:
    return escape(_legal(words))


def _attribute(words: str) -> str:
    return quoteattr(_legal(one_line(words)))


def _legal(words: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", visible(words))


# ── a regression gate ────────────────────────────────────────────────────────────────────────────────────────

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


def regressions_junit(pair: Comparison, check: RegressionCheck, people: RegressionCheck | None = None) -> Iterator[str]:
    """The document, in pieces. The gate is a failure where it does not hold, an error where nothing can be said. Where
    there is one as `people` would judge, it goes by that; the gate as judged, and items, then fail nothing.

    An item that has no score in the run is an error. One that regressed is a failure where the number of such items was
    limited, or the run is worse; within the margin it is reported and fails nothing: chance alone loses some. Items
    that can't be compared (only the run has them, or another answer is expected now) are skipped.
    """
    counts, n_errors = pair.counts, len(check.missing)
    n_skipped = counts["expected_changed"] + counts["only_in_b"] + counts["only_in_a"] - n_errors
    goes_by = check if people is None else people
    failed, open_ = goes_by.outcome == "does_not_hold", goes_by.outcome in ("undecided", "not_complete")
    are_failures = people is None and (check.max_regressions is not None or pair.score.verdict == "worse")
    gates = list(_gates(pair, check, people))
    missing = frozenset(check.missing)
    items = (
        case("regressions.items", row["item_id"], _of_item(row, row["item_id"] in missing, are_failures))
        for row in pair.items.select(_COLUMNS).iter_rows(named=True)
    )
    parts = (
        Suite("regression gate", gates, len(gates), int(failed), int(open_)),
        Suite("items", items, len(pair.items), counts["regressed"] if are_failures else 0, n_errors, n_skipped),
    )
    yield from suites(pair.b.name, str(pair.b.manifest.get("timestamp_utc", "")), parts)


def _gates(pair: Comparison, check: RegressionCheck, people: RegressionCheck | None) -> Iterator[str]:
    name = f"against {pair.a.name}"
    if people is None:
        yield case("regressions", name, _of_gate(check))
        return
    turned = list(turned_gate(pair, check, people))
    said = _of_gate(people, turned) or system_out("\n".join((*turned, *gate_for_people_lines(pair, people))))
    yield case("regressions", f"{name}, as people would judge", said)
    told = "\n".join((f"{GATE_WORDS[check.outcome]} as judged", *check.reasons))
    yield case("regressions", f"{name}, as judged", system_out(told))


def _of_gate(check: RegressionCheck, first: Sequence[str] = ()) -> str:
    if check.holds:
        return ""
    kind, name = ("failure", "regressions") if check.outcome == "does_not_hold" else ("error", check.outcome)
    return outcome(kind, name, check.reasons[0], "\n".join((*first, *check.reasons)))


def _of_item(row: dict[str, Any], is_missing: bool, are_failures: bool) -> str:
    if row["class"] == "regressed":
        before, after = (numbers.score(as_float(row[f"score_nano_{run}"])) for run in "ab")
        words = f"score {before} before, {after} now"
        if not are_failures:
            return system_out(f"regressed, within the margin: {words}")
        return outcome("failure", "regressed", words, _item_details(row))
    if row["class"] == "only_in_a" and is_missing:
        if (why := row["unanswered_why_b"]) is not None:
            return outcome("error", "not_answered", f"not answered ({why}): missing, not regressed")
        return outcome("error", "no_score", "the run has no score for this item of the baseline")
    return skipped(row["class"]) if row["class"] in ("only_in_a", "only_in_b", "expected_changed") else ""


def _item_details(row: dict[str, Any]) -> str:
    names = {"prompt": "prompt", "expected": "expected", "text_a": "before", "text_b": "now"}
    return "\n\n".join(f"{name}:\n{cut(row[column])}" for column, name in names.items())
