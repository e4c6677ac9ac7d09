"""The items that a run lost, for forges: as SARIF 2.1.0, and as annotations of GitHub's.

Each is shown at its line of the eval set. Code scanning takes 5,000 results of a run, and an annotation a line of the
log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchbook.canonical import storable_json
from benchbook.comparison.compared import Comparison
from benchbook.comparison.regressions import RegressionCheck
from benchbook.errors import UsageError
from benchbook.evalsets.evalset import set_lines
from benchbook.evalsets.items import read_item
from benchbook.evalsets.lines import JSON_WHITE_SPACE
from benchbook.evaluators.exact import as_float
from benchbook.record.folder import Record
from benchbook.text import plural, shorten, storable
from benchbook.views import numbers

MOST_RESULTS = 5_000
MOST_ANNOTATIONS = 10  # of a kind, that GitHub shows of one step
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/benchbook/benchbook"
_TEXT = 200  # characters of a text in a message
_RULES = {
    "lost-item": "An item that the baseline answers better.",
    "unanswered-item": "An item that the baseline has a score for, and to which this run got no answer or no score.",
}


@dataclass(frozen=True, slots=True)
class LostItem:
    """An item, and where it stands. `line` counts from 1; None where the eval set is no file that lies there."""

    rule: str
    item_id: str
    words: str
    uri: str
    line: int | None

    @property
    def level(self) -> str:
        return "warning" if self.rule == "lost-item" else "note"


def lost_items(record: Record, pair: Comparison, check: RegressionCheck, root: Path) -> list[LostItem]:
    """The items that regressed, and those that are missing, in the order of the eval set; at most MOST_RESULTS.

    `root` is the folder that a forge calls the repository's. Raises: UsageError, InputError, RecordError.
    """
    missing = frozenset(check.missing)
    chosen = pair.items.filter((pair.items["class"] == "regressed") | pair.items["item_id"].is_in(check.missing))
    rows = list(chosen.head(MOST_RESULTS).iter_rows(named=True))
    uri = _uri(pair.b.manifest, root)
    lines = {} if uri is None else _lines_of(record, {row["item_id_b"] or row["item_id"] for row in rows})
    return [_lost(row, missing, uri or "evalset", lines.get(row["item_id_b"] or row["item_id"])) for row in rows]


def _lost(row: Mapping[str, Any], missing: frozenset[str], uri: str, line: int | None) -> LostItem:
    name = shorten(row["item_id"], 80)
    if row["class"] != "regressed" and row["item_id"] in missing:
        why = row["unanswered_why_b"]
        words = f"Item {name} has no score in this run" if why is None else f"Item {name} was not answered ({why})"
        return LostItem("unanswered-item", row["item_id"], f"{words}: it is missing, not lost.", uri, line)
    before, now = (numbers.score(as_float(row[f"score_nano_{run}"])) for run in "ab")
    texts = {"Expected": row["expected"], "Before": row["text_a"], "Now": row["text_b"]}
    said = "".join(f" {word}: {shorten(text, _TEXT)}" for word, text in texts.items() if text is not None)
    return LostItem(
        "lost-item", row["item_id"], f"Item {name} was lost: score {before} before, {now} now.{said}", uri, line
    )


def _uri(manifest: Mapping[str, Any], root: Path) -> str | None:
    """The eval set's place in the repository; None where it is none of its files."""
    config = manifest.get("config")
    named = config.get("evalset") if isinstance(config, Mapping) else None
    if not isinstance(named, str) or named.startswith(("@", "memory:")):
        return None
    place = Path(os.path.normpath(Path.cwd() / storable(named)))
    try:
        return quote(place.relative_to(root.resolve()).as_posix())
    except ValueError:
        return None


def _lines_of(record: Record, wanted: set[str]) -> dict[str, int]:
    """The line of each of these items in the record's copy of its eval set."""
    started = record.started()
    path, form = record.input(started.inputs["evalset"]), started.identity.get("evalset_form", "jsonl")
    found: dict[str, int] = {}
    for line in set_lines(path, form):
        if len(found) == len(wanted):
            break
        if line.data is None or not line.data.strip(JSON_WHITE_SPACE):
            continue
        try:
            item_id = storable(read_item(line.data, path, line.number).id)
        except UsageError:  # by rules that are newer than the record
            continue
        if item_id in wanted:
            found.setdefault(item_id, line.number)
    return found


# ── SARIF ────────────────────────────────────────────────────────────────────────────────────────────────────

_MARKS = re.compile(r"([\\\[\]])")  # of links within a message (SARIF 2.1.0, section 3.11.6)


def sarif_json(found: list[LostItem], n_lost: int, people: Sequence[str] = ()) -> bytes:
    """The bytes of a SARIF log of one run. `n_lost` are all of them, of which not all may be here. `people` are
    sentences on the run as people would judge, which come first."""
    rules = [{"id": name, "shortDescription": {"text": words}} for name, words in _RULES.items()]
    driver = {"name": "Benchbook", "version": version("benchbook"), "informationUri": _HOME, "rules": rules}
    left_out = n_lost - len(found)
    invocation: dict[str, Any] = {"executionSuccessful": True}
    notes = [_MARKS.sub(r"\\\1", words) for words in people]
    if left_out > 0:
        notes.append(
            f"{plural(left_out, 'result')} more, beyond the {MOST_RESULTS:,} that are taken: `benchbook compare`"
        )
    if notes:
        told = [{"level": "note", "message": {"text": words}} for words in notes]
        invocation["toolExecutionNotifications"] = told
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(one) for one in found],
    }
    return storable_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}) + b"\n"


def _result(one: LostItem) -> dict[str, Any]:
    region = {} if one.line is None else {"region": {"startLine": one.line}}
    place = {"artifactLocation": {"uri": one.uri, "uriBaseId": "%SRCROOT%"}, **region}
    digest = sha256(f"{one.rule}\n{one.uri}\n{one.item_id}".encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": one.rule,
        "ruleIndex": list(_RULES).index(one.rule),
        "level": one.level,
        "message": {"text": _MARKS.sub(r"\\\1", one.words)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"benchbookItem/v1": digest},
    }


# ── annotations ──────────────────────────────────────────────────────────────────────────────────────────────


def annotation_lines(found: list[LostItem], n_lost: int, people: Sequence[str] = ()) -> Iterator[str]:
    """The orders to GitHub's runner that show the first of them beside the code, and how many more there are. `people`
    are sentences on the run as people would judge, which come first, as notices: they take no place from an item."""
    for words in people:
        yield f"::notice title={_property('Benchbook: as people would judge')}::{_data(words)}"
    for one in found[: MOST_ANNOTATIONS - 1]:
        line = "" if one.line is None else f",line={one.line}"
        title = f"Benchbook: {one.rule}"
        level = "warning" if one.level == "warning" else "notice"
        yield f"::{level} file={_property(one.uri)}{line},title={_property(title)}::{_data(one.words)}"
    if n_lost >= MOST_ANNOTATIONS:
        yield f"::warning title=Benchbook::… and {n_lost - MOST_ANNOTATIONS + 1:,} more: see the comment or the record"


def _data(text: str) -> str:
    """A text of which the runner reads no order, in the older form either, which may stand anywhere in a line."""
    plain = storable(text).replace("##[", "# #[")
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
