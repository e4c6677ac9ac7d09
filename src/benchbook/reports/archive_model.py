"""What an archive holds besides its evaluations: the prompts, the run log, the probes (SPEC P5, P7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchbook.derivations.derivation import DERIVATION
from benchbook.derivations.evaluation_rows import CoverageGap, EvaluationRow, sha256_of
from benchbook.derivations.judge_analysis import analyse
from benchbook.derivations.judge_analysis_results import Analysis, LeagueRules, Minimums
from benchbook.derivations.protocol_rows import Task
from benchbook.scorers.judge_probes import ProbeResult

__all__ = ["Archive", "JudgeUsed", "RunLog", "UsedPrompt"]


@dataclass(frozen=True, slots=True)
class UsedPrompt:
    """A judge prompt's template, as it was used."""

    name: str  # judge_protocol@v1, or what an import calls it
    text: str

    @property
    def sha256(self) -> str:
        """What a row's `prompt_sha256` names it by."""
        return sha256_of(self.text)


class JudgeUsed(msgspec.Struct, frozen=True, kw_only=True):
    """One judge as it was run. A null is what nobody knows, which is common for judgements made elsewhere."""

    judge_model: str
    version: str | None = None
    params: dict[str, Any] | None = None  # decoding parameters: temperature, top_p, max_tokens, seed
    tools: Sequence[str] | None = None  # empty: it had none
    web_access: bool | None = None


class RunLog(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of P7, with what the analysis was declared to ask."""

    experiment: str
    spec: str
    spec_sha256: str
    evidence: str  # must_be_found or report (P4.1)
    judges: list[JudgeUsed]
    n_samples: int  # cells of the evaluation set
    started_utc: str | None = None
    ended_utc: str | None = None
    journal_sha256: str | None = None
    gaps: list[CoverageGap] = []
    minimums: Minimums = Minimums()
    rules: LeagueRules = LeagueRules()
    # Since derivation 3; archives of older records have none of these.
    derivation: int | msgspec.UnsetType = msgspec.UNSET
    task: Task | msgspec.UnsetType = msgspec.UNSET  # whether what the targets were asked is known (P4.3)
    imported_utc: str | msgspec.UnsetType = msgspec.UNSET  # began and ended are then the evaluations' own dates
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Archive:
    """All that an archive's files hold; `rows` in the one order of rows."""

    rows: list[EvaluationRow]
    prompts: list[UsedPrompt]
    run_log: RunLog
    probes: list[ProbeResult] = field(default_factory=list)
    derivation: int = DERIVATION  # the record's: by it go the intervals of the analysis

    def analysis(self) -> Analysis:
        """What its evaluations say."""
        log = self.run_log
        return analyse(
            self.rows,
            gaps=log.gaps,
            probes=self.probes,
            minimums=log.minimums,
            rules=log.rules,
            derivation=self.derivation,
        )
