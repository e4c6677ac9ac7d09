"""The messages that a user's own spec asks a judge with: a file each beside its spec.toml, with placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

from benchbook.specs.faults import Faults, SpecTable, near
from benchbook.specs.fields import of_these, read_text
from benchbook.specs.folders import SPEC_FILE
from benchbook.text import quoted

__all__ = ["PROMPT_FILE", "Role", "Texts", "read_messages"]


PROMPT_FILE = "prompt.txt"
Role = Literal["system", "user", "assistant"]
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_BRACED = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Texts:
    """The texts of the files beside a spec.toml; what is wrong with one is a fault, said once."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        faults: Faults,
        is_placeholder: Callable[[str], object],
        placeholders: tuple[str, ...],
    ) -> None:
        """`is_placeholder` is asked of `{{name}}` as it stands; `placeholders` are the names that there are."""
        self._files = files
        self._faults = faults
        self._is_placeholder = is_placeholder
        self._placeholders = placeholders
        self._read: dict[str, str | None] = {}

    def of(self, name: str) -> str | None:
        """The text of a file; None where it is faulty."""
        if name not in self._read:
            self._read[name] = self._text_of(name)
        return self._read[name]

    def _text_of(self, name: str) -> str | None:
        if name not in self._files:
            there = ", ".join(sorted(set(self._files) - {SPEC_FILE})) or "none"
            self._faults.beside(name, None, "no such file", f"a file beside the spec; there are {there}")
            return None
        data = self._files[name]
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self._faults.beside(name, line, f"byte {data[error.start]:#04x}", "UTF-8")
            return None
        for found in _BRACED.finditer(text):
            if not self._is_placeholder(found[0]):
                line = text.count("\n", 0, found.start()) + 1
                self._faults.beside(name, line, quoted(found[0]), near(found[1], self._placeholders))
        return text


def read_messages(tables: list[SpecTable], texts: Texts) -> list[tuple[Role, str]]:
    """Those that `[[...messages]]` tables list, by role and text; without any, prompt.txt as one of the user's."""
    if not tables:
        text = texts.of(PROMPT_FILE)
        return [] if text is None else [("user", text)]
    return [one for one in (_read_message(table, texts) for table in tables) if one is not None]


def _read_message(table: SpecTable, texts: Texts) -> tuple[Role, str] | None:
    role = table.read("role", partial(of_these, words=_ROLES), needed='"system", "user" or "assistant"')
    name = table.read("file", read_text, needed=f"the name of a file beside the spec, such as {PROMPT_FILE}")
    table.say_unknown()
    text = None if name is None else texts.of(name)
    return None if role is None or text is None else (role, text)
