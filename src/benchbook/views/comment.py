"""A run as a comment on a change: the decision, what was lost and won item by item, what can't be told, the hashes.

A forge acts upon the Markdown that it shows: `@name` calls a person, `#12` and hashes make links, a line that begins
with `/` is an order. Texts of others do none of that here, and a comment is never longer than a forge takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.comparison.compared import Comparison
from benchbook.comparison.regressions import RegressionCheck
from benchbook.evaluators.document import (
    Block,
    Code,
    Columns,
    Document,
    Fact,
    Listed,
    Notices,
    Opening,
    Paragraph,
    Section,
    Tone,
    table,
)
from benchbook.evaluators.exact import as_float
from benchbook.text import plural, shorten
from benchbook.views import comparison_tables as tables
from benchbook.views import numbers
from benchbook.views.comparison import GATE_WORDS, gate_for_people, turned_gate
from benchbook.views.comparison_corrected import corrected_blocks
from benchbook.views.markdown import markdown_page

if TYPE_CHECKING:
    import polars

MOST_CHARACTERS = 65_536  # of a comment on GitHub; GitLab takes more
_ROWS = (100, 50, 20, 10, 5, 0)  # of each table: the most with which the comment is short enough
_NAME, _TEXT, _SENTENCE = 80, 160, 400  # characters of an item's id, of a text, of a notice or reason
_MOST_NOTICES = 10
_TONES: Mapping[str, Tone] = {"holds": "good", "does_not_hold": "bad", "undecided": "doubt", "not_complete": "bad"}


@dataclass(frozen=True, slots=True)
class CommentReport:
    """A run, and what it is held against. `own` is the opening of its own report.

    `check` and `comparison` are there where the run was held against a baseline. Where labels were given, `people` is
    the gate as people would judge, `own_for_people` the run's own decision so, and `own_turned` says of that, to be
    read first, that it is another.
    """

    run: str
    record_sha256: str
    own: Opening
    notices: tuple[str, ...] = ()
    check: RegressionCheck | None = None
    comparison: Comparison | None = None
    people: RegressionCheck | None = None
    own_for_people: tuple[Block, ...] = ()
    own_turned: str | None = None

    @property
    def turned(self) -> tuple[str, ...]:
        """A sentence on whatever people's labels turn, to be read before anything else."""
        found = () if self.own_turned is None else (self.own_turned,)
        if self.comparison is None or self.check is None or self.people is None:
            return found
        return (*turned_gate(self.comparison, self.check, self.people, "the baseline", "this run"), *found)


def comment_marker(name: str) -> str:
    """The line by which a comment is found again; nobody sees it."""
    return f"<!-- benchbook-comment {name} -->"


def comment_markdown(report: CommentReport, name: str) -> str:
    """The comment, whole, behind its marker."""
    room = MOST_CHARACTERS - len(comment_marker(name)) - 2
    for most in _ROWS:
        found = inert("".join(markdown_page(_document(report, most))))
        if len(found) <= room:
            break
    else:  # texts of our own alone can't be so long, but an evaluator of somebody else's has words of its own
        found = _cut(found, room)
    return f"{comment_marker(name)}\n\n{found}"


def _cut(text: str, room: int) -> str:
    note = "\n\nCut here: a comment can't be longer.\n"
    return text[: text.rindex("\n\n", 0, room - len(note))] + note


# ── nothing in it that a forge acts upon ─────────────────────────────────────────────────────────────────────

