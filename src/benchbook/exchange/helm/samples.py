"""A sample of a HELM run, from the requests of one instance in one trial and the statistics of it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from benchbook.exchange.helm.claims import CONTEXT
from benchbook.exchange.helm.form import HelmCompletion, HelmState, context_of, label_of, number_in
from benchbook.exchange.log import LogFailure, LogSample, LogScore, LogScorer

_CORRECT = "correct"
_NO_STAT = "no statistic of it, as where it was NaN"
_LARGEST = 1 << 53  # a number beyond is no count
_FAILED = "its request failed"

# Metrics from 0 to 1, by their names without `@k`, and those of which less is better.
_SHARES = {
    "exact_match", "quasi_exact_match", "quasi_leave_articles_exact_match", "prefix_exact_match",
    "quasi_prefix_exact_match", "exact_match_indicator", "final_number_exact_match", "exact_set_match",
    "iou_set_match", "f1_set_match", "math_equiv", "math_equiv_chain_of_thought", "code_eval_acc", "pass", "f1_score",
    "rouge_1", "rouge_2", "rouge_l", "bleu_1", "bleu_4", "chain_of_thought_correctness", "ifeval_strict_accuracy",
}  # fmt: skip
_LESS_IS_BETTER = {
    "absolute_value_difference", "wer_score", "mer_score", "cer_score", "chinese_wer_score", "chinese_mer_score",
    "chinese_cer_score",
}  # fmt: skip


def scorer_of(name: str) -> LogScorer:
    """Who scored, on which scale where HELM's metric is known."""
    plain = name.partition("@")[0]
    lowest, highest = (0.0, 1.0) if plain in _SHARES else (None, None)
    return LogScorer(name=name, lowest=lowest, highest=highest, higher_is_better=plain not in _LESS_IS_BETTER)


def sample_of(
    states: list[HelmState],
    nth: int,
    values: Mapping[str, float | None],
    scorers: list[str],
    where: str,
    *,
    whole: bool,
) -> LogSample:
    """The sample of these requests: one, or one of each reference. `nth` counts requests of one instance from 0."""
    state = states[0]
    instance, result = state.instance, state.result
    label = label_of(instance.perturbation)
    failure = _failure(states)
    completion = _best(state)
    return LogSample(
        id=id_of(instance.id or "", label, nth),
        repeat=state.train_trial_index,
        prompt=_asked(state),
        references=tuple(one.output.text for one in instance.references if _CORRECT in one.tags),
        choices=_choices(states),
        answer=None if failure is not None else _answer(states, completion, values),
        scores={name: _score(state, name, values, completion, failed=failure is not None) for name in scorers},
        failure=failure,
        finish_reason=_reason(completion),
        group=instance.id if label else None,
        category=instance.sub_split,
        input_tokens=_whole_number(values.get("num_prompt_tokens")),
        output_tokens=_whole_number(values.get("num_output_tokens")),
        latency_ms=None if result is None or result.request_time is None else _whole_number(result.request_time * 1000),
        messages=(state.request.messages or instance.input.messages) if whole else None,
        metadata=_metadata(state, label, whole=whole) | _taken(values, scorers),
        where=where,
    )


def id_of(instance_id: str, label: str, nth: int) -> str:
    """An item's id: a perturbed copy of an instance is an item of its own."""
    found = f"{instance_id}, {label}" if label else instance_id
    return f"{found} #{nth + 1}" if nth else found


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────


def _score(
    state: HelmState, name: str, values: Mapping[str, float | None], completion: HelmCompletion | None, *, failed: bool
) -> LogScore:
    value = values.get(name)
    answer = None
    if completion is not None and state.output_mapping is not None:
        answer = state.output_mapping.get(completion.text.strip())
    if failed:
        return LogScore(value=None, unscored=_FAILED, said=None if value is None else str(value), answer=answer)
    if value is None or not isfinite(value):
        return LogScore(value=None, unscored=_NO_STAT, answer=answer)
    return LogScore(value=value, answer=answer)


def _failure(states: list[HelmState]) -> LogFailure | None:
    """HELM scores some failed requests as if they had been answered by nothing."""
    for state in states:
        if state.result is None:
            return LogFailure(message="it was never sent", kind="cancelled")
        if not state.result.success:
            return LogFailure(message=state.result.error or "the request failed, and no reason is given")
    return None


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────


def _asked(state: HelmState) -> str:
    """The instance's text; of a conversation, its last message."""
    asked = state.instance.input
    if asked.text:
        return asked.text
    for message in reversed(asked.messages or state.request.messages or []):
        if isinstance(message.get("content"), str):
            return str(message["content"])
    objects = (asked.multimedia_content or {}).get("media_objects")
    texts = [one.get("text") for one in objects if isinstance(one, dict)] if isinstance(objects, list) else []
    return "\n".join(one for one in texts if isinstance(one, str))


def _choices(states: list[HelmState]) -> tuple[str, ...]:
    """The texts to choose from: those that letters stand for, or the references that were each asked about."""
    state = states[0]
    if state.output_mapping is not None:
        return tuple(state.output_mapping.values())
    if state.reference_index is not None:
        return tuple(one.output.text for one in state.instance.references)
    return ()


def _answer(
    states: list[HelmState], completion: HelmCompletion | None, values: Mapping[str, float | None]
) -> str | None:
    """The model's text. Where each reference was a request of its own, the one that it found likeliest."""
    if states[0].reference_index is None:
        return None if completion is None else completion.text
    index = _whole_number(values.get("predicted_index"))
    references = states[0].instance.references
    return references[index].output.text if index is not None and 0 <= index < len(references) else None


def _best(state: HelmState) -> HelmCompletion | None:
    """The completion that HELM's metrics look at first: the likeliest."""
    completions = [] if state.result is None else state.result.completions
    return max(completions, key=lambda one: _logprob(one), default=None)


def _logprob(completion: HelmCompletion) -> float:
    found = number_in(completion.logprob)
    return -inf if found is None or found != found else found


def _reason(completion: HelmCompletion | None) -> str | None:
    found = None if completion is None else (completion.finish_reason or {}).get("reason")
    return found if isinstance(found, str) else None


def _metadata(state: HelmState, label: str, *, whole: bool) -> dict[str, Any]:
    """Which statistics it is part of; and all else that is said of it."""
    instance, result = state.instance, state.result
    found: dict[str, Any] = {CONTEXT: context_of(instance.split, instance.sub_split, label)}
    if not whole:
        return found
    found |= {"instance": instance.id, "split": instance.split, "sub_split": instance.sub_split}
    others = [] if result is None or len(result.completions) < 2 else [one.text for one in result.completions]
    said = {
        "perturbation": instance.perturbation,
        "sent": state.request.prompt if state.request.prompt != instance.input.text else None,
        "outputs": others,
        "extra_data": instance.extra_data,
        "annotations": state.annotations,
        "thinking": (best.thinking or {}).get("text") if (best := _best(state)) is not None else None,
    }
    return {name: one for name, one in (found | said).items() if one not in (None, "", [], {})}


def _taken(values: Mapping[str, float | None], scorers: list[str]) -> dict[str, Any]:
    """All statistics that are no scores: what its request took, and how it ended."""
    known = set(scorers)
    return {name: value for name, value in values.items() if name not in known and value is not None}


def _whole_number(value: float | None) -> int | None:
    return round(value) if value is not None and abs(value) < _LARGEST else None
