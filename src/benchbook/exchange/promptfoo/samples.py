"""A result of promptfoo as a sample: its answer, what each check said, and what it adds to promptfoo's sums."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.keys import redact
from benchbook.exchange.conversations import as_text, messages_in, read_aloud
from benchbook.exchange.json_text import number_of
from benchbook.exchange.log import LogFailure, LogSample, LogScore
from benchbook.exchange.promptfoo.judged import guess, is_judged, is_unreadable
from benchbook.exchange.promptfoo.ours import OfResult, sample_of_ours
from benchbook.exchange.promptfoo.results import (
    Case,
    Grading,
    NamedProvider,
    Prompt,
    Result,
    TokenUsage,
)
from benchbook.text import plural

SCORE = "score"  # the scorer of a result as a whole
NAMED = "namedScores."
_ASSERT = "assert."
IS_ERROR = "isError"  # of our own results: an error to promptfoo, for want of a score
NO_CHECKS = "No assertions"

_TRIVIAL = frozenset(("All assertions passed", "Assertion passed", NO_CHECKS))
_UNREADABLE = "the judge's reply could not be read"
_TIMED_OUT = re.compile(r"Evaluation (?:timed out after|exceeded max duration of) ")

# What these expect is a right answer, and no part or property of one.
_OF_AN_ANSWER = frozenset(
    ("equals", "similar", "factuality", "model-graded-factuality", "levenshtein", "rouge-n", "bleu", "gleu", "meteor")
)


def sample_of(
    result: Result, path: Path, *, where: str, item: tuple[int, int] | None = None, whole: bool = True
) -> LogSample:
    """`item` is the index of the test case that this one repeats, and the repeat; None: it repeats none."""
    case = result.case(path, where)
    first, repeat = item or (result.test_idx, 0)
    failure = failure_of(result)
    usage = result.response.token_usage if result.response else None
    asked = result.prompt.raw if isinstance(result.prompt, Prompt) else result.prompt
    prompt = as_text(asked) or ""
    messages = messages_in(prompt)
    metadata: dict[str, Any] = dict(added(result))
    own = result.ours
    if whole and own is None:
        about = {"vars": result.vars or case.vars, "description": case.description}
        metadata |= {name: value for name, value in about.items() if value}
    made = LogSample(
        id=str(first),
        repeat=repeat,
        prompt=prompt if messages is None else read_aloud(messages),
        references=tuple(_references(case)) if whole else (),
        answer=as_text(result.response.output) if result.response else None,
        scores=scores_of(result, failure),
        failure=failure,
        finish_reason=_text(result.response.finish_reason) if result.response else None,
        input_tokens=_whole(usage.prompt) if usage else None,
        output_tokens=_whole(usage.completion) if usage else None,
        latency_ms=None if failure or is_cached(result) else _whole(result.latency_ms),
        messages=messages if whole else None,
        metadata=metadata,
        where=where,
    )
    if own is None:
        return made
    more = (result.metadata or {}) if whole else {}
    return sample_of_ours(made, own, more, prompt, (result.vars or {}).get("prompt"))


def failure_of(result: Result) -> LogFailure | None:
    if not result.failed_to_answer:
        return None
    if (own := result.ours) is not None:  # an unscored sample is an error to promptfoo
        return own.failure
    message = as_text(result.error) or "an error without a message"
    return LogFailure(message=message, kind="timeout" if _TIMED_OUT.match(message) else "error")


def is_cached(result: Result) -> bool:
    """True if the answer came from promptfoo's cache: its latency is the cache's."""
    return result.response is not None and result.response.cached is True


def scores_of(result: Result, failure: LogFailure | None) -> dict[str, LogScore]:
    """All that was said of a result: as a whole, by each check, and under each metric's name."""
    if (own := result.ours) is not None:
        return _scores_of_ours(result, own)
    if failure is not None:
        return {SCORE: LogScore(value=None, unscored=failure.kind)}
    found = {SCORE: _overall(result)}
    for name, grading in checks_of(result):
        found[name] = _score_of_check(grading)
    for metric, value in (result.named_scores or {}).items():
        found[NAMED + metric] = _score_of_metric(result, metric, number_of(value))
    return found


def _scores_of_ours(result: Result, own: OfResult) -> dict[str, LogScore]:
    """The values that promptfoo has, with all else that is known of them; its errors have none, and may be scored."""
    failed = result.failed_to_answer
    first = own.scores.get(own.first or "", LogScore(value=None))
    overall = msgspec.structs.replace(first, value=None if failed else number_of(result.score), passed=result.success)
    if overall.value is None:
        overall.unscored = own.failure.kind if own.failure else first.unscored or "no score"
        overall.passed = None
    found = {SCORE: overall}
    for name, score in own.scores.items():
        value = number_of((result.named_scores or {}).get(name))
        found[NAMED + name] = score if failed else msgspec.structs.replace(score, value=value)
    return found


def checks_of(result: Result) -> Iterator[tuple[str, Grading]]:
    """Each check of a result by a name of its own: its type and metric, numbered where there are several of them."""
    met: Counter[str] = Counter()
    for grading in result.components:
        check = grading.assertion or (grading.metadata and grading.metadata.assertion_set)
        parts = (check.type or "check", check.metric_name(result.vars or {})) if check else ("check",)
        name = _ASSERT + ".".join(filter(None, parts))
        met[name] += 1
        yield name if met[name] == 1 else f"{name}#{met[name]}", grading


