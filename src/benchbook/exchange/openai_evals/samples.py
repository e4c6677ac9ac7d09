"""The events of a sample as a sample: what was asked and answered, what matched, and what a judge chose."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from benchbook.ask.providers.keys import redact
from benchbook.exchange.conversations import as_text, messages_in, read_aloud
from benchbook.exchange.json_text import NOT_A_NUMBER, number_of
from benchbook.exchange.log import LogFailure, LogSample, LogScore
from benchbook.exchange.openai_evals.events import AskedSample

MATCH = "match"
INVALID = "__invalid__"  # the choice where a judge's reply names none: its score in the log is the lowest that there is
_TOKENS = ("prompt_tokens", "completion_tokens")


def sample_of(asked: AskedSample, sums: Mapping[str, tuple[str, str] | None], *, whole: bool = True) -> LogSample:
    """`sums` are the fields that claims are of: each counts a value of a metric, or is a number that is added up."""
    candidates, _ = calls_of(asked)
    first = candidates[0] if candidates else {}
    raw = asked.raw if isinstance(asked.raw, dict) else {}
    prompt = first.get("prompt", raw.get("input"))
    messages = messages_in(prompt)
    scores = dict(scores_of(asked))
    usages = [one["usage"] for one in candidates if isinstance(one.get("usage"), dict)]
    tokens = [sum(int(number_of(one.get(name)) or 0) for one in usages) if usages else None for name in _TOKENS]
    metadata: dict[str, Any] = dict(_added(asked, sums))
    if whole and asked.of("error") and scores:
        metadata["errors"] = [redact(as_text(one.get("message")) or "") for one in asked.of("error")]
    return LogSample(
        id=as_text(asked.id) or "",
        prompt=(read_aloud(messages) if messages else as_text(prompt)) or "",
        references=tuple(_references(asked, raw)),
        choices=tuple(_choices(asked)),
        answer=_answer(asked, candidates, raw),
        scores=scores,
        failure=None if scores else _failure(asked),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        model_reported=_text(first.get("model")),
        messages=messages if whole else None,
        metadata=metadata,
        where=f"line {asked.line}",
    )


def calls_of(asked: AskedSample) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """The calls of the candidate, and that of the judge, which comes last where a sample has a choice."""
    calls = asked.of("sampling")
    is_judged = any("choice" in one for one in asked.of("metrics"))
    return (calls[:-1], calls[-1]) if is_judged and calls else (calls, None)


def is_invalid(metrics: Mapping[str, Any]) -> bool:
    """True where a judge's reply named none of the choices."""
    return metrics.get("choice") == INVALID


def scores_of(asked: AskedSample) -> Iterator[tuple[str, LogScore]]:
    """Each match and each metric, numbered where a sample has several of a name."""
    met: Counter[str] = Counter()
    for name, score in _scores(asked):
        met[name] += 1
        yield name if met[name] == 1 else f"{name}#{met[name]}", score


def _scores(asked: AskedSample) -> Iterator[tuple[str, LogScore]]:
    for match in asked.of("match"):
        correct = match.get("correct")
        if isinstance(correct, bool):
            yield MATCH, LogScore(value=float(correct), passed=correct, answer=as_text(match.get("picked")))
    for metrics in asked.of("metrics"):
        if "choice" in metrics:
            yield "score", _score_of_choice(asked, metrics)
        for name, value in metrics.items():
            if name != "choice" and not (name == "score" and "choice" in metrics):
                yield from _score_of_metric(name, value)


def _score_of_metric(name: str, value: object) -> Iterator[tuple[str, LogScore]]:
    if isinstance(value, bool):
        yield name, LogScore(value=float(value), passed=value)
    elif value is None or value == NOT_A_NUMBER:
        yield name, LogScore(value=None, unscored="no value" if value is None else NOT_A_NUMBER)
    elif (number := number_of(value)) is not None:
        yield name, LogScore(value=number)


def _score_of_choice(asked: AskedSample, metrics: Mapping[str, Any]) -> LogScore:
    _, judge = calls_of(asked)
    reply = _sampled(judge) if judge else None
    choice = as_text(metrics["choice"])
    if is_invalid(metrics):
        return LogScore(value=None, unscored="the judge's reply names no choice", said=choice, explanation=reply)
    value = number_of(metrics.get("score"))
    return LogScore(
        value=value,
        unscored=None if value is not None else "the choice has no score",
        said=choice,
        explanation=reply,
        guessed=_guess(choice or "", reply),
    )


def _guess(choice: str, reply: str | None) -> str | None:
    """Why a choice was found by guess: a reply is searched for a line that begins or ends with one."""
    if reply is None:
        return None
    lines = ("".join(one for one in line.strip() if one not in string.punctuation) for line in reply.splitlines())
    return None if any(line.strip() == choice for line in lines) else "no line of the judge's reply is the choice alone"


def _answer(asked: AskedSample, candidates: list[dict[str, Any]], raw: Mapping[str, Any]) -> str | None:
    for match in asked.of("match"):
        if isinstance(match.get("sampled"), str):
            return str(match["sampled"])
    return _sampled(candidates[-1]) if candidates else _text(raw.get("completion"))


def _sampled(call: Mapping[str, Any]) -> str | None:
    """The text that came of a call; of several, the first, which is the one that is scored."""
    sampled = call.get("sampled")
    return as_text(sampled[0]) if isinstance(sampled, list) and sampled else as_text(sampled or None)


def _references(asked: AskedSample, raw: Mapping[str, Any]) -> Iterator[str]:
    expected = next((one["expected"] for one in asked.of("match") if one.get("expected") is not None), raw.get("ideal"))
    for one in expected if isinstance(expected, list) else [expected]:
        if one is not None:
            yield as_text(one) or ""


def _choices(asked: AskedSample) -> Iterator[str]:
    options: list[Any] = next((one["options"] for one in asked.of("match") if isinstance(one.get("options"), list)), [])
    yield from options if len(options) > 1 and all(isinstance(one, str) for one in options) else ()


def _failure(asked: AskedSample) -> LogFailure | None:
    """The error that left a sample without any score; without one, it is one that nobody scored."""
    for error in asked.of("error"):
        kind = as_text(error.get("type")) or ""
        message = as_text(error.get("message")) or kind or "an error without a message"
        return LogFailure(message=redact(message), kind="timeout" if "timeout" in kind.lower() else "error")
    return None


def _added(asked: AskedSample, sums: Mapping[str, tuple[str, str] | None]) -> Iterator[tuple[str, float]]:
    for field, counted in sums.items():
        if counted is not None:
            metric, value = counted
            yield field, sum(as_text(one.get(metric)) == value for one in asked.of("metrics"))
        elif field.startswith("usage_"):
            usages = (one.get("usage") for one in asked.of("sampling"))
            name = field.removeprefix("usage_")
            yield field, sum(number_of(one.get(name)) or 0 for one in usages if isinstance(one, dict))
        else:
            values = (number_of(one.get(field)) for one in asked.of("metrics"))
            yield from ((field, value) for value in values if value is not None)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
