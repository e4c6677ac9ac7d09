"""The next step for a sample by its facts, and what came of those so far (SPEC R1.3, R3.5, R3.6).

The runner asks `next_step` until it says Done; a resumed run asks it of the facts that are already there. So going
on after a kill is nothing special.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from benchbook.ask.requests import split_reasoning
from benchbook.errors import RecordError
from benchbook.evalsets import Item
from benchbook.evaluators.derivation import DERIVATION, ONLY_THE_MODEL
from benchbook.evaluators.panel_rules import panel_score
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.reply import Judged, Parsed, Rejected, met_by_panel, parse_reply, score_of
from benchbook.evaluators.rubric.scoring import EvaluatorError
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.record.facts import Failure, Reply, SampleFact, cause_of

MAX_JUDGE_ATTEMPTS = 2  # R3.5: a rejected reply is asked for once more


class AskCandidate(msgspec.Struct, frozen=True):
    pass


class AskJudge(msgspec.Struct, frozen=True):
    judge: int  # its number in the plan
    attempt: int  # from 1
    answer: str


class Done(msgspec.Struct, frozen=True):
    pass


Step = AskCandidate | AskJudge | Done


@dataclass(slots=True)
class Judging:
    """One judge's replies about an answer, in the order of the journal.

    `parsed` has its scores, where its last reply kept the rules; `rejected` why that was not read (R3.5).
    """

    reasoning_tags: tuple[str, ...]
    spec: RubricSpec
    lone_closing: bool = False  # of thoughts whose opening tag stood in the prompt (R3.7)
    replies: list[tuple[Reply, Parsed | Rejected]] = field(default_factory=list)
    failure: Failure | None = None
    last_failure: Failure | None = None  # since the last reply, though it ended no more than its attempt
    parsed: Parsed | None = None
    rejected: Rejected | None = None

    @property
    def is_done(self) -> bool:
        """True at the end. A failure that ended the run, or the sample for its sitting alone, is asked again."""
        failed = self.failure is not None and self.failure.ends == "sample"
        return failed or self.parsed is not None or len(self.replies) >= MAX_JUDGE_ATTEMPTS

    @property
    def error(self) -> EvaluatorError | None:
        """Why no score came (R3.5, R3.6); `cancelled` where the run ended before one could."""
        if self.parsed is not None:
            return None
        if self.failure is not None:
            error: Literal["provider_error", "timeout", "cancelled"] = self.failure.error
            return error
        return "parse_error" if len(self.replies) >= MAX_JUDGE_ATTEMPTS else "cancelled"

    def add(self, fact: SampleFact, judged: Judged | None = None) -> None:
        """Add a fact. `judged` is what it was asked about, where its reply can't be read without."""
        if isinstance(fact, Failure):
            self.last_failure = fact
            if fact.ends != "attempt":
                self.failure = fact
        else:
            self.failure = self.last_failure = None
            found = _read_judge(fact, self.spec, self.reasoning_tags, judged, lone_closing=self.lone_closing)
            self.replies.append((fact, found))
            self.parsed, self.rejected = (found, None) if isinstance(found, Parsed) else (None, found)