_CODE = re.compile(r"(^(`{3,})text\n.*?^\2$|(?<!\\)`[^`\n]+`)", re.MULTILINE | re.DOTALL)
# Marks that are still read once Markdown is HTML, where no backslash and no reference is left of them: names of people
# and groups, of items, milestones, labels and snippets, addresses, hashes. They are parted from what they would name.
_ACTED_UPON = re.compile(
    r"&\#64;|&\#38;|&\#58;(?=//)|www&\#46;|\\[#!$~^*\[](?=[\w&\"\\])|%(?=[\w\"\\])|\bgh-(?=\d)"
    r"|\b(?=[a-f]*[0-9])[0-9a-f]{7,}\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"^([ \t]*)/", re.MULTILINE)
_APART = "&#8203;"  # nothing, of no width


def inert(markdown: str) -> str:
    """Markdown whose words are nothing but words to GitHub and GitLab; code is that already."""
    pieces = _CODE.split(markdown)  # text, code, its fence, text, …
    for place in range(0, len(pieces), 3):
        pieces[place] = _ORDER.sub(rf"\1{_APART}/", _ACTED_UPON.sub(_parted, pieces[place]))
    return "".join(piece for place, piece in enumerate(pieces) if place % 3 != 2)


def _parted(found: re.Match[str]) -> str:
    mark = found[0]
    if not mark.isalnum():
        return mark + _APART
    return _APART.join(mark[start : start + 6] for start in range(0, len(mark), 6))  # a hash is seven at least


# ── its content ──────────────────────────────────────────────────────────────────────────────────────────────


def _document(report: CommentReport, most: int) -> Document:
    """`most` items of each table are named."""
    pair = report.comparison
    blocks: list[Block] = [Notices(report.turned, "above", "turned"), _opening(report)]
    found = [*report.notices, *(tables.notices(pair) if pair is not None else ())]
    shown = [shorten(one, _SENTENCE) for one in found[:_MOST_NOTICES]]
    if len(found) > _MOST_NOTICES:
        shown.append(f"… and {plural(len(found) - _MOST_NOTICES, 'notice')} more: in the report.")
    blocks.append(Notices(tuple(shown)))
    if pair is not None:
        blocks += [
            _changed(pair),
            *_for_people(report),
            *_moved(pair, most),
            *_not_told(pair, most),
            _by_itself(report),
        ]
    blocks += _own_for_people(report)
    command = f"benchbook verify {shorten(report.run, _NAME)} --expect {report.record_sha256}"
    how = "Every number here is computed from the record's journal. With the record at hand, offline:"
    blocks.append(Section("verify", "Check it yourself", (Paragraph(how), Code(command))))
    return Document(f"Benchbook: {report.run}", "comment", blocks, digest=report.record_sha256)


def _opening(report: CommentReport) -> Opening:
    """The decision: of the run against its baseline, where it has one, else its own."""
    pair, check, own = report.comparison, report.check, report.own
    facts = [one for one in own.facts if one.label not in ("Run", "Record")]
    facts += [Fact("Run", shorten(report.run, _NAME)), Fact("Record", digest=report.record_sha256)]
    if check is None:
        return Opening(own.headline, own.tone, own.code, own.meaning, own.reasons, tuple(facts))
    meaning = [] if report.people is None else [gate_for_people(report.people)]
    meaning += [] if pair is None else [tables.verdict(pair)]
    if check.holds and check.shown is not None:
        meaning.append(f"{check.shown[:1].upper()}{check.shown[1:]}")
    reasons = (Listed(tuple(shorten(one, _SENTENCE) for one in check.reasons), "Why"),) if check.reasons else ()
    if pair is not None:
        facts.append(Fact("Baseline", shorten(pair.a.name, _NAME), digest=_hash_of(pair.a.manifest)))
    words, tone = GATE_WORDS[check.outcome], _TONES[check.outcome]
    return Opening(words, tone, check.outcome, tuple(meaning), reasons, tuple(facts))


def _hash_of(manifest: Mapping[str, Any]) -> str | None:
    found = manifest.get("journal_sha256")
    return found if isinstance(found, str) else None


def _changed(pair: Comparison) -> Section:
    who = f"A is the baseline {shorten(pair.a.name, _NAME)}, B this run. {tables.first_line(pair)}"
    margin = tables.margin_line(pair)
    more = () if margin is None else (Paragraph(margin),)
    return Section("changed", "What changed", (Paragraph(who), *more, tables.differences_table(pair)))


def _for_people(report: CommentReport) -> Iterator[Section]:
    """The gate and the difference as people would judge, where labels were given."""
    pair, people = report.comparison, report.people
    if pair is None or people is None:
        return
    said: list[Block] = [Paragraph(gate_for_people(people))]
    if people.holds and people.shown is not None:
        said.append(Paragraph(f"{people.shown[:1].upper()}{people.shown[1:]}"))
    if people.reasons:
        said.append(Listed(tuple(shorten(one, _SENTENCE) for one in people.reasons), "Why"))
    yield Section("for-people", "As people would judge", (*said, *corrected_blocks(pair)))


def _own_for_people(report: CommentReport) -> Iterator[Section]:
    if report.own_for_people:
        title = "As people would judge" if report.people is None else "The run by itself, as people would judge"
        yield Section("own-for-people", title, report.own_for_people)


_MOVED: Columns = {"Item": "text", "Score": "text", "Expected": "text", "A": "text", "B": "text"}


def _moved(pair: Comparison, most: int) -> Iterator[Section]:
    """The items that were lost, then those that were won."""
    for kind, word in (("regressed", "Lost"), ("improved", "Won")):
        items = pair.items.filter(pair.items["class"] == kind)
        if len(items):
            rows = (
                (
                    shorten(row["item_id"], _NAME),
                    f"{_score(row, 'a')} → {_score(row, 'b')}",
                    *(shorten(row[name] or numbers.DASH, _TEXT) for name in ("expected", "text_a", "text_b")),
                )
                for row in items.head(most).iter_rows(named=True)
            )
            title = f"{word}: {plural(len(items), 'item')}"
            yield Section(kind, title, (table(title, _MOVED, rows, titled=True), *_rest(len(items), most)))


def _score(row: Mapping[str, Any], run: str) -> str:
    return numbers.score(as_float(row[f"score_nano_{run}"]), "none")


def _not_told(pair: Comparison, most: int) -> Iterator[Section]:
    """The items of which nothing can be said, each with why."""
    kinds = ("only_in_a", "only_in_b", "expected_changed")
    items = pair.items.filter(pair.items["class"].is_in(kinds))
    if not len(items):
        return
    asked = {run: _ids_not_asked(pair, run) for run in "ab"}
    rows = ((shorten(row["item_id"], _NAME), _why(row, asked)) for row in items.head(most).iter_rows(named=True))
    title = f"Can't be told: {plural(len(items), 'item')}"
    columns: Columns = {"Item": "text", "Why": "text"}
    yield Section("not-told", title, (table(title, columns, rows, titled=True), *_rest(len(items), most)))


def _ids_not_asked(pair: Comparison, run: Any) -> frozenset[str]:
    chosen: polars.DataFrame = pair.items.filter(pair.was_not_asked(run))
    return frozenset(chosen["item_id"])


def _why(row: Mapping[str, Any], not_asked: Mapping[str, frozenset[str]]) -> str:
    if row["class"] == "expected_changed":
        return "its expected answer is another than in A"
    run, here = ("b", "B") if row["class"] == "only_in_a" else ("a", "A")
    if (why := row[f"unanswered_why_{run}"]) is not None:
        return f"not answered in {here} ({shorten(why, 40)}): missing, not lost"
    if row["item_id"] in not_asked[run]:
        return f"not asked in {here}, which ended early"
    return f"no score in {here}" if row[f"sample_{run}"] is not None else f"not in {here}"


def _rest(n: int, most: int) -> tuple[Paragraph, ...]:
    return (Paragraph(f"… and {n - most:,} more; `benchbook compare` has them all."),) if n > most else ()


def _by_itself(report: CommentReport) -> Section:
    """The run's own decision, which a baseline takes nothing from."""
    own = report.own
    code = "" if own.code is None else f" ({own.code})"
    said: tuple[Block, ...] = (Paragraph(f"{own.headline}{code}."), *map(Paragraph, own.meaning), *own.reasons)
    return Section("by-itself", "The run by itself", said)
