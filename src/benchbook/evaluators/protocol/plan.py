"""The plan of a record under a protocol: who judges what, by which rules (SPEC P1, P3, P4.1, P7)."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchbook.ask.requests import RolePlan
from benchbook.canonical import ready
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.protocol.findings import Edition, SameModel
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.validity import EvidenceRule, Options
from benchbook.record.facts import RunStarted

__all__ = ["JUDGE_PROMPT", "Declared", "JudgePlan", "ProtocolPlan", "edition_of", "protocol_plan_of"]


JUDGE_PROMPT = (
    "judge_prompt/"  # before its hash: an input of a record, a prompt by which judgements were made elsewhere
)


class Declared(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody says of a judge that nobody here can know (P7). A null is what was not said."""

    version: str | None = None
    params: dict[str, Any] | None = None  # decoding parameters
    tools: tuple[str, ...] | None = None  # empty: it had none
    web_access: bool | None = None
    prompt_sha256: str | None = None  # of the judge prompt that was used


class JudgePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One judge. `name` is what it is called in replies, files and tables."""

    name: str
    role: RolePlan
    declared: Declared | msgspec.UnsetType = msgspec.UNSET

    @property
    def said(self) -> Declared:
        return self.declared if isinstance(self.declared, Declared) else Declared()


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
    task: Literal["unknown"] | msgspec.UnsetType = msgspec.UNSET  # what the targets were asked is not known (P4.3)

    @property
    def n_regular(self) -> int:
        """Samples that are not probes."""
        if self.judgements_sha256 is not None:
            return self.n_judgements
        return self.n_outputs * len(self.judges) * self.repeats

    @property
    def n_samples(self) -> int:
        return self.n_regular + self.n_probes * len(self.judges)

    def options_of(self, judge: int | None, edition: Edition, protocol: Protocol) -> Options:
        """How a judge's replies are read."""
        tags = () if judge is None else self.judges[judge].role.reasoning_tags
        return Options(self.evidence, tags, SameModel(self.same_model), edition, protocol)


def edition_of(started: RunStarted) -> Edition:
    """By which edition of the rules a record's replies are read: old records keep theirs."""
    return 2 if derivation_of(started) >= 3 else 1


def protocol_plan_of(started: RunStarted) -> ProtocolPlan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], ready(ProtocolPlan))
