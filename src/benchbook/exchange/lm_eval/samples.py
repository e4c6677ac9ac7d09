"""A document's rows as one sample: what was asked, what the model said, and each filter's scores."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchbook.exchange.lm_eval.rows import Row, RowStart
from benchbook.exchange.log import LogSample, LogScore

_NUMBER = re.compile(r"-?(?:\d{1,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")
_INDEXES = re.compile(r"\[\d{1,6}(?:, \d{1,6})*\]")
_NO_NUMBER = "no number of its own"  # one is made of all samples' values together
_ABSENT = msgspec.UNSET


class TaskSettings(msgspec.Struct, frozen=True):
    """Those of a task's settings that its rows need; None where they are not known."""

    output_type: str | None
    delimiter: str | None  # between a question and a choice

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> TaskSettings:
        """Of a task's settings, as results have them."""
        output_type, delimiter = config.get("output_type"), config.get("target_delimiter")
        return cls(
            output_type if isinstance(output_type, str) else None, delimiter if isinstance(delimiter, str) else None
        )


class Inquiry(msgspec.Struct, gc=False):
    """A document's requests: one mostly; where choices are weighed, one for each."""

    prompt: str
    messages: list[dict[str, Any]] | None = None
    choices: tuple[str, ...] = ()
    generates: bool = True  # False: log-likelihoods were asked for, and the model wrote nothing
    first: Any = None  # the first request's text, as the row has it

    def has_several(self, row: Row) -> bool:
        """True if the model wrote several answers to one document."""
        resps = row.resps
        return bool(self.generates and resps and isinstance(resps[0], list) and len(resps[0]) > 1)


