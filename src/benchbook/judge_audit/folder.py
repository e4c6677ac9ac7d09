"""An audit's folder: its plan, and a record for each variant. All else follows from them.

AUDIT/audit.json    the plan
AUDIT/source/       a copy of the run whose answers they are
AUDIT/original/     the answers as they are, judged anew; where the run was the same judge's, `source` has that
AUDIT/again/, AUDIT/longer/, …    each variant; of an audit in several stages `longer.2` and so on, too
AUDIT/card.json     what follows (`card`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.registry import is_complete
from benchbook.judge_audit.stages import Look, look_at
from benchbook.judge_audit.variants import ORIGINAL, VARIANTS, Names, variants_for
from benchbook.record.folder import Record, is_record
from benchbook.record.planned_folders import PlannedFolders

RULES = "judge_variants@v1"
PLAN, CARD, SOURCE = "audit.json", "card.json", "source"
AUDITS = "audits"  # the folder beside that with the runs
BASELINE = "again"  # what all other variants are held against: asked in the same days, in the same audit


class AuditPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that an audit's records follow from, beside the answers and the judge.

    `run_id` and `run_sha256` name the run whose answers they are; with `run_judged`, the judge is that run's own.
    `ends` are the numbers of answers that are judged by the end of each stage. `settings` are those of the judge and
    its limits, without keys.
    """

    audit_id: str
    rules: str
    run_id: str
    run_sha256: str
    run_judged: bool
    n_answers: int  # that were drawn
    n_eligible: int  # of which they were drawn: those with a text
    seed: int
    names: Names
    variants: tuple[str, ...]
    not_tried: tuple[str, ...]  # variants that fit none of the answers
    ends: tuple[int, ...]
    margin: float
    confidence: float
    settings: Mapping[str, Any]


class AuditFolder:
    """An audit in a folder. Nothing but its plan is read until it is asked for."""

    def __init__(self, path: Path, plan: AuditPlan) -> None:
        self.path, self.plan = path, plan

    @property
    def source(self) -> Record:
        return Record(self.path / SOURCE)

    @property
    def card(self) -> Path:
        return self.path / CARD

    def part(self, variant: str, stage: int) -> Record:
        """The record of a variant's stage, from 0, whether it is there or not; the original has one for all."""
        if variant == ORIGINAL and self.plan.run_judged:
            return self.source
        return Record(self.path / (variant if stage == 0 else f"{variant}.{stage + 1}"))

    def parts(self, variant: str, stages: int | None = None) -> list[Record]:
        """The records of a variant that are there, in the order of the stages; of the first `stages` alone."""
        n = 1 if variant == ORIGINAL else len(self.plan.ends)
        every = (self.part(variant, stage) for stage in range(n)[:stages])
        return [one for one in every if is_record(one.path)]

    def asked(self) -> Iterator[Record]:
        """The records that are there and that the audit asked its judge for."""
        for variant in self.plan.variants if self.plan.run_judged else (ORIGINAL, *self.plan.variants):
            yield from self.parts(variant)

    def look_of(self, variant: str, stages: int | None = None) -> Look:
        """The look at a variant, by the stage that it has come to, of the first `stages` alone."""
        return look_at(max(len(self.parts(variant, stages)), 1) - 1, self.plan.ends, self.plan.confidence)

    def lacking(self) -> str | None:
        """The name of the first record that the audit needs and that is not complete; None where all are. Whether a
        variant needs a further stage is its effect's question."""
        needed = [self.part(name, 0) for name in (ORIGINAL, *self.plan.variants)]
        every = {one.path.name: one for one in (*needed, *self.asked())}
        return next((name for name, one in every.items() if not is_complete(one)), None)


PLANNED = PlannedFolders(PLAN, AuditPlan, RULES, "audit of a judge")


def is_audit(path: str | Path) -> bool:
    """True if the folder is an audit's."""
    return PLANNED.is_one(path)


def open_audit(path: str | Path) -> AuditFolder:
    """The audit in a folder. Raises: UsageError for another folder; RecordError for a plan that can't be read."""
    return AuditFolder(Path(path), PLANNED.plan_in(path))


def audit_named(name: str, audits: str | Path) -> AuditFolder:
    """The audit that a user means: a path, or an id in the folder of audits. Raises: as `open_audit`."""
    return open_audit(PLANNED.named(name, audits))


def audits_in(folder: str | Path) -> list[AuditFolder]:
    """The audits in a folder, by their names; those that can't be read are passed over."""
    return [open_audit(path) for path in PLANNED.paths_in(folder)]


def checked_variants(asked: tuple[str, ...], *, pairs: bool) -> tuple[str, ...]:
    """The variants to try, in their order: those asked for with all that they are held against, or all that make sense
    for such answers.

    Raises: UsageError for a name that there is not.
    """
    for name in asked:
        if name not in VARIANTS:
            raise UsageError(f"variants: found {name!r}; expected some of {', '.join(VARIANTS)}")
    chosen = {BASELINE, *(asked or variants_for(pairs=pairs))}
    chosen |= {VARIANTS[name].against for name in chosen} - {ORIGINAL}
    return tuple(name for name in VARIANTS if name in chosen)