def judge_of(grading: Grading, result: Result, case: Case) -> str | None:
    """The model that judged a check: the check's own, the test case's, or the prompt's; None where nothing names it."""
    if grading.assertion is None or not is_judged(grading.assertion):
        return None
    config = result.prompt.config if isinstance(result.prompt, Prompt) else None
    of_prompt = config.get("provider") if isinstance(config, dict) else None
    return model_name(grading.assertion.provider or (case.options and case.options.provider) or of_prompt)


def model_name(value: object) -> str | None:
    """The name of a provider, however it is given, without what may be a key."""
    if isinstance(value, NamedProvider):
        value = value.label or value.id
    if isinstance(value, dict):
        value = value.get("label") or value.get("id") or value.get("text")
        value = value.get("id") if isinstance(value, dict) else value
    if not isinstance(value, str) or not value:
        return None
    return redact(value.partition("?")[0] if "://" in value else value)


def added(result: Result) -> Iterator[tuple[str, float]]:
    """How much a result adds to each sum of promptfoo's that no scorer's values give, by its name."""
    passes = [bool(one.passed) for one in result.components]
    usage = (result.response and result.response.token_usage) or TokenUsage()
    judges = (result.grading_result and result.grading_result.tokens_used) or TokenUsage()
    requests = usage.num_requests if usage.num_requests is not None else int(result.response is not None)
    sums = {
        "assertPassCount": passes.count(True),
        "assertFailCount": passes.count(False),
        "totalLatencyMs": result.latency_ms,
        "cost": result.cost,
        "tokenUsage.total": usage.total,
        "tokenUsage.cached": usage.cached,
        "tokenUsage.numRequests": requests,
        "tokenUsage.assertions.total": judges.total,
        "tokenUsage.assertions.prompt": judges.prompt,
        "tokenUsage.assertions.completion": judges.completion,
        "tokenUsage.assertions.cached": judges.cached,
    }
    if result.failed_to_answer and result.ours is not None:
        sums[IS_ERROR] = 1
    if result.failure_reason is None:  # versions that told no errors from failures, nor judges' tokens from answers'
        sums["notPassed"] = int(not result.success)
        for name in ("total", "prompt", "completion", "cached"):
            sums[f"allTokens.{name}"] = (getattr(usage, name) or 0) + (getattr(judges, name) or 0)
    for metric, value in (result.named_scores or {}).items():
        sums |= _added_by_metric(result, metric, value)
    yield from ((name, value) for name, value in sums.items() if value is not None)


def _added_by_metric(result: Result, metric: str, value: object) -> dict[str, Any]:
    """A metric of several checks, or of a weight, counts as often, and as much, as they do."""
    number = number_of(value)
    if number is None:
        return {}
    n = len(_checks_of_metric(result, metric)) or 1
    weights = (result.grading_result and result.grading_result.named_score_weights) or {}
    weight = number_of(weights.get(metric, n)) or 0
    return {
        NAMED + metric: number * weight if metric in weights else number,
        "namedScoresCount." + metric: n,
        "namedScoreWeights." + metric: weight,
    }


def _overall(result: Result) -> LogScore:
    value = number_of(result.score)
    n = sum(map(is_unreadable, result.components))
    return LogScore(
        value=value,
        unscored=None if value is not None else "no score",
        passed=result.success,
        explanation=_reason(result.grading_result) or (_text(result.error) if not result.success else None),
        guessed=_taken_for_0(n) if n else next(filter(None, map(guess, result.components)), None),
    )


def _taken_for_0(n: int) -> str:
    return f"{plural(n, 'reply', 'replies')} of a judge that could not be read, taken for 0"


def _checks_of_metric(result: Result, metric: str) -> list[Grading]:
    variables = result.vars or {}
    return [one for one in result.components if one.assertion and one.assertion.metric_name(variables) == metric]


def _score_of_metric(result: Result, metric: str, value: float | None) -> LogScore:
    checks = _checks_of_metric(result, metric)
    n = sum(map(is_unreadable, checks))
    if n and n == len(checks):
        return LogScore(value=None, unscored=_UNREADABLE)
    return LogScore(
        value=value,
        unscored=None if value is not None else "no number",
        guessed=_taken_for_0(n) if n else next(filter(None, map(guess, checks)), None),
    )


def _score_of_check(grading: Grading) -> LogScore:
    if is_unreadable(grading):
        return LogScore(value=None, unscored=_UNREADABLE, explanation=_reason(grading))
    value = number_of(grading.score) if not isinstance(grading.score, str) else _number_in(grading.score)
    return LogScore(
        value=value,
        unscored=None if value is not None else "no score",
        passed=grading.passed if isinstance(grading.passed, bool) else None,
        explanation=_reason(grading),
        guessed=guess(grading),
    )


def _number_in(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if isfinite(found) else None


def _reason(grading: Grading | None) -> str | None:
    reason = as_text(grading.reason) if grading else None
    return None if not reason or reason in _TRIVIAL else reason


def _references(case: Case) -> Iterator[str]:
    for check in case.checks or ():
        if check.type in _OF_AN_ANSWER and isinstance(check.value, str) and "{{" not in check.value:
            yield check.value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    number = number_of(value)
    return round(number) if number is not None and abs(number) < 2**53 else None
