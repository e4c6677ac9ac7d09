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
from benchbook.evaluators.rubric.reply import Parsed, parse_reply
from benchbook.evaluators.rubric.row import row_type
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.record.columns import Column, Same, coded_lists, lists_of_one, part_of_columns
from benchbook.record.facts import Reply, SampleFact
from benchbook.record.tables import TablePart, table_schema


class PlainSample(NamedTuple):
    """One of them. `answer` is the model's reply, `verdict` the judge's, which was read as `parsed`."""

    sample: int
    item: Item
    answer: Reply
    verdict: Reply
    parsed: Parsed
    score: PlainScore
    total_tokens: int | None
    ratio_nano: int | None  # the tokens that were written for each that was read (R1.1)
    answer_sha256: str


class PlainSamples:
    """Picks the plain samples of a run out of others. `requests`: each has to ask what the plan asks."""

    def __init__(self, plan: Plan, spec: RubricSpec, derivation: int, requests: Requests | None) -> None:
        self._plan = plan
        self._spec = spec
        self._requests = requests
        self._lone_closing = derivation >= ONLY_THE_MODEL
        self._caused = derivation >= ONLY_THE_MODEL
        self._scorer = PlainScorer(spec)
        self._measured_tokens = [one.name == "tokens" for one in spec.measures]
        self._row_type = row_type(spec, panel=False, caused=self._caused)

    @staticmethod
    def may_be(plan: Plan, spec: RubricSpec) -> bool:
        """True if samples of such a plan can be plain: there is one judge, who is asked for scores alone."""
        return not isinstance(plan.panel, Panel) and not spec.asks_more and not spec.counts_more

    def pick(self, sample: int, item: Item, facts: Sequence[SampleFact]) -> PlainSample | None:
        """The sample, if it is plain."""
        calls = _as_planned(facts)
        if calls is None:
            return None
        answer, verdict = calls
        parsed = self._read(answer, verdict)
        if parsed is None:
            return None
        try:
            answer_sha256 = hashlib.sha256((answer.text or "").encode()).hexdigest()
        except UnicodeEncodeError:
            return None
        if self._requests is not None and not self._asks_as_planned(item, answer, verdict):
            return None
        total = ratio = None
        if answer.input_tokens is not None and answer.output_tokens is not None:
            total = answer.input_tokens + answer.output_tokens
            ratio = divide(answer.output_tokens * NANO, max(answer.input_tokens, 1))
        values = tuple([total if of_tokens else answer.latency_e2e_ms for of_tokens in self._measured_tokens])
        score = self._scorer.score(parsed.scores, values)  # type: ignore[arg-type]
        return PlainSample(sample, item, answer, verdict, parsed, score, total, ratio, answer_sha256)

    def _read(self, answer: Reply, verdict: Reply) -> Parsed | None:
        """The judge's verdict on an answer without thoughts of its own; None where it is another, or can't be read."""
        text, reply = answer.text or "", verdict.text or ""
        if not text.strip() or any(f"</{tag}>" in text for tag in self._plan.candidate.reasoning_tags):
            return None
        found = parse_reply(reply, self._spec, self._plan.judge.reasoning_tags, lone_closing=self._lone_closing)
        return found if isinstance(found, Parsed) and None not in found.scores else None

    def _asks_as_planned(self, item: Item, answer: Reply, verdict: Reply) -> bool:
        assert self._requests is not None  # noqa: S101 - the caller looked
        return answer.request_sha256 == self._requests.candidate_sha256(
            item
        ) and verdict.request_sha256 == self._requests.judge_sha256(item, answer.text or "")

    def rows(self, samples: Sequence[PlainSample]) -> TablePart:
        """Their rows.

        Raises: UnicodeEncodeError, OverflowError, where some must be made one by one.
        """
        n, n_items, spec = len(samples), self._plan.n_items, self._spec
        numbers, items, answers, verdicts, parsed, scores, totals, ratios, hashes = map(
            list, zip(*samples, strict=True)
        )
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
            "rationale": [one.rationale for one in parsed],
            "sample_score": [one.score_nano / NANO for one in scores],
            "passed": [not one.fail_reasons for one in scores],
            "fail_reasons": coded_lists([one.fail_reasons for one in scores]),
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
            columns[criterion.score_key] = [one.scores[place] for one in parsed]
            columns[criterion.norm] = [one.norms[place] for one in scores]
        for place, measure in enumerate(spec.measures):
            columns[measure.norm] = [one.measured[place] for one in scores]
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
