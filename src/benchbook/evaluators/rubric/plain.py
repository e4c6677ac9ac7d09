"""Samples that went as planned, many at once: the model answered, the judge gave a score, nothing was asked again.

Their rows are made as columns, and their sums of these. Whatever is out of the ordinary is left for `steps` and `row`,
which say the same of a plain sample: tests hold the two against each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchbook.evalsets import Item
from benchbook.evaluators.derivation import ONLY_THE_MODEL
from benchbook.evaluators.exact import NANO, divide
from benchbook.evaluators.rubric.plain_scores import PlainScore, PlainScorer
from benchbook.evaluators.rubric.plan import Panel, Plan, Requests
from benchbook.evaluators.rubric.reply import PlainReplies
from benchbook.evaluators.rubric.row import row_type
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.record.columns import Column, Same, coded_lists, lists_of_one, part_of_columns
from benchbook.record.facts import Reply, SampleFact
from benchbook.record.tables import TablePart, table_schema


class PlainSample(NamedTuple):
    """One of them. `answer` is the model's reply, `verdict` the judge's."""

    sample: int
    item: Item
    answer: Reply
    verdict: Reply
    scores: tuple[int, ...]
    rationale: str
    answer_sha256: str
    total_tokens: int | None
    ratio_nano: int | None  # the tokens that were written for each that was read (R1.1)
    worth: PlainScore


class PlainSamples:
    """Picks the plain samples of a run out of others. `requests`: each has to ask what the plan asks."""

    def __init__(self, plan: Plan, spec: RubricSpec, derivation: int, requests: Requests | None) -> None:
        self._plan = plan
        self._spec = spec
        self._requests = requests
        self._scorer = PlainScorer(spec)
        self._replies = PlainReplies(spec)
        self._tags = [f"</{tag}>" for tag in plan.candidate.reasoning_tags]
        self._judge_tags = [f"</{tag}>" for tag in plan.judge.reasoning_tags]
        self._measured_tokens = [one.name == "tokens" for one in spec.measures]
        self._row_type = row_type(spec, panel=False, caused=derivation >= ONLY_THE_MODEL)

    @staticmethod
    def may_be(plan: Plan, spec: RubricSpec) -> bool:
        """True if samples of such a plan can be plain: there is one judge, who is asked for scores alone."""
        return not isinstance(plan.panel, Panel) and not spec.asks_more and not spec.counts_more

    def pick(
        self, samples: Sequence[tuple[int, list[SampleFact]]], items: Sequence[Item]
    ) -> tuple[list[PlainSample], list[int]]:
        """The plain ones of some samples, and the places of the others. `items` has the item of each."""
        plain: list[PlainSample] = []
        places: list[int] = []
        others: list[int] = []
        for place, (sample, facts) in enumerate(samples):
            one = self._read(sample, items[place], facts)
            if one is None:
                others.append(place)
            else:
                plain.append(one)
                places.append(place)
        if self._requests is None or not plain:
            return plain, others
        as_planned = self._ask_as_planned(self._requests, plain)
        if not all(as_planned):
            others += [place for place, is_planned in zip(places, as_planned, strict=True) if not is_planned]
            plain = [one for one, is_planned in zip(plain, as_planned, strict=True) if is_planned]
        return plain, sorted(others)

    def _read(self, sample: int, item: Item, facts: Sequence[SampleFact]) -> PlainSample | None:
        """The sample, where model and judge were asked once, and the answer has no thoughts in it; whether they were
        asked as planned is still to be seen."""
        calls = _as_planned(facts)
        if calls is None:
            return None
        answer, verdict = calls
        text, reply = answer.text or "", verdict.text or ""
        if text.isspace() or (self._tags and any(tag in text for tag in self._tags)):
            return None
        if self._judge_tags and any(tag in reply for tag in self._judge_tags):
            return None
        found = self._replies.read(reply)
        if found is None:
            return None
        try:
            answer_sha256 = hashlib.sha256(text.encode()).hexdigest()
        except UnicodeEncodeError:
            return None
        n_read, written = answer.input_tokens, answer.output_tokens
        total = ratio = None
        if n_read is not None and written is not None:
            total, ratio = n_read + written, divide(written * NANO, max(1, n_read))
        latency_ms = answer.latency_e2e_ms
        values = tuple([total if of_tokens else latency_ms for of_tokens in self._measured_tokens])
        scores, rationale = found
        worth = self._scorer.score(scores, values)
        return PlainSample(sample, item, answer, verdict, scores, rationale, answer_sha256, total, ratio, worth)

    @staticmethod
    def _ask_as_planned(requests: Requests, plain: Sequence[PlainSample]) -> list[bool]:
        """Of each, whether the plan leads to the requests that model and judge were sent."""
        candidates = requests.candidate_sha256s([one.item for one in plain])
        judges = requests.judge_sha256s([(one.item, one.answer.text or "") for one in plain])
        return [
            one.answer.request_sha256 == candidate and one.verdict.request_sha256 == judge
            for one, candidate, judge in zip(plain, candidates, judges, strict=True)
        ]

    def rows(self, samples: Sequence[PlainSample]) -> TablePart:
        """Their rows.

        Raises: UnicodeEncodeError, OverflowError, where some must be made one by one.
        """
        n, n_items, spec = len(samples), self._plan.n_items, self._spec
        of_each = map(list, zip(*samples, strict=True))
        numbers, items, answers, verdicts, scores, rationales, hashes, totals, ratios, worths = of_each
        columns: dict[str, Column] = {
            name: Same(None)
            for name in ("score_origin", "evaluator_error", "parse_error_reason", "error_detail", "reasoning")
        }
        columns |= {name: Same(0) for name in ("transport_retries", "parse_retries")}
        columns |= {name: [getattr(one, name) for one in items] for name in _OF_ITEM}
        columns |= {name: [getattr(one, name) for one in answers] for name in _OF_ANSWER}
        columns |= {column: [getattr(one, name) for one in verdicts] for column, name in _OF_VERDICT.items()}
        finish_reasons: Sequence[Any] = columns["finish_reason"]
        columns |= {
            "sample": numbers,
            "repeat": [number // n_items for number in numbers],
            "item_id": [one.id for one in items],
            "candidate_answer": [one.text for one in answers],
            "rationale": rationales,
            "sample_score": [one.score_nano / NANO for one in worths],
            "passed": [not one.fail_reasons for one in worths],
            "fail_reasons": coded_lists([one.fail_reasons for one in worths]),
            "timed_out": Same(False),
            "total_tokens": totals,
            "token_efficiency_ratio": [None if one is None else one / NANO for one in ratios],
            "truncated": [reason == "length" for reason in finish_reasons],
            "model_fingerprint": [one.fingerprint for one in answers],
            "answer_seq": [one.seq for one in answers],
            "answer_sha256": hashes,
            "candidate_error": Same(None),
            "judge_replies": self._judge_replies(verdicts),
        }
        for place, criterion in enumerate(spec.criteria):
            columns[criterion.score_key] = [one[place] for one in scores]
            columns[criterion.norm] = [one.norms[place] for one in worths]
        for place, measure in enumerate(spec.measures):
            columns[measure.norm] = [one.measured[place] for one in worths]
        return part_of_columns(self._row_type, columns, n)

    def _judge_replies(self, verdicts: Sequence[Reply]) -> Column:
        fields: dict[str, Column] = {
            "attempt": Same(1),
            "text": [one.text for one in verdicts],
            "parse_error_reason": Same(None),
            "detail": Same(None),
            "seq": [one.seq for one in verdicts],
        }
        return lists_of_one(fields, table_schema(self._row_type)["judge_replies"], len(verdicts))


_OF_ITEM = ("section", "category", "difficulty", "group")
_OF_ANSWER = (
    "latency_e2e_ms", "latency_model_ms", "time_to_first_token_ms", "queue_ms", "retry_ms", "input_tokens",
    "output_tokens", "finish_reason", "model_reported", "cached",
)  # fmt: skip
_OF_VERDICT = {
    "evaluator_latency_ms": "latency_e2e_ms",
    "evaluator_input_tokens": "input_tokens",
    "evaluator_output_tokens": "output_tokens",
    "evaluator_reported": "model_reported",
    "evaluator_fingerprint": "fingerprint",
}


def _as_planned(facts: Sequence[SampleFact]) -> tuple[Reply, Reply] | None:
    """The answer and the judge's reply, where each was asked once, and gave a text."""
    if len(facts) != 2:
        return None
    answer, verdict = facts
    if type(answer) is not Reply or type(verdict) is not Reply or not answer.text or not verdict.text:
        return None
    are_planned = (
        answer.role == "candidate"
        and verdict.role == "judge"
        and answer.attempt == verdict.attempt == 1
        and not answer.judge
        and not verdict.judge
    )
    return (answer, verdict) if are_planned else None
