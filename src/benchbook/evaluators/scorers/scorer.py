"""`@bb.scorer`: a Python function that scores an item's answer, by its name and version."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.scorers.source import own_source, whole_source
from benchbook.specs import FROZEN
from benchbook.specs.fields import NAME, NAME_WORDS
from benchbook.text import one_line, quoted, shorten

Function = Callable[..., Any]


class ScorerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The identity of a scorer. `source_sha256` is of the text that `source.whole_source` makes."""

    name: str
    version: int
    function: str
    passes_at: float  # the score from which on an answer passes, where the function does not say
    source_sha256: str

    @property
    def id(self) -> str:
        return f"{self.name}@v{self.version}"

    @property
    def sha256(self) -> str:
        """The hash of everything that defines it."""
        return hashlib.sha256(canonical_json(self)).hexdigest()


class ScoredItem(Mapping[str, Any]):
    """An item as a scorer sees it: all that stands on its line, as `item["level"]` or `item.level`.

    The fields of every item (`id`, `prompt`, `expected_answer`, `context`, `section`, …) have these names whatever the
    line calls them, and are None where it lacks them.
    """

    __slots__ = ("_fields",)
    _OF_ALL = Item.__struct_fields__

    def __init__(self, item: Item, fields: Mapping[str, Any]) -> None:
        self._fields = {**fields, **{name: getattr(item, name) for name in self._OF_ALL}}

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            there = ", ".join(self._fields)
            raise AttributeError(f"the item {self._fields['id']!r} has no {name!r}; it has {there}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"ScoredItem({self._fields!r})"


class Scorer:
    """A function with a name and a version; it can still be called as what it was.

    `is_async`: it is awaited.
    """

    def __init__(self, function: Function, name: str, version: int, passes_at: float) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name, self.version, self.passes_at = name, version, passes_at
        self.is_async = inspect.iscoroutinefunction(function)
        # Now, and not when it is first used: the file may be edited meanwhile, and what runs is what was imported.
        self._own_source = own_source(function, f"scorer {self.id}")

    @property
    def id(self) -> str:
        return f"{self.name}@v{self.version}"

    @cached_property
    def source(self) -> str:
        """The source that the record keeps. Raises: UsageError where something in it looks like a key."""
        return whole_source(self.function, self._own_source, f"scorer {self.id}")

    @cached_property
    def spec(self) -> ScorerSpec:
        return ScorerSpec(
            name=self.name,
            version=self.version,
            function=self.function.__qualname__,
            passes_at=float(self.passes_at),
            source_sha256=hashlib.sha256(self.source.encode("utf-8", "backslashreplace")).hexdigest(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it as its import, as the function would be: trainers send rewards to workers."""
        return _imported, (self.function.__module__, self.function.__qualname__)

    def __call__(self, item: Any, answer: str) -> Any:
        return self.function(item, answer)

    def __repr__(self) -> str:
        return f"<Scorer {self.id}: {self.function.__qualname__}>"


def _imported(module: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def scorer(*, name: str, version: int = 1, passes_at: float = 1.0) -> Callable[[Function], Scorer]:
    """A decorator that makes a function `(item, answer)` a scorer: `bb.score(it, "items.jsonl", …)`.

    `item` has all that stands on the item's line (`item["expected_answer"]`, or `item.expected_answer`), `answer` is
    the model's text. It returns true or false, a number from 0 to 1, or a dict with `score`, maybe `passed`, and named
    numbers and texts. It may be `async`. Without `passed`, an answer passes whose score is `passes_at` or more.

    Records name it `name@vN` and keep its source: to change it is to make another version.

    Raises: UsageError for a name, version or limit that can't be, and a function whose source can't be read.
    """
    _check(name, version, passes_at)

    def decorate(function: Function) -> Scorer:
        if not inspect.isfunction(function):
            raise UsageError(f"scorer {name}: found {type(function).__name__}; expected a function (item, answer)")
        try:
            inspect.signature(function).bind(None, "")
        except TypeError:
            found = f"{function.__name__}{inspect.signature(function)}"
            raise UsageError(f"scorer {name}: found {found}; expected a function that takes (item, answer)") from None
        return Scorer(function, name, version, passes_at)

    return decorate


def _check(name: Any, version: Any, passes_at: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise UsageError(f"scorer: name: found {_said(name)}; expected {NAME_WORDS}")
    if type(version) is not int or version < 1:
        raise UsageError(f"scorer {name}: version: found {_said(version)}; expected a whole number, 1 or more")
    if isinstance(passes_at, bool) or not isinstance(passes_at, int | float) or not 0 <= passes_at <= 1:
        raise UsageError(f"scorer {name}: passes_at: found {_said(passes_at)}; expected a number from 0 to 1")
    if f"{name}@v{version}" in FROZEN:
        raise UsageError(f"scorer {name}@v{version}: is shipped; expected a name of your own, or another version")


def _said(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else shorten(repr(value), 60)


# ── in a file ────────────────────────────────────────────────────────────────────────────────────────────────


def is_scorer_in_file(spec: str) -> bool:
    """True if the command line names an evaluator as `FILE.py:function`."""
    return spec.partition(":")[0].endswith(".py")


def scorer_in_file(spec: str) -> Scorer:
    """The scorer that is `FILE.py:function`. The file is run, as by an import: to name it is to ask for that, so
    nothing that comes from a record or over a network may name one.

    Raises: UsageError for a file that can't be imported, and where it has no scorer of that name.
    """
    file, _, function = spec.partition(":")
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"{file}: can't be read (there is no such file)")
    found = getattr(_module_in(path), function, None) if function else None
    if isinstance(found, Scorer):
        return found
    what = f"{function} is no scorer" if function else "no function is named"
    there = [name for name, one in vars(_module_in(path)).items() if isinstance(one, Scorer)]
    expected = " or ".join(f"{file}:{name}" for name in there) or "a function with @bb.scorer(name=…) above it"
    raise UsageError(f"{spec}: {what}; expected {expected}")


@functools.cache
def _module_in(path: Path) -> Any:
    known = spec_from_file_location(f"benchbook_scorers_{path.stem}", path)
    if known is None or known.loader is None:
        raise UsageError(f"{path}: is no Python file")
    module = module_from_spec(known)
    sys.modules[known.name] = module  # where `inspect` looks for the source of a class
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        known.loader.exec_module(module)
    except Exception as error:
        said = shorten(one_line(f"{type(error).__name__}: {error}"), 500)
        raise UsageError(f"{path}: can't be imported ({said})") from None
    finally:
        sys.path.pop(0)
    return module
