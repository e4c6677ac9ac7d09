"""Names that are read by a declared pattern: placeholders, and everything else literal (issue 5, item 1).

Nothing is guessed. A name that the pattern fits in two ways is not read; the values that a placeholder may have are
then declared, which leaves one way.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchbook.errors import ConfigError

__all__ = ["NamePattern", "NotRead"]


@dataclass(frozen=True, slots=True)
class NotRead:
    """Why a name gives no values."""

    reason: str


_NO_FIT = NotRead("does not fit the pattern")
_MANY_FITS = NotRead("fits the pattern in more than one way; declare the values of a placeholder")


@dataclass(frozen=True, slots=True)
class _Placeholder:
    name: str
    values: tuple[str, ...] | None  # None: any text without a slash


_Part = str | _Placeholder


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern such as `{target_model}/{question_id}__{prompt_variant}.{ext}`. `{{` and `}}` stand for braces."""

    text: str
    parts: tuple[_Part, ...]

    @classmethod
    def parse(cls, text: str, known: Collection[str], values: Mapping[str, Sequence[str]]) -> NamePattern:
        """`known` are the placeholders that there may be, `values` what some of them may stand for.

        Raises: ConfigError.
        """
        parts: list[_Part] = []
        try:
            pieces = list(string.Formatter().parse(text))
        except ValueError as error:
            raise ConfigError(
                "pattern", f"{text!r} ({error})", "{name} for a placeholder, {{ and }} for braces"
            ) from None
        for literal, name, spec, conversion in pieces:
            if literal:
                parts.append(literal)
            if name is None:
                continue
            if name not in known or spec or conversion:
                expected = ", ".join(f"{{{each}}}" for each in known)
                raise ConfigError("pattern", f"{{{name}{':' * bool(spec)}{spec}}}", expected)
            parts.append(_Placeholder(name, tuple(values[name]) if name in values else None))
        pattern = cls(text, _joined(parts))
        pattern._check()
        return pattern

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if isinstance(part, _Placeholder))

    def read(self, name: str) -> dict[str, str] | NotRead:
        """What the placeholders stand for in `name`, if the pattern fits it in exactly one way."""
        readings = _readings(self.parts, name)
        first, second = next(readings, None), next(readings, None)
        if first is None:
            return _NO_FIT
        return dict(zip(self.names, first, strict=True)) if second is None else _MANY_FITS

    def _check(self) -> None:
        for name in self.names:
            if self.names.count(name) > 1:
                raise ConfigError("pattern", f"{{{name}}} more than once", "each placeholder once")
        for one, other in pairwise(self.parts):
            free = [part for part in (one, other) if isinstance(part, _Placeholder) and part.values is None]
            if len(free) == 2:
                raise ConfigError("pattern", f"{{{free[0].name}}}{{{free[1].name}}}", "a literal text between them")


def _joined(parts: Sequence[_Part]) -> tuple[_Part, ...]:
    """Literals that stand side by side, as around `{{`, as one."""
    joined: list[_Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _readings(parts: Sequence[_Part], name: str) -> Iterator[list[str]]:
    """Every way to read `name`, with what leads nowhere tried once: a name of 255 underscores costs no more."""
    dead: set[tuple[int, int]] = set()

    def read_from(at: int, start: int) -> Iterator[list[str]]:
        if at == len(parts):
            if start == len(name):
                yield []
            return
        if (at, start) in dead:
            return
        part, alive = parts[at], False
        for end in _ends(part, name, start):
            for rest in read_from(at + 1, end):
                alive = True
                yield rest if isinstance(part, str) else [name[start:end], *rest]
        if not alive:
            dead.add((at, start))

    return read_from(0, 0)


def _ends(part: _Part, name: str, start: int) -> Iterator[int]:
    if isinstance(part, str):
        if name.startswith(part, start):
            yield start + len(part)
    elif part.values is not None:
        yield from (start + len(value) for value in part.values if name.startswith(value, start))
    else:
        slash = name.find("/", start)
        last = len(name) if slash < 0 else slash
        yield from (end for end in range(start + 1, last + 1) if not name[start:end].isspace())
