"""The fields of an item, and the names under which files hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache

__all__ = [
    "ALIASES",
    "FIELD_NAMES",
    "FIELD_OF",
    "MESSAGES",
    "OPTIONAL_TEXTS",
    "close_to",
    "field_meant",
    "misspelt",
    "names_meant",
]


# Names under which other files hold the same thing. The first is ours; the rubric's own names are among them.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id"),
    "prompt": ("prompt", "task", "question"),
    "expected_answer": ("expected_answer", "reference_answer", "reference"),
    "context": ("context", "provided_context"),
}
OPTIONAL_TEXTS = ("section", "category", "difficulty", "answer_format", "group")
MESSAGES = "messages"  # a conversation, instead of a prompt or beside one
FIELD_NAMES = (*ALIASES, *OPTIONAL_TEXTS, MESSAGES)
FIELD_OF: Mapping[str, str] = {
    **{name: field for field, names in ALIASES.items() for name in names},
    **{name: name for name in (*OPTIONAL_TEXTS, MESSAGES)},
}
"""Ours, by every name by which it goes."""

# None of them is read: an `answer` may as well be what a model said. They are asked about where the field is not there.
_MEANT: Mapping[str, tuple[str, ...]] = {
    "id": ("key", "uid", "uuid", "index", "idx", "qid", "question_id", "sample_id", "example_id", "task_id", "doc_id"),
    "prompt": ("query", "input", "instruction", "instructions", "user_input", "user_prompt", "problem", "text", "q",
               "request", "message"),
    "expected_answer": ("answer", "answers", "ground_truth", "ground_truths", "groundtruth", "gold", "gold_answer",
                        "golden_answer", "golden", "ideal", "ideal_answer", "target", "targets", "expected",
                        "expected_output", "expected_response", "correct_answer", "right_answer", "correct", "label",
                        "reference_output", "reference_text", "references", "solution", "final_answer", "best_answer",
                        "model_answer", "output", "completion", "a"),
    "context": ("contexts", "retrieved_context", "retrieved_contexts", "retrieval_context", "documents", "document",
                "docs", "passage", "passages", "source_text", "sources", "evidence", "background", "knowledge"),
}  # fmt: skip
_BY_NAME = {name: field for field, names in _MEANT.items() for name in names}


def field_meant(name: str) -> str | None:
    """The field of ours that a column of another name is likely to hold."""
    plain = _spelt(name)
    if plain in _BY_NAME:
        return _BY_NAME[plain]
    near = close_to(name, tuple(FIELD_OF), cutoff=0.85)
    return FIELD_OF[near] if near else None


def misspelt(name: str) -> str | None:
    """The field whose own name a name is close to."""
    return close_to(name, FIELD_NAMES, cutoff=0.85)


def names_meant(field: str, there: Iterable[str]) -> list[str]:
    """Which of the names that are there are likely to hold a field."""
    return [name for name in there if field_meant(name) == field]


def _spelt(name: str) -> str:
    """A name without case, and with `_` between its words."""
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


def close_to(text: str, words: tuple[str, ...], *, cutoff: float) -> str | None:
    """The word that a text is closest to, if it is close to one at all."""
    # Nothing long is close to our short words, and no cache should hold it.
    return _closest(_spelt(text), words, cutoff) if len(text) < 64 else None


@lru_cache(maxsize=1024)
def _closest(text: str, words: tuple[str, ...], cutoff: float) -> str | None:
    close = get_close_matches(text, words, n=1, cutoff=cutoff)
    return close[0] if close else None
