"""An evaluation set: the outputs that judges assess, with the texts that they see; its gaps and duplicates (P1).

    FOLDER/manifest.jsonl        a line for each output, sorted by its identifiers
    FOLDER/texts/<sha256>.txt    its text; the file's name is the hash alone

The manifest's hash identifies the set.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise, product
from math import prod
from pathlib import Path

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.errors import InputError, UsageError
from benchbook.evalsets.extraction import Extraction, ExtractionFault, ExtractionLimits, extract_files, extract_text
from benchbook.evalsets.lines import read_lines
from benchbook.evalsets.output_set_sources import Candidate, Key
from benchbook.text import shorten
from benchbook.writing import folder_made_whole, sync_folder

_MANIFEST = "manifest.jsonl"
_TEXTS = "texts"
_HASH = re.compile("[0-9a-f]{64}")


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One output: a line of the manifest. Its identifiers are foreign text and are never used as a path.

    `file` is the name that it was read from, None if a table held the text. It has either `text_sha256` or `error`.
    """

    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    file: str | None
    file_sha256: str | None
    text_sha256: str | None
    extractor: str
    extractor_version: str
    n_pages: int | None = None
    error: ExtractionFault | None = None

    @property
    def key(self) -> Key:
        return self.question_id, self.prompt_variant, self.target_model, self.output_id

    @property
    def cell(self) -> dict[str, str]:
        """The four identifiers by name, as `evaluators.protocol.validity` takes them for `asked` and for its set."""
        return {
            "question_id": self.question_id,
            "prompt_variant": self.prompt_variant,
            "target_model": self.target_model,
            "output_id": self.output_id,
        }


@dataclass(frozen=True)
class OutputSet:
    """A set that was read. `sha256` is the manifest's; `text_path` gives the path of a text by its hash."""

    manifest: Path
    sha256: str
    outputs: Sequence[Output]
    text_path: Callable[[str], Path] = field(compare=False)

    @property
    def folder(self) -> Path:
        return self.manifest.parent

    def text(self, output: Output) -> str:
        """The text of `output` that a judge sees, from the disk. Raises: InputError if its hash is not the manifest's.

        Raises: ValueError for an output with an error, which has no text.
        """
        if output.text_sha256 is None:
            raise ValueError("an output with an error has no text")
        path = self.text_path(output.text_sha256)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(path, found=f"nothing ({error.strerror})", expected="a text of the set") from None
        found = hashlib.sha256(data).hexdigest()
        if found != output.text_sha256:
            raise InputError(path, found=f"a text with the hash {found}", expected=output.text_sha256)
        return data.decode("utf-8")

    @cached_property
    def by_key(self) -> dict[Key, Output]:
        return {output.key: output for output in self.outputs}


def write_output_set(
    candidates: Iterable[Candidate], folder: str | Path, limits: ExtractionLimits | None = None
) -> OutputSet:
    """Read every candidate's text and write the set to `folder`, which must be new or empty.

    The folder appears whole or not at all. An output without a text is in it, with its error.

    Raises: UsageError for a folder that is in use, or a sample that is listed twice.
    """
    folder = Path(folder)
    ordered = sorted(candidates, key=lambda candidate: candidate.key)
    for one, other in pairwise(ordered):
        if one.key == other.key:
            raise UsageError(f"{one.place} and {other.place} are one sample by their identifiers; expected each once")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is in use; name a folder that is new or empty")
    with folder_made_whole(folder, refuse=UsageError) as made:
        _write(ordered, made, limits)
    return read_output_set(folder)


def _write(candidates: Sequence[Candidate], folder: Path, limits: ExtractionLimits | None) -> None:
    (folder / _TEXTS).mkdir()
    with (folder / _MANIFEST).open("wb") as manifest:
        for candidate, extraction in zip(candidates, _extracted(candidates, limits), strict=True):
            if extraction.text is not None and extraction.text_sha256 is not None:
                path = _text_path(folder, extraction.text_sha256)
                if not path.exists():
                    path.write_bytes(extraction.text.encode("utf-8"))
            manifest.write(canonical_json(_output(candidate, extraction)) + b"\n")
    sync_folder(folder / _TEXTS)


def _extracted(candidates: Sequence[Candidate], limits: ExtractionLimits | None) -> Iterator[Extraction]:
    files = extract_files((candidate.path for candidate in candidates if candidate.path is not None), limits)
    for candidate in candidates:
        yield next(files) if candidate.path is not None else extract_text(candidate.text or "", limits)


def _output(candidate: Candidate, extraction: Extraction) -> Output:
    return Output(
        *candidate.key,
        file=candidate.name,
        file_sha256=extraction.file_sha256,
        text_sha256=extraction.text_sha256,
        extractor=extraction.extractor,
        extractor_version=extraction.extractor_version,
        n_pages=extraction.n_pages,
        error=extraction.fault,
    )


