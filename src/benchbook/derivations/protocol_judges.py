"""What became of each judge's calls: replies, failures, tokens, cost, and what is unanswered (SPEC R1.3b, P7)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from benchbook.derivations.identity import Reported, model_version
from benchbook.derivations.model_id import ModelId, parse_model_id
from benchbook.derivations.protocol_plan import JudgePlan
from benchbook.derivations.protocol_rows import JudgeLedger
from benchbook.derivations.rubric_steps import cause_of
from benchbook.records.facts import Failure, Reply
from benchbook.scorers.exact import as_float, percentile

__all__ = ["JudgeCounts", "last_failure"]

_MILLION = Decimal(1_000_000)


def last_failure(facts: list[Reply | Failure]) -> Failure | None:
    """What a sample without a reply ended with; None for one that has a reply."""
    if any(isinstance(fact, Reply) for fact in facts):
        return None
    return next((fact for fact in reversed(facts) if isinstance(fact, Failure)), None)


@dataclass(slots=True)
class JudgeCounts:
    """What is counted of one judge. Before derivation 3 nothing is unanswered: what failed for good is over."""

    plan: JudgePlan
    derivation: int
    reported: Reported = field(default_factory=Reported)
    failures: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)  # by cause
    latencies: Counter[int] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)

    def add(self, facts: list[Reply | Failure]) -> None:
        """The facts of one sample, in their order."""
        for fact in facts:
            if isinstance(fact, Failure):
                self.sums["transport_retries"] += fact.ends == "attempt"
                if fact.ends == "sample" and self.derivation < 3:
                    self.failures[fact.error] += 1
                continue
            self._add_reply(fact)
        if self.derivation >= 3 and (failure := last_failure(facts)) is not None:
            self.unanswered[cause_of(failure)] += 1  # whatever it ended: a judge is asked again

    def _add_reply(self, fact: Reply) -> None:
        self.sums["n_replies"] += 1
        self.sums["truncated"] += fact.finish_reason == "length"
        self.reported.add(fact.model_reported, fact.fingerprint)
        if fact.latency_e2e_ms is not None:
            self.latencies[fact.latency_e2e_ms] += 1
        for name, count in (("input_tokens", fact.input_tokens), ("output_tokens", fact.output_tokens)):
            if count is not None:
                self.sums[name] += count
                self.sums[f"paid_{name}"] += 0 if fact.cached else count
                self.sums[f"known_{name}"] += 1

    @property
    def model_id(self) -> ModelId:
        return parse_model_id(self.plan.role.model_id, "judge")

    def version(self) -> str | None:
        """The exact version: as it is declared of judgements made elsewhere, else as `model_version` tells."""
        return self.plan.said.version or model_version(self.model_id, self.reported, self.derivation)

    def ledger(self, prices: dict[str, Any]) -> JudgeLedger:
        return JudgeLedger(
            judge_model=self.plan.name,
            model_id=self.plan.role.model_id,
            model_version=self.version(),
            n_replies=self.sums["n_replies"],
            failures=dict(sorted(self.failures.items())),
            n_truncated=self.sums["truncated"],
            transport_retries=self.sums["transport_retries"],
            input_tokens=self.sums["input_tokens"] if self.sums["known_input_tokens"] else None,
            output_tokens=self.sums["output_tokens"] if self.sums["known_output_tokens"] else None,
            cost_usd=self._cost(prices),
            latency_p50_ms=as_float(percentile(self.latencies, 50)),
            unanswered=dict(sorted(self.unanswered.items())) if self.derivation >= 3 else msgspec.UNSET,
        )

    def _cost(self, prices: dict[str, Any]) -> str | None:
        given = {kind: prices.get(f"{kind}_price") for kind in ("input", "output")}
        if not any(given.values()):
            return None
        cost = sum(Decimal(str(price or 0)) * self.sums[f"paid_{kind}_tokens"] for kind, price in given.items())
        return f"{cost / _MILLION:.6f}"