class SampleHistory:
    """A sample's facts, sorted out as they come, in the order of the journal.

    `answer` is the candidate's text without declared reasoning; None where it gave none. `judges` has one for each of
    the plan's. `item` may be left out where replies can be read without (`RubricSpec.needs_item`).
    """

    __slots__ = (
        "_judged", "answer", "candidate", "candidate_failure", "derivation", "item", "judges", "last_failure", "plan",
        "reasoning", "spec", "transport_retries",
    )  # fmt: skip

    def __init__(self, plan: Plan, spec: RubricSpec, derivation: int = DERIVATION, item: Item | None = None) -> None:
        self.plan = plan
        self.spec = spec
        self.item = item
        self._judged: Judged | None = None
        self.derivation = derivation
        self.candidate: Reply | None = None
        self.candidate_failure: Failure | None = None
        self.last_failure: Failure | None = None  # the candidate's last, though it ended no more than its attempt
        self.answer: str | None = None
        self.reasoning: str | None = None
        lone_closing = derivation >= ONLY_THE_MODEL
        self.judges = [Judging(judge.reasoning_tags, spec, lone_closing) for judge in plan.judges]
        self.transport_retries = 0

    @property
    def judge_replies(self) -> list[tuple[Reply, Parsed | Rejected]]:
        """The replies of all judges, one judge's after the other's."""
        return [reply for judging in self.judges for reply in judging.replies]

    @property
    def unread(self) -> Judging | None:
        """The first judge who gave no score."""
        return next((judging for judging in self.judges if judging.parsed is None), None)

    @property
    def is_unanswered(self) -> bool:
        """True if no answer came, and not by the model's doing (R1.3a); a time-out alone is."""
        if self.derivation < ONLY_THE_MODEL or self.candidate is not None:
            return False
        failure = self.candidate_failure
        return failure is None or failure.error != "timeout" or failure.ends != "sample"

    @property
    def unreached(self) -> list[tuple[int, Judging]]:
        """The judges, with their numbers, that an answer still waits for (R1.3b)."""
        if self.derivation < ONLY_THE_MODEL or self.answer is None:
            return []
        return [(number, judging) for number, judging in enumerate(self.judges) if not judging.is_done]

    @property
    def verdict(self) -> Parsed | None:
        """The judge's verdict; or the panel's by its rule, in nobody's words: None where something is open."""
        found, panel = [judging.parsed for judging in self.judges], self.plan.panel
        if not isinstance(panel, Panel):
            return found[0]
        scores: list[int] = []
        for number, one in enumerate(self.spec.asked):
            given = [parsed.scores[number] if parsed else None for parsed in found]
            score = panel_score(given, panel.rule, one.lowest, one.highest)
            if score is None:
                return None
            scores.append(score)
        if not self.spec.by_item:
            return Parsed(tuple(scores), "")
        met = met_by_panel([None if parsed is None else parsed.met for parsed in found], panel.rule)
        return None if met is None else Parsed((*scores, score_of(met)), "", met=met)

    @property
    def scores(self) -> tuple[int | None, ...] | None:
        """The scores by criterion; None where one of them is open."""
        verdict = self.verdict
        return None if verdict is None else verdict.scores

    @property
    def parsed(self) -> Parsed | None:
        """The judge's reply; of a panel, that of the first judge who says what the panel does."""
        verdict = self.verdict
        if verdict is None or len(self.judges) == 1:
            return verdict
        replies = (judging.parsed for judging in self.judges)
        return next((one for one in replies if one is not None and one.marks == verdict.marks), None)

    def add(self, fact: SampleFact) -> None:
        is_attempt = isinstance(fact, Failure) and fact.ends == "attempt"
        self.transport_retries += is_attempt
        if fact.role == "judge":
            self._judging(fact).add(fact, self._what_was_judged() if self.spec.asks_more else None)
        elif isinstance(fact, Failure):
            self.last_failure = fact
            if not is_attempt:
                self.candidate_failure = fact
        else:
            self._add_answer(fact)

    def _judging(self, fact: SampleFact) -> Judging:
        if not 0 <= fact.judge < len(self.judges):
            raise RecordError(
                f"fact {fact.seq}: judge {fact.judge} is none of the {len(self.judges)} that were planned"
            )
        return self.judges[fact.judge]

    def _what_was_judged(self) -> Judged:
        if self._judged is None:
            self._judged = Judged(self.answer or "", self.item)
        return self._judged

    def _add_answer(self, reply: Reply) -> None:
        self.candidate, self.candidate_failure, self.last_failure = reply, None, None
        self._judged = None
        if reply.text is not None:
            tags, lone_closing = self.plan.candidate.reasoning_tags, self.derivation >= ONLY_THE_MODEL
            self.reasoning, answer = split_reasoning(reply.text, tags, lone_closing=lone_closing)
            self.answer = answer if answer.strip() else None


ItemOf = Callable[[int], Item | None]
"""Finds the item of a sample."""


def no_item(sample: int) -> None:
    """No item, where replies can be read without."""
    del sample


def read_history(
    facts: Sequence[SampleFact],
    plan: Plan,
    spec: RubricSpec,
    derivation: int = DERIVATION,
    item: Item | None = None,
) -> SampleHistory:
    """Sort out a sample's facts, as the record's derivation reads them. `item` as for `SampleHistory`."""
    history = SampleHistory(plan, spec, derivation, item)
    for fact in facts:
        history.add(fact)
    return history


def _read_judge(
    fact: Reply, spec: RubricSpec, reasoning_tags: tuple[str, ...], judged: Judged | None, *, lone_closing: bool
) -> Parsed | Rejected:
    if fact.text is None:
        return Rejected("empty_reply", f"no text came (finish reason {fact.finish_reason})")
    found = parse_reply(fact.text, spec, reasoning_tags, lone_closing=lone_closing, judged=judged)
    if isinstance(found, Rejected) and found.reason == "malformed_json" and fact.finish_reason == "length":
        return Rejected("truncated", f"cut by max_tokens: {found.detail}")
    return found


def next_step(history: SampleHistory, given_up: Container[int] = ()) -> Step:
    """The next question, or Done. `given_up` are judges that can't be reached in this sitting.

    A failure that ended the run, or the sample for its sitting alone, is not the sample's end: it is asked again.
    """
    if history.candidate is None:
        failure = history.candidate_failure
        return Done() if failure is not None and failure.ends == "sample" else AskCandidate()
    if history.answer is None:
        return Done()  # R1.3: no text, no judge
    for number, judging in enumerate(history.judges):
        if not judging.is_done and number not in given_up:
            return AskJudge(number, len(judging.replies) + 1, history.answer)
    return Done()


def no_answer_reason(history: SampleHistory) -> str | None:
    """Why the candidate gave no answer (R1.3); None where it gave one."""
    if history.answer is not None or history.is_unanswered:
        return None
    if history.candidate is None:
        failure = history.candidate_failure
        return "not_asked" if failure is None else failure.error
    return "content_filter" if history.candidate.finish_reason == "content_filter" else "empty"


def candidate_error(history: SampleHistory) -> str | None:
    """Why a sample is unanswered (R1.3a): its last failure's cause; `not_asked` where nobody was asked."""
    return cause_of(history.last_failure) if history.is_unanswered else None