def _text_path(folder: Path, text_sha256: str) -> Path:
    return folder / _TEXTS / f"{text_sha256}.txt"


def read_output_set(folder: str | Path) -> OutputSet:
    """Read a set's manifest. Texts are read, and checked against their hashes, only when they are used.

    Raises: InputError naming the line and its fault; UsageError if there is no set.
    """
    folder = Path(folder)
    path = folder / _MANIFEST
    if not path.is_file():
        raise UsageError(f"{folder}: no evaluation set (no {_MANIFEST}); make one with `benchbook judge init`")
    return read_outputs(path, lambda sha256: _text_path(folder, sha256))


def read_outputs(path: Path, text_path: Callable[[str], Path]) -> OutputSet:
    """Read a manifest as `read_output_set` does, with its texts elsewhere: in a record they are among its inputs."""
    outputs: list[Output] = []
    lines_of: dict[Key, int] = {}
    decoder = msgspec.json.Decoder(ready(Output))
    for line in read_lines(path):
        if line.data is None:
            raise InputError(path, line=line.number, found="a line without end", expected="an output")
        output = _read_output(path, line.number, line.data, decoder)
        first = lines_of.setdefault(output.key, line.number)
        if first != line.number:
            raise InputError(path, line=line.number, found=f"the sample of line {first} again", expected="each once")
        if output.text_sha256 is not None and not text_path(output.text_sha256).is_file():
            raise InputError(path, line=line.number, field="text_sha256", found="no such text in the set")
        outputs.append(output)
    if not outputs:
        raise InputError(path, found="no outputs", expected="a line for each")
    return OutputSet(path, hashlib.sha256(path.read_bytes()).hexdigest(), tuple(outputs), text_path)


def _read_output(path: Path, number: int, data: bytes, decoder: msgspec.json.Decoder[Output]) -> Output:
    try:
        output = decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(path, line=number, found=f"no output ({error})") from None
    if canonical_json(output) != data:
        raise InputError(path, line=number, found="another spelling", expected="canonical JSON, as it was written")
    if (output.text_sha256 is None) == (output.error is None):
        raise InputError(path, line=number, field="error", found="not one of a text and an error", expected="one")
    # Checked before it becomes a path.
    if output.text_sha256 is not None and not _HASH.fullmatch(output.text_sha256):
        found = shorten(repr(output.text_sha256), 80)
        raise InputError(path, line=number, field="text_sha256", found=found, expected="64 hexadecimal digits")
    return output


Cell = tuple[str, str, str]  # question_id, prompt_variant, target_model
_AXES = ("question_id", "prompt_variant", "target_model")


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of outputs. `axes` has the sorted values of each, declared or found; `counts` leaves out empty cells."""

    axes: Mapping[str, tuple[str, ...]]
    counts: Mapping[Cell, int]
    doubles: Mapping[Key, tuple[str, ...]]  # a sample's identifiers -> the two or more places where it was found

    @property
    def n_cells(self) -> int:
        return prod(map(len, self.axes.values()))

    @property
    def n_gaps(self) -> int:
        return self.n_cells - len(self.counts)

    def gaps(self, most: int | None = None) -> Iterator[Cell]:
        """The first `most` cells without an output. A wrong pattern can make a grid of millions: take a few."""
        cells: Iterator[Cell] = product(*self.axes.values()) if self.n_gaps else iter(())  # type: ignore[assignment]
        return islice((cell for cell in cells if cell not in self.counts), most)

    def uneven(self) -> list[tuple[Cell, int]]:
        """The cells with fewer outputs than the fullest one, and their numbers of outputs. Empty cells are gaps."""
        full = max(self.counts.values(), default=0)
        return sorted((cell, count) for cell, count in self.counts.items() if count < full)


def grid_of(candidates: Iterable[Candidate], values: Mapping[str, Sequence[str]] | None = None) -> Grid:
    """The grid of `candidates`. `values` are the declared ones: a value without any output is a row of gaps."""
    axes = {name: set((values or {}).get(name, ())) for name in _AXES}
    counts: Counter[Cell] = Counter()
    places: dict[Key, list[str]] = defaultdict(list)
    for candidate in candidates:
        places[candidate.key].append(candidate.place)
        if len(places[candidate.key]) == 1:
            counts[candidate.key[:3]] += 1
            for name, value in zip(_AXES, candidate.key, strict=False):
                axes[name].add(value)
    doubles = {key: tuple(found) for key, found in sorted(places.items()) if len(found) > 1}
    return Grid({name: tuple(sorted(found)) for name, found in axes.items()}, counts, doubles)
