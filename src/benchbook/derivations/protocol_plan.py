"""The plan of a `judge_protocol@v1` record: who judges what, by which rules (SPEC P1, P3, P4.1, P7)."""

from __future__ import annotations

import msgspec

from benchbook.canonical import ready
from benchbook.derivations.plan import RolePlan
from benchbook.records.facts import RunStarted
from benchbook.scorers.judge_protocol import EvidenceRule, Options, SameModel

__all__ = ["JudgePlan", "ProtocolPlan", "protocol_plan_of"]


class JudgePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `name` is what it is called in replies, files and tables."""

    name: str
    role: RolePlan


class ProtocolPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen with the first call: another set, prompt, judge, threshold or evidence rule is another experiment (P3).

    Samples are numbered `(repeat * n_outputs + output) * n_judges + judge`, over the outputs that have a text; then
    come the probes, `probe * n_judges + judge`. Judgements made elsewhere are numbered as they stand in their file.
    """

    spec: str
    spec_sha256: str
    set_sha256: str
    n_outputs: int
    judges: tuple[JudgePlan, ...]
    repeats: int
    evidence: EvidenceRule
    same_model: dict[str, str]  # alias -> model (P1)
    date: str  # YYYY-MM-DD, UTC: it stands in every prompt
    prompts_sha256: str | None = None  # of the file with the targets' prompts
    probed_outputs: int = 0  # of how many outputs probes are made
    n_probes: int = 0
    probes_id: str | None = None
    judgements_sha256: str | None = None  # of the file with judgements that were made elsewhere
    n_judgements: int = 0

    @property
    def n_regular(self) -> int:
        """Samples that are not probes."""
        if self.judgements_sha256 is not None:
            return self.n_judgements
        return self.n_outputs * len(self.judges) * self.repeats

    @property
    def n_samples(self) -> int:
        return self.n_regular + self.n_probes * len(self.judges)

    def options_of(self, judge: int | None) -> Options:
        """How a judge's replies are read."""
        tags = () if judge is None else self.judges[judge].role.reasoning_tags
        return Options(self.evidence, tags, SameModel(self.same_model))


def protocol_plan_of(started: RunStarted) -> ProtocolPlan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], ready(ProtocolPlan))
