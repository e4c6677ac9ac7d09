"""A spec's folder, frozen or a user's own, and its texts. A frozen one with a changed file is refused (SPEC C1)."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from benchbook.errors import InputError, SpecChangedError, UsageError
from benchbook.specs.faults import Faults, SpecError, SpecTable, near, toml_values
from benchbook.specs.fields import of_these, read_text
from benchbook.text import quoted

_FOLDER = Path(__file__).parent

# name@vN -> SHA-256 over its files, each as `<name> NUL <its bytes' SHA-256> LF`, in the order of their names.
FROZEN: Mapping[str, str] = {
    "answer_correctness@v1": "df63c01ff789290bcb8d6b8ab13fd804dd9bb77cf67d1f0ebad4209844d3db62",
    "candidate_prompt@v1": "2bcc30b53c1ebcb864b07959a4b666a220f3fde7326409549e9b0c6424b18775",
    "choice@v1": "1c1d6d010806a10eee8975a4160d27f1221ad5a75ef4e54e29421a97966cd785",
    "contains@v1": "8bf545a1d5acde46e7862c9d68f94aa4681a92b056b5bfc32dfbad5a1e0af645",
    "judge_protocol@v1": "348b2320560a9d2a3e5b61b221f033f7d7b39476bc6ba95c8e7c089b52de8796",
    "number@v1": "9726f124ce5f7c77099882bb89cfa2b6baa29d5aeaa61e38ebd6e3c3d89413db",
    "rubric@v1": "3641a5931c63cbdbd7d33e1e29a56a12e934f4074622e49e15f57dbeaea1fe63",
}


@dataclass(frozen=True, slots=True)
class FrozenSpec:
    """A spec's files. `sha256` identifies all of them together and goes into every record that used them."""

    id: str
    sha256: str
    files: Mapping[str, bytes]

    @property
    def settings(self) -> Mapping[str, Any]:
        """`spec.toml`, parsed."""
        return tomllib.loads(self.text("spec.toml"))

    def text(self, name: str) -> str:
        return self.files[name].decode("utf-8")

    def file_sha256(self, name: str) -> str:
        return hashlib.sha256(self.files[name]).hexdigest()


def sha256_of_files(hashes: Mapping[str, str]) -> str:
    """The hash that identifies a spec's files together, from the SHA-256 of each."""
    whole = hashlib.sha256()
    for name in sorted(hashes):
        whole.update(f"{name}\0{hashes[name]}\n".encode())
    return whole.hexdigest()


def _hash_of(files: Mapping[str, bytes]) -> str:
    return sha256_of_files({name: hashlib.sha256(data).hexdigest() for name, data in files.items()})


@cache
def load_spec(spec_id: str) -> FrozenSpec:
    """Read the spec called `name@vN`.

    Raises: UsageError for an unknown id; SpecChangedError if its files no longer have the frozen hash.
    """
    if spec_id not in FROZEN:
        known = ", ".join(sorted(FROZEN))
        raise UsageError(f"no evaluator {spec_id!r}; there are {known}")
    folder = _FOLDER / spec_id.replace("@", "_")
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
    found = _hash_of(files)
    if found != FROZEN[spec_id]:
        raise SpecChangedError(
            f"{spec_id}: its files hash to {found}, not to the frozen {FROZEN[spec_id]}: reinstall benchbook, "
            "or make a new version beside it"
        )
    return FrozenSpec(spec_id, found, files)


def files_to_start_from(kind: StartedFrom, name: str) -> dict[str, str]:
    """The commented texts that a user's own spec of that name starts from, by file name."""
    folder = _FOLDER / "to_start_from" / kind
    return {
        path.name: path.read_text("utf-8").replace("{name}", name) for path in sorted(folder.iterdir(), reverse=True)
    }


_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


