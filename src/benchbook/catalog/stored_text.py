"""Text columns that hold any Python string, and sort alike in both databases.

PostgreSQL can't hold NUL, and neither database a lone surrogate; model text has both. Each is stored as U+001A
(SUBSTITUTE, which ASCII made for this) and four hexadecimal digits, and so is U+001A itself. Hence different texts are
stored differently, every text comes back as it was, and text without these characters, nearly all of it, is stored as
it is and can be searched with SQL.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

__all__ = ["StoredText", "from_stored", "to_stored"]

_MARK = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_STORED = re.compile("\x1a([0-9a-f]{4})")


def to_stored(text: str) -> str:
    """`text` in characters that both databases hold."""
    if text.isascii() and "\x00" not in text and _MARK not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_MARK}{ord(found.group()):04x}", text)


def from_stored(text: str) -> str:
    """The text that `to_stored` was given."""
    return text if _MARK not in text else _STORED.sub(lambda found: chr(int(found[1], 16)), text)


class StoredText(TypeDecorator[str]):
    """TEXT through `to_stored`, ordered by code point: PostgreSQL's own order depends on its locale."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text(collation="C") if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else to_stored(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else from_stored(value)
