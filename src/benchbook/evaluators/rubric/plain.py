"""Samples that went as planned, many at once: the model answered, the judge gave a score, nothing was asked again.

They are held by column, as their rows are made and their sums. Whatever is out of the ordinary is left for `steps` and
`row`, which say the same of a plain sample: tests hold the two against each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from benchbook.evalsets import Item
from benchbook.evaluators.derivation import ONLY_THE_MODEL
from benchbook.evaluators.exact import NANO, divide
from benchbook.evaluators.rubric.plain_replies import PlainReplies
from benchbook.evaluators.rubric.plain_scores import PlainScorer, PlainScores
from benchbook.evaluators.rubric.plan import Panel, Plan, Requests
from benchbook.evaluators.rubric.row import row_type
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.record.columns import Column, Same, coded_lists, lists_of_one, part_of_columns
from benchbook.record.facts import Reply, SampleFact
from benchbook.record.tables import TablePart, table_schema

_Value = TypeVar("_Value")


class PlainCalls(NamedTuple):
    """Samples of which model and judge were asked once, and gave a text, by column: each list has one value a sample.

    `answers` are the model's replies, `verdicts` the judge's.
    """

    samples: list[int]
    items: list[Item]
    answers: list[Reply]
    verdicts: list[Reply]

    def only(self, which: Sequence[bool]) -> PlainCalls:
        """Those that are chosen."""
        if all(which):
            return self
        return PlainCalls(
            _chosen(self.samples, which),
            _chosen(self.items, which),
            _chosen(self.answers, which),
            _chosen(self.verdicts, which),
        )


@dataclass(frozen=True, slots=True)
class PlainSamples:
    """Plain samples by column. `answer_sha256s` are of the answers' texts."""

    calls: PlainCalls
    scores: list[tuple[int, ...]]
    rationales: list[str]
    answer_sha256s: list[str]
    total_tokens: list[int | None]
    ratios_nano: list[int | None]  # the tokens that were written for each that was read (R1.1)
    worths: PlainScores

    def __len__(self) -> int:
        return len(self.scores)