def requests_of(row: Row, settings: TaskSettings) -> Inquiry | None:
    """The requests of a row's document; None where it does not say them."""
    arguments = row.arguments
    if not arguments:
        return None
    if isinstance(arguments, dict):
        pairs = [(one.arg_0, one.arg_1) for one in arguments.values()]
    else:
        pairs = [(one[0], one[1] if len(one) > 1 else _ABSENT) for one in arguments if one]
        if not pairs:
            return None
    first, goes_on = pairs[0]
    prompt, messages = _text_of(first)
    if isinstance(goes_on, dict) or goes_on is None:
        return Inquiry(prompt, messages, first=first)
    weighs_choices = settings.output_type == "multiple_choice" or (settings.output_type is None and len(pairs) > 1)
    if goes_on is _ABSENT or not weighs_choices:
        return Inquiry(prompt, messages, generates=False, first=first)
    if len(pairs) % 2 == 0 and first != "" and all(context == "" for context, _ in pairs[len(pairs) // 2 :]):
        pairs = pairs[: len(pairs) // 2]  # the rest weighs each choice without its question
    texts = [text if isinstance(text, str) else "" if text is _ABSENT else _as_json(text) for _, text in pairs]
    if len(pairs) > 1 and len(set(texts)) == 1:  # the choices stand in the question
        contexts = [_text_of(context)[0] for context, _ in pairs]
        return Inquiry(_common(contexts) or prompt, None, tuple(contexts), generates=False, first=first)
    return Inquiry(prompt, messages, tuple(_without(settings.delimiter, texts)), generates=False, first=first)


def _without(delimiter: str | None, texts: list[str]) -> list[str]:
    """Choices without the space that stands between them and the question."""
    delimiter = " " if delimiter is None else delimiter
    if delimiter and all(text.startswith(delimiter) for text in texts):
        return [text[len(delimiter) :] for text in texts]
    return texts


def _common(texts: list[str]) -> str:
    """The beginning that all texts share."""
    first, last = min(texts), max(texts)
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:same]


def _text_of(asked: Any) -> tuple[str, list[dict[str, Any]] | None]:
    """A request's text, and its messages where it was a conversation: JSON in a list of one."""
    if isinstance(asked, str):
        return asked, None
    if isinstance(asked, list) and len(asked) == 1 and isinstance(asked[0], str):
        asked = asked[0]
        try:
            messages = msgspec.json.decode(asked)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return asked, None
        if isinstance(messages, list) and messages and all(isinstance(one, dict) for one in messages):
            return _conversation(messages), messages
        return asked, None
    return _as_json(asked), None


def _conversation(messages: list[dict[str, Any]]) -> str:
    texts = [_content(one) for one in messages]
    if len(messages) == 1:
        return texts[0]
    return "\n\n".join(f"{one.get('role', '')}: {text}" for one, text in zip(messages, texts, strict=True))


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else _as_json(content)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────


def answer_of(requests: Inquiry, filtered: list[Any] | None) -> str | None:
    """The answer that a filter left: a text, or the choice that the model finds likeliest. None where there is none."""
    if not filtered:
        return None
    if requests.choices:
        best = likeliest(filtered, len(requests.choices))
        return None if best is None else requests.choices[best]
    if not requests.generates:
        return None
    only = filtered[0] if len(filtered) == 1 else filtered
    if isinstance(only, list) and len(only) == 1:
        only = only[0]
    return only if isinstance(only, str) else None if only is None else _as_json(only)


def likeliest(weighed: list[Any], n: int) -> int | None:
    """The first of the choices whose log-likelihood is the highest; None where one is not known."""
    found = log_likelihoods(weighed, n)
    return None if found is None else found.index(max(found))


def log_likelihoods(weighed: list[Any], n: int) -> list[float] | None:
    """Those of `n` choices, each a number or a pair of it and another fact, as numbers or text."""
    if len(weighed) < n:
        return None
    found = []
    for one in weighed[:n]:
        while isinstance(one, list) and one:
            one = one[0]
        try:
            number = float(one)
        except (TypeError, ValueError, OverflowError):
            return None
        if math.isnan(number):
            return None
        found.append(number)
    return found


def responses_of(resps: list[Any] | None) -> list[str]:
    """The texts that the model wrote: one, or as many as a document was asked for."""
    if not resps:
        return []
    inner = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else resps
    return [one if isinstance(one, str) else _as_json(one) for one in inner]


def references_of(target: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """The right answers; none where a target may be a choice's text as well as another's number."""
    if isinstance(target, list):
        return tuple(text for one in target for text in references_of(one, choices))
    if target is None or target == "":
        return ()
    if isinstance(target, str):
        if not choices:
            return (target,)
        if _INDEXES.fullmatch(target):
            return references_of([int(one) for one in target[1:-1].split(", ")], choices)
        if not (target.isascii() and target.isdigit() and len(target) < 7):
            return (target,)
        by_number = references_of(int(target), choices)
        return by_number if target not in choices or by_number == (target,) else ()
    if isinstance(target, int) and not isinstance(target, bool) and choices:
        return (choices[target],) if 0 <= target < len(choices) else ()
    return (_as_json(target),)


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────


def score_of(value: Any, answer: str | None) -> LogScore:
    """A metric's value of one document: a number, or numbers and texts of which only all documents' make one."""
    if isinstance(value, bool | int | float):
        number = _finite(value)
        return LogScore(value=number, unscored=None if number is not None else "no finite number", answer=answer)
    if isinstance(value, str):
        return _score_in_words(value, answer)
    if value is None:
        return LogScore(value=None, unscored="null", answer=answer)
    if isinstance(value, list) and value and all(type(one) in (int, float, bool) for one in value):
        parts = [_finite(one) for one in value]
        if None not in parts:
            return LogScore(value=None, parts=tuple(one for one in parts if one is not None), answer=answer)
    return LogScore(value=None, unscored=_NO_NUMBER, said=_as_json(value), answer=answer)


def _score_in_words(value: str, answer: str | None) -> LogScore:
    """NumPy's numbers and truths are written as text, and NaN came here as one."""
    number = {"True": 1.0, "False": 0.0}.get(value)
    if number is None and _NUMBER.fullmatch(value):
        number = _finite(float(value))
    unscored = None if number is not None else value if value in ("NaN", "Infinity", "-Infinity") else _NO_NUMBER
    return LogScore(value=number, unscored=unscored, said=value, answer=answer)


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode("utf-8", "replace")


# ── a sample ─────────────────────────────────────────────────────────────────────────────────────────────────


def sample_of(
    rows: list[tuple[str | None, RowStart, Any]],
    fields: Sequence[tuple[str, str]],
    requests: Inquiry,
    *,
    repeat: int,
    where: str,
    whole: bool,
) -> LogSample:
    """A document's sample. `fields`: each metric's name, and the field of a row that holds it."""
    first = rows[0][2]
    scores: dict[str, LogScore] = {}
    for filtered_by, _, row in rows:
        answer = answer_of(requests, row.filtered_resps)
        for name, field in fields:
            value = getattr(row, field)
            if value is not _ABSENT:
                scores[name if filtered_by is None else f"{name},{filtered_by}"] = score_of(value, answer)
    responses = responses_of(first.resps) if requests.generates else []
    if requests.choices:
        answer = answer_of(requests, first.resps)
    elif len(responses) > 1:
        filtered = answer_of(requests, first.filtered_resps)
        answer = filtered if filtered in responses else responses[0]
    else:
        answer = responses[0] if responses else None
    sample = LogSample(
        id=str(first.doc_id),
        repeat=repeat,
        prompt=requests.prompt,
        references=references_of(first.target, requests.choices),
        choices=requests.choices,
        answer=answer,
        scores=scores,
        where=where,
    )
    if whole:
        sample.messages = requests.messages
        sample.metadata = _metadata(first, requests, responses)
    return sample


def _metadata(row: Any, requests: Inquiry, responses: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if row.doc is not None:
        found["doc"] = row.doc
    if row.target is not None:
        found["target"] = row.target
    if len(responses) > 1:
        found["responses"] = responses
    if not requests.generates and row.resps:
        weighed = log_likelihoods(row.resps, len(requests.choices) or 1)
        if weighed is not None:
            found["log_likelihoods"] = weighed
    return found