def as_text(value: Any) -> str:
    """A template value as it is inserted: a string unchanged, anything else as canonical JSON (SPEC R2.2)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Template:
    """A text with placeholders, split once, so that braces within a value are never read as one."""

    def __init__(self, text: str) -> None:
        pieces = _PLACEHOLDER.split(text)
        self.text = text
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        self.literals: tuple[str, ...] = tuple(pieces[0::2])  # before, between and after them

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with each placeholder replaced; a name that `values` lacks becomes the empty string."""
        pieces = [self.literals[0]]
        for name, literal in zip(self.names, self.literals[1:], strict=True):
            pieces.append(as_text(values[name]) if name in values else "")
            pieces.append(literal)
        return "".join(pieces)


SPEC_FILE = "spec.toml"
SpecKind = Literal["checks", "protocol", "rubric"]  # of a user's own
StartedFrom = Literal[SpecKind, "pairs"]  # what there is to start from: a rubric for pairs, too
_MOST_BYTES = 1 << 20  # of one file


class FilesBeside(Mapping[str, bytes]):
    """The files of a folder by name, each read on first use; `read` holds those that have been: they define
    the spec."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
        self.read: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.read:
            self.read[name] = _bytes_of(self._paths[name])
        return self.read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def sha256(self) -> str:
        """The hash that identifies the files that have been read, together."""
        return _hash_of(self.read)


def kind_of_spec(folder: str | Path) -> SpecKind:
    """The kind of the spec in a folder: a rubric has criteria, a judge protocol dimensions, anything else is checks.

    A faulty spec.toml counts as checks; its reader reports the fault.
    """
    try:
        values = toml_values((Path(folder) / SPEC_FILE).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return "checks"
    if not values.keys().isdisjoint({"criteria", "item_criteria"}):
        return "rubric"
    return "protocol" if "dimensions" in values else "checks"


class Named(Protocol):
    """A spec, as far as its id."""

    @property
    def id(self) -> str: ...


_Own = TypeVar("_Own", bound=Named)


def read_own(
    folder: str | Path, starts_with: str, read: Callable[[FilesBeside, Path], _Own]
) -> tuple[_Own, FilesBeside]:
    """A user's own spec, as `read` gives it from its files and the path of spec.toml, and these files.

    `starts_with` is the command that writes one to start from. Raises: UsageError if there is no spec.toml; SpecError
    if it has the name of a shipped spec; whatever `read` raises.
    """
    folder = Path(folder)
    path = folder / SPEC_FILE
    if not path.is_file():
        what = "no spec.toml in it" if folder.is_dir() else "there is no such folder"
        raise UsageError(f"{folder}: {what}; `{starts_with}` writes one to start from")
    files = FilesBeside(folder)
    spec = read(files, path)
    if spec.id in FROZEN:
        expected = "a name of your own, or another version"
        raise SpecError((InputError(path, field="name", found=f"{spec.id}, which is shipped", expected=expected),))
    return spec, files


def spec_text(data: bytes, path: str | Path) -> str:
    """The text of a spec.toml; `path` names it in messages. Raises: SpecError if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = InputError(path, line=line, found=f"byte {data[error.start]:#04x}", expected="UTF-8")
        raise SpecError((fault,)) from None


def read_generation(table: SpecTable, defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """The generation parameters for judges: the defaults, overridden by `[generation]`."""
    inner = table.table("generation")
    if inner is None:
        return defaults
    found = {key: float(value) if isinstance(value, Decimal) else value for key, value in inner.items().items()}
    return {**defaults, **found}


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path}: more than 1 MiB; a spec and its schemas are small")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None


PROMPT_FILE = "prompt.txt"
Role = Literal["system", "user", "assistant"]
_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_BRACED = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


class Texts:
    """The texts of the files beside a spec.toml; a faulty one is reported once."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        faults: Faults,
        is_placeholder: Callable[[str], object],
        placeholders: tuple[str, ...],
    ) -> None:
        """`is_placeholder` gets `{{name}}` as it is written; `placeholders` are the known names."""
        self._files = files
        self._faults = faults
        self._is_placeholder = is_placeholder
        self._placeholders = placeholders
        self._read: dict[str, str | None] = {}

    def of(self, name: str) -> str | None:
        """The text of a file; None if it is faulty."""
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
    """The messages of `[[...messages]]` tables, by role and text; without any table, prompt.txt as a user message."""
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
