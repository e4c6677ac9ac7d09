"""The answers of an audit, as files that its judge scores: drawn from a run's, and changed by each rule.

They follow from the original's record and the plan alone, so that `verify` makes them again. Latency and tokens are the
original's, whatever the rule makes of the text: what a judge does is all that may move.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.model_id import parse_model_id
from benchbook.evalsets import Item
from benchbook.evaluators.registry import evaluator_of
from benchbook.exchange.answers import RecordAnswers, settings_over
from benchbook.exchange.first_answers import drawn_ids, first_answers, written_lines
from benchbook.judge_audit.variants import VARIANTS, Judgeable, Names, variants_of
from benchbook.labels.pairs.asked import judges_pairs
from benchbook.labels.pairs.shown import pair_in
from benchbook.record.folder import Record

_NOT_KNOWN = "not-known"
_row_decoder = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class AuditedAnswers:
    """The drawn answers of a record, in the order of the draw, and the rows that tell what each took.

    The files that `settings` names are there while the block of `audited_answers` runs.
    """

    found: RecordAnswers
    drawn: Sequence[Judgeable]
    rows: Mapping[str, dict[str, Any]]  # by the item's id
    n_eligible: int
    seed: int
    folder: Path

    def fits(self, variant: str, names: Names) -> bool:
        """True if the rule fits any of the answers."""
        return bool(variants_of(variant, self.drawn, names, seed=self.seed))

    def settings(self, variant: str, names: Names, places: range, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """The settings of a run whose judge scores these answers, from `places` of the draw, as the rule changes them.

        `given` are the judge's settings. None where the rule fits none of them.
        """
        changed = variants_of(variant, self.drawn, names, seed=self.seed)
        asked = [changed[place] for place in places if place in changed]
        if not asked:
            return None
        files = replace(self.found, repeats=1, answers=self._answers(variant, asked), ids=self._ids(asked))
        if variant in VARIANTS and VARIANTS[variant].aspect == "reference":
            files = replace(files, evalset=self._evalset(variant, asked))
        given = _with_version(self.found, given)
        declared = {"unmeasured": given["unmeasured"]} if "unmeasured" in given else {}
        return settings_over(files, given) | declared

    def _answers(self, variant: str, asked: Sequence[Judgeable]) -> str:
        rows = (self.rows[one.item.id] | {"output": one.shown} for one in asked)
        return written_lines(self.folder / f"{variant}-{Path(self.found.answers).name}", rows)

    def _ids(self, asked: Sequence[Judgeable]) -> str:
        return written_lines(self.folder / "audited-items.jsonl", ({"item_id": one.item.id} for one in asked))

    def _evalset(self, variant: str, asked: Sequence[Judgeable]) -> str:
        """The items as they were changed, each with all that it has."""
        items = (msgspec.structs.asdict(one.item) for one in asked)
        rows = ({name: value for name, value in one.items() if value is not None} for one in items)
        return written_lines(self.folder / f"{variant}-{Path(self.found.evalset).stem}.jsonl", rows)


@contextmanager
def audited_answers(record: Record, *, n: int | None, seed: int) -> Iterator[AuditedAnswers]:
    """Draw `n` answers of a record (all, where there are fewer, or `n` is None): of each item's repeats the first.

    Chance comes from hashes of the seed and the item: no library's next version changes the draw.

    Raises: UsageError for a record without texts of one model, and as `outputs_of`.
    """
    with first_answers(record) as first, tempfile.TemporaryDirectory(prefix="benchbook-audit-") as folder:
        drawn = drawn_ids(first.rows, n, f"audit/{seed}")
        is_of_pairs = judges_pairs(evaluator_of(record))
        judgeable = [_judgeable(first.items[one], first.rows[one]["output"], is_of_pairs) for one in drawn]
        yield AuditedAnswers(first.found, judgeable, first.rows, len(first.rows), seed, Path(folder))


def _judgeable(item: Item, answer: str, is_of_pairs: bool) -> Judgeable:
    pair = pair_in(answer) if is_of_pairs else None
    return Judgeable(item, answer) if pair is None else Judgeable(item, *pair)


def _with_version(found: RecordAnswers, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings, with a version of the model that answered where nobody knows it: it is not what is tried."""
    model = parse_model_id(found.model, "model")
    if found.model_version is not None or model.declared_version is not None:
        return given
    return {"model": f"recorded/{model.name}@{_NOT_KNOWN}", **given}