class PlainPicker:
    """Picks the plain samples of a run out of others. `requests`: each has to ask what the plan asks."""

    def __init__(self, plan: Plan, spec: RubricSpec, derivation: int, requests: Requests | None) -> None:
        self._plan = plan
        self._spec = spec
        self._requests = requests
        self._scorer = PlainScorer(spec)
        self._replies = PlainReplies(spec)
        self._tags = [f"</{tag}>" for tag in plan.candidate.reasoning_tags]
        self._judge_tags = [f"</{tag}>" for tag in plan.judge.reasoning_tags]
        self._row_type = row_type(spec, panel=False, caused=derivation >= ONLY_THE_MODEL)

    @staticmethod
    def may_be(plan: Plan, spec: RubricSpec) -> bool:
        """True if samples of such a plan can be plain: there is one judge, who is asked for scores alone."""
        return not isinstance(plan.panel, Panel) and not spec.asks_more and not spec.counts_more

    def pick(
        self, samples: Sequence[tuple[int, list[SampleFact]]], items: Sequence[Item]
    ) -> tuple[PlainSamples | None, list[int]]:
        """The plain ones of some samples, None for none, and the places of the others. `items` has the item of each."""
        called = [_as_planned(facts) for _, facts in samples]
        facts: list[Any] = [facts for _, facts in compress(samples, called)]
        numbers = [sample for sample, _ in compress(samples, called)]
        answers, verdicts = [answer for answer, _ in facts], [verdict for _, verdict in facts]
        found = self._read(PlainCalls(numbers, _chosen(items, called), answers, verdicts))
        picked = set() if found is None else set(found.calls.samples)
        return found, [place for place, (sample, _) in enumerate(samples) if sample not in picked]

    def _read(self, calls: PlainCalls) -> PlainSamples | None:
        """Those whose texts are plain, with what follows from these; None for none."""
        texts, replies = _all("text", calls.answers), _all("text", calls.verdicts)
        read = list(map(self._replies.read, replies))
        hashes = _sha256s(texts)
        untagged = zip(_without(self._tags, texts), _without(self._judge_tags, replies), strict=True)
        which = [
            one is not None and sha256 is not None and not text.isspace() and all(are_without)
            for one, sha256, text, are_without in zip(read, hashes, texts, untagged, strict=True)
        ]
        if self._requests is not None:
            as_planned = self._ask_as_planned(self._requests, calls, texts)
            which = [is_plain and is_planned for is_plain, is_planned in zip(which, as_planned, strict=True)]
        if not any(which):
            return None
        calls = calls.only(which)
        given = [one for one in _chosen(read, which) if one is not None]
        sha256s = [one for one in _chosen(hashes, which) if one is not None]
        totals, ratios = _tokens(calls.answers)
        values = {"tokens": totals, "latency": _all("latency_e2e_ms", calls.answers)}
        scores = [one for one, _ in given]
        worths = self._scorer.score(scores, [values[one.name] for one in self._spec.measures])
        rationales = [rationale for _, rationale in given]
        return PlainSamples(calls, scores, rationales, sha256s, totals, ratios, worths)

    @staticmethod
    def _ask_as_planned(requests: Requests, calls: PlainCalls, texts: list[str]) -> list[bool]:
        """Of each, whether the plan leads to the requests that model and judge were sent."""
        candidates = requests.candidate_sha256s(calls.items)
        judges = requests.judge_sha256s(list(zip(calls.items, texts, strict=True)))
        sent, judged = _all("request_sha256", calls.answers), _all("request_sha256", calls.verdicts)
        if sent == candidates and judged == judges:
            return [True] * len(sent)
        asked = zip(sent, candidates, judged, judges, strict=True)
        return [sent == candidate and judged == judge for sent, candidate, judged, judge in asked]

    def rows(self, samples: PlainSamples) -> TablePart:
        """Their rows.

        Raises: UnicodeEncodeError, OverflowError, where some must be made one by one.
        """
        n, n_items, spec, worths = len(samples), self._plan.n_items, self._spec, samples.worths
        numbers, items, answers, verdicts = samples.calls
        columns: dict[str, Column] = {
            name: Same(None)
            for name in ("score_origin", "evaluator_error", "parse_error_reason", "error_detail", "reasoning")
        }
        columns |= {name: Same(0) for name in ("transport_retries", "parse_retries")}
        columns |= {name: _all(name, items) for name in _OF_ITEM}
        columns |= {column: _all(name, answers) for column, name in _OF_ANSWER.items()}
        columns |= {column: _all(name, verdicts) for column, name in _OF_VERDICT.items()}
        finish_reasons: Sequence[Any] = columns["finish_reason"]
        columns |= {
            "sample": numbers,
            "repeat": Same(0) if self._plan.repeats == 1 else [number // n_items for number in numbers],
            "item_id": _all("id", items),
            "rationale": samples.rationales,
            "sample_score": [one / NANO for one in worths.score_nanos],
            "passed": [not reasons for reasons in worths.fail_reasons],
            "fail_reasons": coded_lists(worths.fail_reasons),
            "timed_out": Same(False),
            "total_tokens": samples.total_tokens,
            "token_efficiency_ratio": [None if one is None else one / NANO for one in samples.ratios_nano],
            "truncated": [reason == "length" for reason in finish_reasons],
            "answer_sha256": samples.answer_sha256s,
            "candidate_error": Same(None),
            "judge_replies": self._judge_replies(verdicts),
        }
        for place, criterion in enumerate(spec.criteria):
            columns[criterion.score_key] = [one[place] for one in samples.scores]
            columns[criterion.norm] = [one[place] for one in worths.norms]
        for measure, measured in zip(spec.measures, worths.measured, strict=True):
            columns[measure.norm] = measured
        return part_of_columns(self._row_type, columns, n)

    def _judge_replies(self, verdicts: Sequence[Reply]) -> Column:
        fields: dict[str, Column] = {
            "attempt": Same(1),
            "text": _all("text", verdicts),
            "parse_error_reason": Same(None),
            "detail": Same(None),
            "seq": _all("seq", verdicts),
        }
        return lists_of_one(fields, table_schema(self._row_type)["judge_replies"], len(verdicts))


_OF_ITEM = ("section", "category", "difficulty", "group")
_OF_ANSWER = {
    "candidate_answer": "text",
    "model_fingerprint": "fingerprint",
    "answer_seq": "seq",
} | {
    name: name
    for name in (
        "latency_e2e_ms", "latency_model_ms", "time_to_first_token_ms", "queue_ms", "retry_ms", "input_tokens",
        "output_tokens", "finish_reason", "model_reported", "cached",
    )
}  # fmt: skip
_OF_VERDICT = {
    "evaluator_latency_ms": "latency_e2e_ms",
    "evaluator_input_tokens": "input_tokens",
    "evaluator_output_tokens": "output_tokens",
    "evaluator_reported": "model_reported",
    "evaluator_fingerprint": "fingerprint",
}


def _as_planned(facts: Sequence[SampleFact]) -> bool:
    """True if these are the answer and the judge's reply, where each was asked once, and gave a text."""
    if len(facts) != 2:
        return False
    answer, verdict = facts
    if type(answer) is not Reply or type(verdict) is not Reply or not answer.text or not verdict.text:
        return False
    return (
        answer.role == "candidate"
        and verdict.role == "judge"
        and answer.attempt == verdict.attempt == 1
        and not answer.judge
        and not verdict.judge
    )


def _all(name: str, of: Sequence[Any]) -> list[Any]:
    """A field of each."""
    return list(map(attrgetter(name), of))


def _chosen(values: Sequence[_Value], which: Sequence[bool]) -> list[_Value]:
    return list(compress(values, which))


def _tokens(answers: Sequence[Reply]) -> tuple[list[int | None], list[int | None]]:
    """The total of each answer's tokens, and the ratio of those written to those read; null where any is not known."""
    both = list(zip(_all("input_tokens", answers), _all("output_tokens", answers), strict=True))
    totals = [None if read is None or written is None else read + written for read, written in both]
    ratios = [
        None if read is None or written is None else divide(written * NANO, max(1, read)) for read, written in both
    ]
    return totals, ratios


def _without(tags: Sequence[str], texts: Sequence[str]) -> list[bool]:
    """Of each text, whether none of the tags is in it."""
    joined = "\n".join(texts)
    there = [tag for tag in tags if tag in joined]
    return [not any(tag in text for tag in there) for text in texts] if there else [True] * len(texts)


def _sha256s(texts: Sequence[str]) -> list[str | None]:
    """The hash of each text; None for one with a lone surrogate."""
    sha256 = hashlib.sha256
    try:
        return [sha256(text.encode()).hexdigest() for text in texts]
    except UnicodeEncodeError:
        return [one for text in texts for one in _sha256s([text])] if len(texts) > 1 else [None]
