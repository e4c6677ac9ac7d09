"""promptfoo's YAML, result by result: what is parsed is built as it comes, and nothing in it is ever carried out.

Aliases share what they name, and an alias of aliases of aliases is small in a file, and without end once it is written
out: all that is expanded is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.exchange.json_text import decoded
from benchbook.exchange.promptfoo.forms import EvalFile, ResultFile, TableRow, results_of_row
from benchbook.exchange.promptfoo.results import Result
from benchbook.text import quoted, shorten, storable

_RESULTS = ["results", "results"]
_TABLE = ["results", "table", "body"]  # before version 3
_REFUSES_HALVES = "found invalid Unicode character escape code"
_DEEPEST = 200
_MOST_NODES = 2_000_000  # of one result, or of all the rest, with aliases written out

# As YAML 1.2 tells values from texts, and the library that promptfoo writes with: `yes` and dates are texts.
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,4000})\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]{1,400}(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,5})?\Z")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)\Z")


class YamlResults(ResultFile):
    """The file of `promptfoo eval -o x.yaml`, and of `-o x.txt` too."""

    _patient = False  # the fast parser refuses half a character (a lone surrogate), which JavaScript's texts may hold

    def __init__(self, path: Path, *, version: int = 3) -> None:
        super().__init__(path)
        self.form = f"YAML, version {version}"
        self._wanted = _RESULTS if version >= 3 else _TABLE
        if version < 3:
            self.place_of_columns = "results.table.head.prompts"

    def results(self, column: int | None = None) -> Iterator[tuple[str, Result]]:
        done = 0
        while True:
            build = _Build(self.path, self._wanted, patient=self._patient)
            try:
                for n, found in enumerate(build.results()):
                    if n < done:
                        continue
                    done, where = n + 1, f"{'.'.join(self._wanted)}[{n}]"
                    data = msgspec.json.encode(found)
                    if self._wanted is _TABLE:
                        yield from results_of_row(decoded(data, TableRow, self.path, within=where), n, where, column)
                    elif column is None or (isinstance(found, dict) and found.get("promptIdx") == column):
                        yield where, decoded(data, Result, self.path, within=where)
                break
            except _HalfCharacterError:
                self._patient = True
        self.rest = decoded(msgspec.json.encode(build.document), EvalFile, self.path)
        if self.rest.config is None:  # it stands behind the results; a cut YAML may be whole as YAML
            raise InputError(self.path, found="the file's end before `config`", expected="the whole file")
        table = self.rest.results.table
        self.columns = table.head.prompts if table else self.rest.results.prompts


class _HalfCharacterError(Exception):
    """The fast parser met one."""


class _Open:
    """A mapping or sequence that is being read."""

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None  # of the value that comes next
        self.n = 1  # nodes in it

    def put(self, value: Any, n: int) -> None:
        self.n += n
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is None:
            self.key = value
        else:
            self.value[self.key] = value
            self.key = None


class _Build:
    """One pass over the events of a document."""

    def __init__(self, path: Path, wanted: list[str], *, patient: bool) -> None:
        self.path = path
        self.wanted = wanted
        self.patient = patient
        self.document: Any = None
        self._open: list[_Open] = []
        self._anchored: dict[str, tuple[Any, int]] = {}
        self._line = 0

    def results(self) -> Iterator[Any]:
        """Each element of the wanted array; all else is in `document` then, but other results. Raises: InputError."""
        yaml = _library(self.path)
        loader = yaml.SafeLoader if self.patient else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            with self.path.open("rb") as file:
                for event in yaml.parse(file, Loader=loader):
                    self._line = event.start_mark.line + 1
                    yield from self._take(yaml, event)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else None
            said = shorten(str(getattr(error, "problem", None) or error), 120)
            if said == _REFUSES_HALVES and not self.patient:
                raise _HalfCharacterError from None
            raise InputError(self.path, line=line, found=f"no YAML: {said}") from None
        except OSError as error:
            raise InputError(self.path, found=f"a file that can't be read ({error.strerror})") from None

    def _take(self, yaml: Any, event: Any) -> Iterator[Any]:
        if isinstance(event, yaml.CollectionStartEvent):
            self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], event)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self._open.pop()
            if done.anchor:
                self._anchored[done.anchor] = done.value, done.n
            here = [one.key for one in self._open[:-1]]
            in_array = bool(self._open) and isinstance(self._open[-1].value, list)
            if in_array and here == self.wanted:
                yield done.value
            elif not (in_array and here == _RESULTS):
                self._put(done.value, done.n)
        elif isinstance(event, yaml.ScalarEvent):
            value = _scalar(event) if self._awaits_value() else _text(event)
            self._refuse_tag(event)
            if event.anchor:
                self._anchored[event.anchor] = value, 1
            self._put(value, 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchored:
                raise self._broken(f"an alias of {quoted(event.anchor)}, which is not there yet")
            self._put(*self._anchored[event.anchor])

    def _begin(self, value: dict[str, Any] | list[Any], event: Any) -> None:
        self._refuse_tag(event)
        if len(self._open) == _DEEPEST:
            raise self._broken("YAML nested too deeply", f"at most {_DEEPEST} levels")
        if not self._awaits_value():
            raise self._broken("a key that is no text")
        self._open.append(_Open(value, event.anchor))

    def _put(self, value: Any, n: int) -> None:
        if not self._open:
            if self.document is not None:
                raise self._broken("a second document", "one")
            self.document = value
            return
        into = self._open[-1]
        if not self._awaits_value() and not isinstance(value, str):
            raise self._broken("a key that is no text")
        into.put(value, n)
        if into.n > _MOST_NODES:
            raise self._broken("aliases that stand for more than can be held", f"at most {_MOST_NODES:,} values")

    def _awaits_value(self) -> bool:
        """False in a mapping where a key must come."""
        return not self._open or isinstance(self._open[-1].value, list) or self._open[-1].key is not None

    def _refuse_tag(self, event: Any) -> None:
        if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
            raise self._broken(f"the tag {quoted(event.tag)}", "plain values")

    def _broken(self, found: str, expected: str | None = None) -> InputError:
        return InputError(self.path, line=self._line, found=found, expected=expected)


def _scalar(event: Any) -> Any:
    """The value of a plain text; quoted, it is a text."""
    text = _text(event)
    if event.style or event.tag:
        return text
    if text in _NULL or _NO_NUMBER.match(text):  # JSON has null for what is no number
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _FLOAT.match(text) else text


def _text(event: Any) -> str:
    """Its text. Two halves that stand together are a character; a half alone is its escape, as `storable` has it."""
    text: str = event.value
    return (
        text if text.isascii() else storable(text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"))
    )


def _library(path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{path}: YAML is read with PyYAML: pip install 'benchbook[yaml]'; promptfoo writes JSON too: "
            "promptfoo export eval ID -o x.json"
        ) from None
    return yaml
