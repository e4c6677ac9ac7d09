"""Finds where a file differs from its original, and describes it in words that never hide the difference.

Changes that other programs make to a whole file are named as such: other line ends, a byte-order mark, another
encoding. Otherwise the first differing line is shown around the place, its invisible characters as escapes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from itertools import zip_longest

from benchbook.record.reading import LFS_POINTER, is_lfs_pointer
from benchbook.text import quoted

_AROUND = 40  # characters on either side of a difference
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def first_difference(found: bytes, wanted: bytes) -> tuple[int | None, str]:
    """The first differing line (from 1; None for the file as a whole), and the difference in words."""
    if (done := what_was_done(found, lambda data: data == wanted)) is not None:
        return None, done
    lines = zip_longest(found.split(b"\n"), wanted.split(b"\n"))
    number, one, other = next((n, *pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
    return number, lines_differ(one, other)


def what_was_done(found: bytes, is_wanted: Callable[[bytes], bool]) -> str | None:
    """The change that another program made to the whole file, in words; None if undoing one restores nothing."""
    if is_lfs_pointer(found):
        return LFS_POINTER
    if not found:
        return "is empty"
    return next((said for said, data in _undone(found) if is_wanted(data)), None)


def _undone(found: bytes) -> Iterator[tuple[str, bytes]]:
    """Each original that the file may have had, with the changes that would have been made to it."""
    data, done = found, list[str]()
    if (text := _in_another_encoding(data)) is not None:
        words, data = text
        done.append(words)
        yield from _ends_undone(data, done)
    if data.startswith(codecs.BOM_UTF8):
        data = data.removeprefix(codecs.BOM_UTF8)
        done.append("begins with a byte-order mark (EF BB BF); the record has none")
        yield from _ends_undone(data, done)
    n_lines = data.count(b"\n")
    if n_lines and data.count(b"\r\n") == n_lines:
        data = data.replace(b"\r\n", b"\n")
        done.append("every line ends in CR LF; the record has LF (git autocrlf?)")
    elif not n_lines and data.count(b"\r") > 1:
        data = data.replace(b"\r", b"\n")
        done.append("every line ends in CR; the record has LF")
    yield from _ends_undone(data, done)


def _ends_undone(data: bytes, done: list[str]) -> Iterator[tuple[str, bytes]]:
    """The same text, and its variants with another end."""
    if done:
        yield "; ".join(done), data
    yield "; ".join([*done, "its last line has no newline; the record's has one"]), data + b"\n"
    stripped = data.rstrip(b"\n")
    n_more = len(data) - len(stripped)
    for n_kept in range(min(n_more, 2)):
        n = n_more - n_kept
        ends = "a newline" if n == 1 else f"{n} newlines"
        yield "; ".join([*done, f"has {ends} at its end that the record does not have"]), stripped + b"\n" * n_kept


def _in_another_encoding(data: bytes) -> tuple[str, bytes] | None:
    if data.startswith(_UTF_16):
        return _decoded(data, "utf-16", "UTF-16")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded(data, "cp1252", "Windows-1252 or Latin-1")
    return None


def _decoded(data: bytes, encoding: str, name: str) -> tuple[str, bytes] | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return f"is in {name}; the record is in UTF-8", text.encode("utf-8", "surrogatepass")


def lines_differ(found: bytes | None, wanted: bytes | None, gives: str = "the journal gives") -> str:
    """The first difference between two lines, either of which may be missing: both around the place, as they are told
    apart. `gives` says who is right."""
    if found is None:
        return f"found no such line; {gives} {_quoted(_text(wanted or b''), 0)}"
    if wanted is None:
        return f"found {_quoted(_text(found), 0)}, a line too many"
    one, other = _text(found), _text(wanted)
    same = _n_same(one, other)
    drop = _indentation(one[:same])
    end_one, end_other = _ends(one, other, same)
    shown = [_quoted(text, same, drop, end) for text, end in ((one, end_one), (other, end_other))]
    return f"found {shown[0]}; {gives} {shown[1]}{_named(one, other, same, gives)}"


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")


def _n_same(one: str, other: str) -> int:
    """The number of characters that both texts share at the start."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _indentation(shared: str) -> int:
    """The length of the indentation that both lines share; 0 if they may differ in it."""
    return len(shared) - len(shared.lstrip(" ")) if shared.strip(" ") else 0


def _ends(one: str, other: str, same: int) -> tuple[int, int]:
    """The end of each text without the spaces that both have there."""
    end_one, end_other = len(one), len(other)
    while min(end_one, end_other) > same and one[end_one - 1] == other[end_other - 1] == " ":
        end_one, end_other = end_one - 1, end_other - 1
    return end_one, end_other


def _quoted(text: str, place: int, start: int = 0, end: int | None = None) -> str:
    """The part of `text` around `place`, in quotes."""
    end = len(text) if end is None else end
    first = start if place - start <= _AROUND else place - _AROUND
    last = min(end, place + _AROUND)
    before, after = "…" if first > start else "", "…" if last < end else ""
    return f"'{before}{''.join(map(_seen, text[first:last]))}{after}'"


def _seen(character: str) -> str:
    """The character, or its escape if it can't be seen or is a backslash."""
    if character == "\\":
        return r"\\"
    return character if quoted(character)[1:-1] == character else character.encode("unicode_escape").decode("ascii")


def _named(one: str, other: str, same: int, gives: str) -> str:
    """The code points that differ, unless both are ASCII: others may look alike."""
    first, second = one[same : same + 1], other[same : same + 1]
    if (first + second).isascii():
        return ""
    names = [f"U+{ord(one):04X}" if one else "the end" for one in (first, second)]
    return f" ({names[0]} where {gives} {names[1]})"
