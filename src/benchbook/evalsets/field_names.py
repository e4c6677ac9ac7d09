"""The fields of an item, and the names under which files hold them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["ALIASES", "FIELD_NAMES", "FIELD_OF", "OPTIONAL_TEXTS"]

# Names under which other files hold the same thing. The first is ours; the rubric's own names are among them.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id"),
    "prompt": ("prompt", "task", "question"),
    "expected_answer": ("expected_answer", "reference_answer", "reference"),
    "context": ("context", "provided_context"),
}
OPTIONAL_TEXTS = ("section", "category", "difficulty", "answer_format", "group")
FIELD_NAMES = (*ALIASES, *OPTIONAL_TEXTS)
FIELD_OF: Mapping[str, str] = {
    **{name: field for field, names in ALIASES.items() for name in names},
    **{name: name for name in OPTIONAL_TEXTS},
}
"""Ours, by every name by which it goes."""
