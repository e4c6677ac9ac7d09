"""A big array in a JSON file, element by element: a log of many samples is never held whole.

Only brackets and strings are looked at here. Whether an element is JSON, or what stands around the array, is found
when it is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import Enum
from functools import reduce
from pathlib import Path

from msgspec import Raw

from benchbook.errors import InputError
from benchbook.exchange.json_text import decoded
from benchbook.text import plural, quoted

_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_DEEPEST = 1_000  # brackets; whoever decodes an element may take fewer
_LONGEST_KEY = 1024

# Possessive throughout: nothing is tried twice, and no stack grows with the length of a text.
_MARK = re.compile(rb'["\[\]{}]')
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_PLAIN = rb'[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"'
_LEVELS = 12
# All that stands whole in a piece: texts, and brackets that close again and hold few levels. It matches nothing, too;
# after it comes a bracket, a text that goes on in the next piece, or the piece's end. So no text is looked at again.
_WHOLE = re.compile(
    rb"(?:%b)*+" % reduce(lambda inner, _: rb"%b|[\[{](?:%b)*+[\]}]" % (_PLAIN, inner), range(_LEVELS), _PLAIN),
    re.DOTALL,
)

_QUOTE, _BACKSLASH, _OBJECT = b'"'[0], b"\\"[0], b"{"[0]
_OPENING = b"[{"
_WHITE_SPACE = b" \t\r\n"


class JsonArray:
    """The array at `keys` of a JSON file, as `("results", "results")`; without keys the file is the array.

    Iterating yields the bytes of each element, an object or array, and leaves in `rest` the document without them, the
    array empty; `found` says whether there was such an array, and `before` has what stands before its elements, once it
    began. `without` are the keys of other objects and arrays, for which `rest` has null. Each iteration reads the file
    anew.
    """

    def __init__(
        self,
        path: str | Path,
        keys: tuple[str, ...] = (),
        *,
        without: Collection[tuple[str, ...]] = (),
        most_bytes: int = 256 << 20,
        is_all: bool = False,
    ) -> None:
        """`most_bytes`: of an element, and of the rest. `is_all`: a file without the array makes no sense, and nobody
        decodes the rest, which is to be JSON all the same."""
        self.path = Path(path)
        self.keys = keys
        self.without = frozenset(without)
        self.most_bytes = most_bytes
        self.is_all = is_all
        self.rest = b""
        self.before = b""
        self.found = False

    def __iter__(self) -> Iterator[bytes]:
        """Raises: InputError where the file can't be read, ends too early, or an element is no object or array."""
        scan = _Scan(self)
        try:
            with self.path.open("rb") as file:
                if file.read(len(_BOM)) != _BOM:
                    file.seek(0)
                while chunk := file.read(_CHUNK):
                    yield from scan.elements_in(scan.unread + chunk)
        except OSError as error:
            raise InputError(self.path, found=f"a file that can't be read ({error.strerror})") from None
        scan.end()
        self.rest, self.found = bytes(scan.rest), scan.found
        if self.is_all:
            decoded(self.rest, Raw, self.path)
            if not self.found:
                found, expected = "something else", "an array of objects"
                raise InputError(self.path, field=".".join(self.keys) or None, found=found, expected=expected)


class _In(Enum):
    """Where a scan is."""

    REST = "rest"
    ARRAY = "array"  # between elements
    ELEMENT = "element"
    LEFT_OUT = "left out"


