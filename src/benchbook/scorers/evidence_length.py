"""How long a quote may be: 60 words, or 120 characters of text that is written without spaces (SPEC P4.1)."""

from __future__ import annotations

import re

from benchbook.scorers.judge_protocol_findings import Edition
from benchbook.scorers.judge_protocol_spec import protocol

__all__ = ["excess_of"]

CHARACTERS_PER_WORD = 2  # 60 words stand for 120 characters

# Scripts that put no spaces between words: Han, kana, bopomofo, Thai, Lao, Tibetan, Burmese, Khmer. Korean has them.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def excess_of(quote: str, edition: Edition) -> str | None:
    """By how much a quote is too long, in words; None where it is not.

    Words are what white space parts. A text without any is measured in characters, and so is what is written without
    spaces inside one that has some: a line end in a page of Chinese does not make two words of it.
    """
    pieces, most = quote.split(), protocol().max_quote_words
    if len(pieces) > most:
        return f"{len(pieces)} words, over {most}"
    if edition < 2:
        return None
    characters, allowed = sum(map(len, pieces)), CHARACTERS_PER_WORD * most
    if len(pieces) == 1 and characters > allowed:
        return f"{characters} characters without a space, over {allowed}"
    lengths = [len(piece) if _UNSPACED.search(piece) else CHARACTERS_PER_WORD for piece in pieces]
    if sum(lengths) > allowed:
        return f"{characters} characters of text without spaces, as long as {sum(lengths) // 2} words; over {most}"
    return None
