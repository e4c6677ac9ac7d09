"""Prompt templates: `{{name}}` replaced in one pass (SPEC R2.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["Template", "as_text"]


_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


def as_text(value: Any) -> str:
    """A template value as it is inserted: a string as it is, anything else as canonical JSON (SPEC R2.2)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Template:
    """A text with placeholders, split once, so that a value's own braces are never read."""

    def __init__(self, text: str) -> None:
        pieces = _PLACEHOLDER.split(text)
        self.text = text
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        self._literals: tuple[str, ...] = tuple(pieces[0::2])

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with each placeholder replaced; a name that `values` lacks becomes the empty string."""
        pieces = [self._literals[0]]
        for name, literal in zip(self.names, self._literals[1:], strict=True):
            pieces.append(as_text(values[name]) if name in values else "")
            pieces.append(literal)
        return "".join(pieces)
