"""The rows that we write: one for each sample and scorer, and a count of what the form can't hold of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

from benchbook.canonical import storable_json
from benchbook.exchange.every_eval_ever.form import (
    NOT_ANSWERED,
    SCHEMA,
    SCORED_STILL,
    UNSCORED,
    OfOurs,
    sample_hash,
)
from benchbook.exchange.log import LogHeader, LogSample, LogScore, LogScorer, Lost
from benchbook.exchange.ours import OURS
from benchbook.text import storable

_WORDS = {
    "unscored": "a row must have a score and a word on correctness: of samples that were not scored both are 0 and "
    "false, and the reason is in `error`",
    "parts": "a score in parts, of which only all samples' make a number, has no place: the row is one without a score",
    "correct": "a row must say whether the answer is correct, and these scores don't: `is_correct` is true where the "
    "score is the best that there is",
    "messages": "a message is a text with a role: what else it holds is JSON in the text, or left out",
    "metadata": f"the name `{OURS}` is taken in a row's metadata",
    "not_finite": "a score that is no finite number has no place: it counts as not scored",
}


class RowMaker:
    """Makes rows. `n` are those that were made."""

    def __init__(self, header: LogHeader, evaluation: str, model: str) -> None:
        self.n = 0
        self._scorers = {one.name: one for one in header.scorers}
        self._common = {
            "schema_version": SCHEMA,
            "evaluation_id": evaluation,
            "model_id": model,
            "evaluation_name": storable(header.task),
        }
        self._missed: Counter[str] = Counter()

    def lost(self) -> list[Lost]:
        return [Lost(what=_WORDS[name], n=n) for name, n in sorted(self._missed.items())]

    def of(self, sample: LogSample) -> Iterator[tuple[str | None, dict[str, Any], float | None]]:
        """`(scorer, row, value)` for each scorer of a sample; one that nobody scored has a row all the same."""
        base = self._base(sample)
        nothing = LogScore(value=None, unscored="nobody scored it")
        names: Sequence[str | None] = list(sample.scores) or list(self._scorers) or [None]
        for name in names:
            score = nothing if name is None else sample.scores.get(name, nothing)
            value = score.value
            if value is not None and not isfinite(value):
                self._missed["not_finite"] += 1
                value = None
            self.n += 1
            yield name, base | self._scored(sample, name, score, value), value

    # ── of the sample ────────────────────────────────────────────────────────────────────────────────────────

    def _base(self, sample: LogSample) -> dict[str, Any]:
        """All that the rows of one sample have in common."""
        prompt, references = storable(sample.prompt), [storable(one) for one in sample.references]
        asked: dict[str, Any] = {"raw": prompt, "reference": references}
        if sample.choices:
            asked["choices"] = list(sample.choices)
        row = self._common | {
            "sample_id": storable(sample.id),
            "sample_hash": sample_hash(prompt, references),
            "input": asked,
            **self._interaction(sample),
        }
        known = (sample.input_tokens, sample.output_tokens)
        if known[0] is not None and known[1] is not None and min(known[0], known[1]) >= 0:
            row["token_usage"] = {
                "input_tokens": known[0], "output_tokens": known[1], "total_tokens": known[0] + known[1]
            }  # fmt: skip
        if sample.latency_ms is not None and sample.latency_ms >= 0:
            row["performance"] = {"latency_ms": sample.latency_ms}
        return row

    def _interaction(self, sample: LogSample) -> dict[str, Any]:
        if sample.messages is None:
            return {"interaction_type": "single_turn", "output": {"raw": [sample.answer or ""]}}
        messages = [self._message(turn, one) for turn, one in enumerate(sample.messages)]
        if sample.answer is not None:
            messages.append({"turn_idx": len(messages), "role": "assistant", "content": sample.answer})
        uses_tools = any(one["role"] == "tool" or one.get("tool_calls") for one in messages)
        return {"interaction_type": "agentic" if uses_tools else "multi_turn", "messages": messages}

    def _message(self, turn: int, message: dict[str, Any]) -> dict[str, Any]:
        role, content = message.get("role"), message.get("content")
        found: dict[str, Any] = {"turn_idx": turn, "role": role if isinstance(role, str) else "user"}
        is_whole = isinstance(role, str)
        if content is None or isinstance(content, str):
            found["content"] = content
        else:
            found["content"] = storable_json(content).decode()
            is_whole = False
        for name, value in message.items():
            if name in ("role", "content"):
                continue
            kept = _kept(name, value)
            if kept is None:
                is_whole = False
            else:
                found[name] = kept
        if not is_whole:
            self._missed["messages"] += 1
        return found

    # ── of the score ─────────────────────────────────────────────────────────────────────────────────────────

    def _scored(self, sample: LogSample, name: str | None, score: LogScore, value: float | None) -> dict[str, Any]:
        last = len(sample.messages) if sample.messages is not None else 0
        source = "output.raw" if sample.messages is None else f"messages[{last}].content"
        attribution = {
            "turn_idx": last,
            "source": source,
            "extracted_value": score.answer,
            "extraction_method": name or "unknown",
            "is_terminal": True,
        }
        row: dict[str, Any] = {
            "evaluation": {
                "score": 0.0 if value is None else value,
                "is_correct": self._is_correct(name, score, value),
            },
            "answer_attribution": [] if score.answer is None else [attribution],
            "metadata": self._metadata(sample, score),
        }
        if name is not None:
            row["evaluation_result_id"] = name
        if (error := _error(sample, score, value)) is not None:
            row["error"] = error
        if value is None:
            self._missed["unscored" if score.parts is None else "parts"] += 1
        return row

    def _is_correct(self, name: str | None, score: LogScore, value: float | None) -> bool:
        if value is None:
            return False
        if score.passed is not None:
            return score.passed
        scorer = self._scorers.get(name or "") or LogScorer(name="")
        self._missed["correct"] += 1
        if scorer.passes_at is not None:
            return value >= scorer.passes_at
        best = scorer.highest if scorer.higher_is_better else scorer.lowest
        return value == (1.0 if best is None else best)

    def _metadata(self, sample: LogSample, score: LogScore) -> dict[str, str]:
        """The sample's metadata as texts, and what the form has no place for."""
        found = {
            name: value if isinstance(value, str) else storable_json(value).decode()
            for name, value in sample.metadata.items()
            if name != OURS
        }
        if OURS in sample.metadata:
            self._missed["metadata"] += 1
        partly = sample.input_tokens is None or sample.output_tokens is None
        ours = OfOurs(
            repeat=sample.repeat or None,
            context=sample.context,
            group=sample.group,
            category=sample.category,
            finish_reason=sample.finish_reason,
            limit=sample.limit,
            model_reported=sample.model_reported,
            input_tokens=sample.input_tokens if partly else None,
            output_tokens=sample.output_tokens if partly else None,
            failure=None if sample.failure is None else sample.failure.kind,
            unscored=score.unscored if sample.failure is not None else None,
            said=score.said,
            explanation=score.explanation,
            guessed=score.guessed,
            parts=score.parts,
            passed=score.passed,
            silent=sample.answer is None,
            nobody=not sample.scores,
            json=[name for name, value in sample.metadata.items() if not isinstance(value, str) and name != OURS],
        )
        return found | {OURS: storable_json(ours).decode()}


def _error(sample: LogSample, score: LogScore, value: float | None) -> str | None:
    """The reason for which there is no score, or how the sample ended; None where nothing went wrong."""
    if sample.failure is not None:
        return (NOT_ANSWERED if value is None else SCORED_STILL) + sample.failure.message
    return None if value is not None else UNSCORED + (score.unscored or "not a finite number")


def _kept(name: str, value: Any) -> Any:
    """A field of a message as the form has it; None where it has no such, or not in this shape."""
    if name == "tool_call_id":
        return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else None
    if name == "reasoning_trace":
        return value if isinstance(value, str) else None
    if name == "tool_calls" and isinstance(value, list):
        return value if all(_is_call(one) for one in value) else None
    return None


def _is_call(call: Any) -> bool:
    if not isinstance(call, dict) or not {"id", "name"} <= call.keys() <= {"id", "name", "arguments"}:
        return False
    arguments = call.get("arguments") or {}
    is_named = isinstance(call["id"], str) and isinstance(call["name"], str)
    return is_named and isinstance(arguments, dict) and all(isinstance(one, str) for one in arguments.values())
