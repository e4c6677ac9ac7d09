"""An evaluation set: the outputs that judges are asked about, with the texts that they see; its gaps and doubles (P1).

    FOLDER/manifest.jsonl        a line for each output, sorted by its identifiers
    FOLDER/texts/<sha256>.txt    its text; files are named by nothing but that hash

The manifest's hash names the set.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
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

_MANIFEST = "manifest.jsonl"
_TEXTS = "texts"
_HASH = re.compile("[0-9a-f]{64}")


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One output: a line of the manifest. Its identifiers are somebody's text and never name a path.

    `file` is the name that it was read from, None where a table held the text. Either `text_sha256` is there, or
    `error`.
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
        """The four identifiers by name: what `evaluators.protocol.validity` takes for `asked` and for its set."""
        return {
            "question_id": self.question_id,
            "prompt_variant": self.prompt_variant,
            "target_model": self.target_model,
            "output_id": self.output_id,
        }


@dataclass(frozen=True)
class OutputSet:
    """A set that was read. `sha256` is the manifest's; `text_path` says where the text with a hash is."""

    manifest: Path
    sha256: str
    outputs: Sequence[Output]
    text_path: Callable[[str], Path] = field(compare=False)

    @property
    def folder(self) -> Path:
        return self.manifest.parent

    def text(self, output: Output) -> str:
        """What a judge sees of `output`, from the disk. Raises: InputError where it is not what the manifest says.

        Raises: ValueError for an output with an error: it has no text.
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

    The folder is there as a whole or not at all. An output without a text is in it, with its error.

    Raises: UsageError for a folder that is in use, or a sample that is there twice.
    """
    folder = Path(folder)
    ordered = sorted(candidates, key=lambda candidate: candidate.key)
    for one, other in pairwise(ordered):
        if one.key == other.key:
            raise UsageError(f"{one.place} and {other.place} are one sample by their identifiers; expected each once")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: is in use; name a folder that is new or empty")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent, ignore_cleanup_errors=True) as temporary:
            made = Path(temporary) / "new"
            made.mkdir()  # with the user's umask; the temporary folder itself is for nobody else to read
            _write(ordered, made, limits)
            made.replace(folder)
    except OSError as error:
        raise UsageError(f"{folder}: can't be written ({error.strerror or error})") from None
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
    """Read a set's manifest. Texts are read, and held against their hashes, when they are asked for.

    Raises: InputError naming the line and what is wrong with it; UsageError where there is no set.
    """
    folder = Path(folder)
    path = folder / _MANIFEST
    if not path.is_file():
        raise UsageError(f"{folder}: no evaluation set (no {_MANIFEST}); make one with `benchbook judge init`")
    return read_outputs(path, lambda sha256: _text_path(folder, sha256))


def read_outputs(path: Path, text_path: Callable[[str], Path]) -> OutputSet:
    """As `read_output_set`, of a manifest whose texts lie elsewhere: in a record among its inputs."""
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
    # Before it becomes a path.
    if output.text_sha256 is not None and not _HASH.fullmatch(output.text_sha256):
        found = shorten(repr(output.text_sha256), 80)
        raise InputError(path, line=number, field="text_sha256", found=found, expected="64 hexadecimal digits")
    return output


Cell = tuple[str, str, str]  # question_id, prompt_variant, target_model
_AXES = ("question_id", "prompt_variant", "target_model")


@dataclass(frozen=True, slots=True)
class Grid:
    """`axes` are the values of the three, declared or found, sorted; `counts` the outputs of each cell that has any."""

    axes: Mapping[str, tuple[str, ...]]
    counts: Mapping[Cell, int]
    doubles: Mapping[Key, tuple[str, ...]]  # one sample's identifiers -> the places where it was found, two or more

    @property
    def n_cells(self) -> int:
        return prod(map(len, self.axes.values()))

    @property
    def n_gaps(self) -> int:
        return self.n_cells - len(self.counts)

    def gaps(self, most: int | None = None) -> Iterator[Cell]:
        """The cells without an output, in order. A pattern gone wrong makes a grid of millions: take a few."""
        cells: Iterator[Cell] = product(*self.axes.values()) if self.n_gaps else iter(())  # type: ignore[assignment]
        return islice((cell for cell in cells if cell not in self.counts), most)

    def uneven(self) -> list[tuple[Cell, int]]:
        """The cells that have fewer outputs than the fullest one, and how many they have."""
        full = max(self.counts.values(), default=0)
        return sorted((cell, count) for cell, count in self.counts.items() if count < full)


def grid_of(candidates: Iterable[Candidate], values: Mapping[str, Sequence[str]] | None = None) -> Grid:
    """`values` are those that were declared: one that nothing was found for is a row of gaps."""
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
