"""The results of each judge's calls: replies, failures, tokens, cost, and what is unanswered (SPEC R1.3b, P7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from benchbook.ask.identity import model_version
from benchbook.ask.model_id import ModelId, parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.exact import as_float, percentile
from benchbook.evaluators.protocol.findings import Findings
from benchbook.evaluators.protocol.plan import JudgePlan, ProtocolPlan
from benchbook.evaluators.protocol.reply import read_reply
from benchbook.evaluators.protocol.rows import JudgeLedger, ProtocolManifest, Task
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.signs import REJECTED_IN_A_ROW, InARow, Rejection, explained
from benchbook.record.batches import PriceFactors
from benchbook.record.derived_files import told_by_journal
from benchbook.record.facts import Failure, Reply, cause_of
from benchbook.record.state import JournalState, Reported

_MILLION = Decimal(1_000_000)


def last_failure(facts: list[Reply | Failure]) -> Failure | None:
    """The failure that a sample without a reply ended with; None for one that has a reply."""
    if any(isinstance(fact, Reply) for fact in facts):
        return None
    return next((fact for fact in reversed(facts) if isinstance(fact, Failure)), None)


@dataclass(slots=True)
class JudgeCounts:
    """The counts of one judge. Before derivation 3 nothing is unanswered: what failed for good is over."""

    plan: JudgePlan
    derivation: int
    factors: PriceFactors = field(default_factory=PriceFactors)
    reported: Reported = field(default_factory=Reported)
    failures: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)  # by cause
    latencies: Counter[int] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    paid: dict[str, Decimal] = field(default_factory=dict)  # tokens, less what batches take off their price

    def add(self, facts: list[Reply | Failure]) -> None:
        """Count the facts of one sample, in their order."""
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
                paid = Decimal(0) if fact.cached else count * self.factors.of(fact)
                self.paid[name] = self.paid.get(name, Decimal(0)) + paid
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
        cost = sum(Decimal(str(price or 0)) * self.paid.get(f"{kind}_tokens", 0) for kind, price in given.items())
        return f"{cost / _MILLION:.6f}"


def manifest_of(
    state: JournalState,
    plan: ProtocolPlan,
    protocol: Protocol,
    judges: Sequence[JudgeCounts],
    dates: Sequence[str],
    derived: dict[str, str],
) -> ProtocolManifest:
    """`dates` are those that judgements made elsewhere bear, `derived` the hashes of the other derived files."""
    return ProtocolManifest(
        **told_by_journal(state, derived),
        prompt_sha256=protocol.prompt_sha256,
        dataset_version_or_hash=f"sha256:{plan.set_sha256}",
        n_outputs=plan.n_outputs,
        repeats=plan.repeats,
        evidence=plan.evidence,
        same_model=plan.same_model,
        judges={judge.plan.name: _judge(judge, plan) for judge in judges},
        judged_elsewhere=plan.judgements_sha256 is not None,
        **_since_derivation_3(plan, dates, derivation_of(state.started)),
    )


def _judge(judge: JudgeCounts, plan: ProtocolPlan) -> dict[str, Any]:
    """A judge's entry. Since derivation 3 nothing is claimed that is not known: a null is what nobody said."""
    role, said = judge.plan.role, judge.plan.said
    known = {"model_id": role.model_id, "model_version": judge.version(), "params": role.params}
    if judge.derivation < 3:
        return known
    params = said.params if plan.judgements_sha256 is not None else role.params
    return known | {"params": params, "tools": said.tools, "web_access": said.web_access}


def task_of(plan: ProtocolPlan) -> Task:
    """ "known" if what the targets were asked is in the record (P4.3)."""
    return "unknown" if plan.task == "unknown" or plan.prompts_sha256 is None else "known"


def _since_derivation_3(plan: ProtocolPlan, dates: Sequence[str], derivation: int) -> dict[str, Any]:
    if derivation < 3:
        return {}
    if plan.judgements_sha256 is None:
        return {"task": task_of(plan)}
    return {
        "task": task_of(plan),
        "evaluated_from": min(dates, default=None),
        "evaluated_to": max(dates, default=None),
    }


def rejection_of_evaluation(reply: Reply, number: int, judge: RolePlan, protocol: Protocol) -> Rejection | None:
    """The rejection of a reply that is no JSON object. To decline is no matter of a setting (P4)."""
    findings = Findings()
    read = read_reply(reply.text or "", protocol.names, judge.reasoning_tags, findings)
    if read.value is not None or findings.counts["declined"]:
        return None
    found = findings.details[0]
    reason = found.code if read.body.strip() else "empty_reply"
    said, mended = explained(reply, reason, found.message, judge, f"judges[{number}].")
    return Rejection(number, reason, said, mended)


class RejectedEvaluations:
    """The same for all judges, who are asked once; `names` and `judges` are in their order."""

    def __init__(self, names: Sequence[str], judges: Sequence[RolePlan], protocol: Protocol) -> None:
        self._names = names
        self._judges = judges
        self._protocol = protocol
        self._row = InARow(judges)

    def note(self, reply: Reply, judge: int) -> str | None:
        """The reason to stop the experiment, once there is one."""
        one = rejection_of_evaluation(reply, judge, self._judges[judge], self._protocol)
        if one is None:
            self._row.was_read(judge)
        elif self._row.is_enough_with(one):
            return (
                f"{REJECTED_IN_A_ROW} replies of the judge {self._names[judge]} in a row can't be read ({one.said}). "
                f"What may mend it: {one.mended}. A judge is not asked again for an evaluation that can't be read: "
                "start a new experiment with it"
            )
        return None