class _Scan:
    """One pass over the file."""

    def __init__(self, array: JsonArray) -> None:
        self.array = array
        self.rest = bytearray()
        self.found = False
        self.unread = b""  # a backslash at a chunk's end: what it escapes is in the next
        self._in = _In.REST
        self._open: list[tuple[str | None, bool]] = []  # brackets around: the key of each, and if it is an object's
        self._depth = 0  # of brackets, since what is no rest began
        self._watched = max(map(len, (array.keys, *array.without)))  # so deep are keys of interest
        self._in_string = False
        self._text = bytearray()  # of the last string that may be a key
        self._element = bytearray()
        self._between = b""
        self._n = 0

    def elements_in(self, chunk: bytes) -> Iterator[bytes]:
        """The elements that end in a chunk."""
        done = 0
        for at in self._brackets(chunk):
            if chunk[at] in _OPENING:
                done = self._opens(chunk, done, at)
            elif self._in is _In.ELEMENT:
                self._depth -= 1
                if not self._depth:
                    self._take(chunk[done : at + 1])
                    done, self._in = at + 1, _In.ARRAY
                    self._n += 1
                    yield bytes(self._element)
                    self._element.clear()
            else:
                done = self._closes(chunk, done, at)
        self._take(chunk[done : len(chunk) - len(self.unread)])

    def end(self) -> None:
        """The file ends here. Raises: InputError where something is open still."""
        if self._in_string or self._open or self._in is not _In.REST:
            raise self._broken("the file's end in the middle of it", "whole JSON")

    def _opens(self, chunk: bytes, done: int, at: int) -> int:
        """A bracket that opens; returns up to where the chunk is done."""
        if self._in in (_In.ELEMENT, _In.LEFT_OUT):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self._too_deep()
            return done
        if self._in is _In.ARRAY:
            self._take(chunk[done:at])
            if self._between != (b"," if self._n else b""):
                raise self._broken(f"{quoted(self._between.decode(errors='replace'))} before an element")
            self._between, self._in, self._depth = b"", _In.ELEMENT, 1
            return at
        return self._opens_in_rest(chunk, done, at)

    def _opens_in_rest(self, chunk: bytes, done: int, at: int) -> int:
        if len(self._open) == _DEEPEST:
            raise self._too_deep()
        is_object = chunk[at] == _OBJECT
        of_object = bool(self._open) and self._open[-1][1]
        key = self._text.decode(errors="replace") if of_object and len(self._open) <= self._watched else None
        here = (*(one for one, _ in self._open[1:]), key) if self._open else ()
        if here == self.array.keys and not is_object:
            if self.found:
                raise self._broken("the same field twice", "it once")
            self._take(chunk[done : at + 1])
            self.array.before = bytes(self.rest)
            self.found, self._in = True, _In.ARRAY
            self._open.append((key, is_object))
            return at + 1
        if here in self.array.without and self._open:
            self._take(chunk[done:at] + b"null")
            self._in, self._depth = _In.LEFT_OUT, 1
            return at
        self._open.append((key, is_object))
        return done

    def _closes(self, chunk: bytes, done: int, at: int) -> int:
        """A bracket that closes, and no element's."""
        if self._in is _In.LEFT_OUT:
            self._depth -= 1
            if self._depth:
                return done
            self._in = _In.REST
            return at + 1
        if self._in is _In.ARRAY:
            self._take(chunk[done:at])
            if self._between:
                raise self._broken(f"{quoted(self._between.decode(errors='replace'))} after the last element")
            self._in, done = _In.REST, at
        if not self._open:
            raise self._broken("a bracket that closes what was never opened", "JSON")
        self._open.pop()
        return done

    def _brackets(self, chunk: bytes) -> Iterator[int]:
        """The places of the brackets that stand in no string; where only what ends matters, not of those between."""
        at, self.unread = 0, b""
        while at <= len(chunk):
            if self._in_string:
                at = self._through_string(chunk, at)
                continue
            if self._in is not _In.ARRAY and not self._may_be_key() and (whole := _WHOLE.match(chunk, at)):
                at = whole.end() + 1
            elif mark := _MARK.search(chunk, at):
                at = mark.end()
            else:
                return
            if at > len(chunk):
                return
            if chunk[at - 1] == _QUOTE:
                self._in_string = True
                self._text.clear()
            else:
                yield at - 1

    def _through_string(self, chunk: bytes, at: int) -> int:
        """Passes the rest of a string, or of the chunk; returns where it goes on: behind the chunk where that ends."""
        match = _IN_STRING.match(chunk, at)
        end = match.end() if match else at
        if self._may_be_key():
            self._text += chunk[at : min(end, at + _LONGEST_KEY)]
            del self._text[_LONGEST_KEY:]
        if end == len(chunk):
            return end + 1
        if chunk[end] == _BACKSLASH:
            self.unread = chunk[end:]
            return len(chunk) + 1
        self._in_string = False
        return end + 1

    def _may_be_key(self) -> bool:
        return self._in is _In.REST and len(self._open) <= self._watched

    def _take(self, piece: bytes) -> None:
        """Puts what was passed where it belongs."""
        if self._in is _In.ARRAY:
            self._between = (self._between + piece).strip(_WHITE_SPACE)[:100]
            return
        if self._in is _In.LEFT_OUT:
            return
        kept = self.rest if self._in is _In.REST else self._element
        kept += piece
        if len(kept) > self.array.most_bytes:
            raise self._broken("more than can be held", f"at most {plural(self.array.most_bytes, 'byte')} in one piece")

    def _too_deep(self) -> InputError:
        return self._broken("JSON nested too deeply", f"at most {_DEEPEST} levels")

    def _broken(self, found: str, expected: str | None = None) -> InputError:
        name = ".".join(self.array.keys)
        inside = self._in in (_In.ARRAY, _In.ELEMENT)
        return InputError(
            self.array.path,
            field=f"{name}[{self._n}]" if inside else name or None,
            found=found,
            expected=expected or "objects or arrays, with a comma between two",
        )
