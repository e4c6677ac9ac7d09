"""Hostile texts, and facts and requests whose every field holds them, by walking their types: a new field is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

TEXTS = (
    "\ud800", "\udc00", "a\udfffb", "\udc00\ud800", "\ud83d", "\udcff", "\0", "a\0b", "\x1b[31m\x1b]0;t\x07", "\x9b2J",
    "\x85\u2028\u2029", "\u202eabc\u2066", "\ufffe", "\uffff\ufdd0", "\U0010ffff", "x" * 10_000, "n" * 300, "é" * 5_000,
    "=cmd|' /C calc'!A1", "@SUM(1)", "../../etc/passwd", "C:\\con", "{{prompt}}", "{0}{x!r}", "%s%n%d", "</script><b>",
    "]]>&amp;<!--", "`a` | b\n# c", "'; DROP TABLE runs; --", '"\\', "\\ud800", "\r\n\r\nSet-Cookie: a=b", " ", "\t",
    "NaN", "null", "-1", "ﬀ\u0301\u200b", "a" + "\u0301" * 500, "\ud800" * 2_000,
)  # fmt: skip
# What comes where a text belongs.
NO_TEXTS: tuple[Any, ...] = (7, -1.5, True, None, [], ["m", "\ud800"], {}, {"\ud800": {"a": ["\udfff"]}}, 10**30)
texts = st.sampled_from(TEXTS) | st.text(st.characters(codec=None), max_size=20)

Draw = Callable[[], str]


def made_hostile(value: msgspec.Struct, text: Draw, but: frozenset[str]) -> Any:
    """A copy of a struct with a text of `text` wherever its type allows one; fields named in `but` are as they were."""
    info = inspect.type_info(type(value))
    assert isinstance(info, inspect.StructType)
    return msgspec.structs.replace(
        value,
        **{
            one.name: _hostile(one.type, getattr(value, one.name), text, but)
            for one in info.fields
            if one.name not in but
        },
    )


def _hostile(info: inspect.Type, before: Any, text: Draw, but: frozenset[str]) -> Any:
    """A value of the type: hostile where it is text, else as it was before."""
    match info:
        case inspect.Metadata(type=inner):
            return _hostile(inner, before, text, but)
        case inspect.StrType() | inspect.AnyType():
            return text() if before is None or isinstance(before, str) else _of_any(before, text)
        case inspect.UnionType(types=types):
            if any(isinstance(one, inspect.StrType) for one in types):
                return text()
            fits = [one for one in types if not isinstance(one, inspect.NoneType)]
            return before if before is None or len(fits) != 1 else _hostile(fits[0], before, text, but)
        case inspect.DictType():
            of_value = info.value_type
            known = {name: _hostile(of_value, one, text, but) for name, one in before.items()}
            more = _hostile(of_value, None, text, but)
            return known if more is None else known | {text(): more}
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return type(before)(_hostile(item, one, text, but) for one in before)
        case inspect.StructType():
            return None if before is None else made_hostile(before, text, but)
        case _:
            return before


def _of_any(value: Any, text: Draw) -> Any:
    """JSON with each text in it hostile, and one more."""
    if isinstance(value, str):
        return text()
    if isinstance(value, dict):
        return {name: _of_any(one, text) for name, one in value.items()} | {text(): text()}
    if isinstance(value, list):
        return [*(_of_any(one, text) for one in value), text()]
    return value
