"""The archive of a judged experiment: what counts, what does not, and why (SPEC P5).

    valid_evaluations/     a README with the rules, a JSON file an evaluation
    invalid_evaluations/   the same, with the judge's raw reply beside each
    used_prompt_manifest.md, used_prompts/<sha256>.txt
    run_log.json           P7                     judge_probes.json   where judges were probed
    used_spec/             a protocol of the user's own: its spec.toml and prompts
    results_analysis.md    made from the files above, read back

The same evaluations give the same bytes. The folder belongs to the archive alone: it is replaced whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from benchbook.canonical import ready
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow, sorted_rows
from benchbook.evaluators.protocol.folders import load_protocol
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.spec import SPEC_ID, Protocol, protocol_v1
from benchbook.views.protocol.archive_files import (
    decode_file,
    is_evaluation,
    pretty,
    reply_bytes,
    row_bytes,
    row_from_bytes,
)
from benchbook.views.protocol.archive_model import (
    ANALYSIS,
    FOLDERS,
    INVALID,
    MANIFEST,
    PARTS,
    PROBES,
    PROMPTS,
    README,
    REPLY,
    RUN_LOG,
    SPEC,
    VALID,
    Archive,
    ArchiveNames,
    RunLog,
    UsedPrompt,
)
from benchbook.views.protocol.archive_texts import invalid_readme, prompt_manifest, results_analysis, valid_readme
from benchbook.writing import folder_made_whole, write_file

_PROMPT = re.compile(r"[0-9a-f]{64}\.txt")


def check_replaceable(target: Path) -> None:
    """`target` is not there yet, is empty, or holds an archive and nothing else.

    Raises: UsageError naming the first thing that is no part of an archive; RecordError where it can't be read.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target}: found something that is no folder; expected an archive, or nothing")
    try:
        present = {path.name for path in target.iterdir()} if target.exists() else set()
        stranger = next(_strangers(target), None) if present else None
    except OSError as error:
        raise RecordError(f"{error.filename or target}: can't be read ({error.strerror})") from None
    if present and RUN_LOG not in present and present <= PARTS:
        # Source 002 names the folders, so somebody may have filled them by hand.
        raise UsageError(
            f"{target}: holds {min(present)!r} and no {RUN_LOG}: not written by this; choose another folder"
        )
    if stranger is not None:
        where = stranger.relative_to(target).as_posix()
        raise UsageError(
            f"{target}: holds {where!r}, which is no part of an archive; move it away, or choose another folder"
        )


def _strangers(target: Path) -> Iterator[Path]:
    """The paths in an archive's folder that are no part of the archive: at its top, then in its folders."""
    for path in sorted(target.iterdir()):
        if path.name not in PARTS or path.is_symlink() or path.is_dir() != (path.name in FOLDERS):
            yield path
    spec = _files_of_spec(target / SPEC)
    for name in FOLDERS:
        for path in sorted((target / name).rglob("*")):
            if path.is_symlink() or not _belongs(path, path.relative_to(target).parts, spec):
                yield path


def _belongs(path: Path, inside: tuple[str, ...], spec: Collection[str]) -> bool:
    """Evaluations lie in `<method>/<judge>/`, each with its reply beside it where it is invalid.

    Folders there that hold nothing have nothing to lose.
    """
    if inside[0] in (VALID, INVALID):
        return path.is_dir() or inside[1:] == (README,) or (len(inside) == 4 and _is_of_an_evaluation(path))
    known = _PROMPT.fullmatch(path.name) is not None if inside[0] == PROMPTS else path.name in spec
    return known and not path.is_dir()


def _files_of_spec(folder: Path) -> Collection[str]:
    """The files of the archived protocol; none where they are none."""
    try:
        return load_protocol(folder).protocol.files.keys() if folder.is_dir() else ()
    except UsageError:
        return ()


def _is_of_an_evaluation(path: Path) -> bool:
    if path.name.endswith(REPLY):
        path = path.with_name(path.name.removesuffix(REPLY) + ".json")
    if path.suffix != ".json" or not path.is_file():
        return False
    data = path.read_bytes()
    return not data or is_evaluation(data)  # a power cut may leave one empty: it has nothing to lose


def write_archive(archive: Archive, folder: str | Path) -> Path:
    """Write the archive as `folder`, in place of one that is there, its rows in their order.

    It appears whole. A kill leaves the old one, the new one or, between two renames, none: it is made again from the
    record. Raises: UsageError where two rows answer the same, or `folder` holds something else; RecordError where it
    can't be written.
    """
    target = Path(folder)
    log, derivation = archive.run_log, archive.derivation
    log = msgspec.structs.replace(log, derivation=derivation) if derivation >= 3 else log
    archive = replace(archive, rows=sorted_rows(archive.rows), run_log=log)
    check_replaceable(target)
    with folder_made_whole(target, replaces=True) as made:
        _write_parts(made, archive)
        with (made / ANALYSIS).open("w", encoding="utf-8", newline="") as file:
            file.writelines(results_analysis(read_archive(made, derivation)))
    return target


def _write_parts(folder: Path, archive: Archive) -> None:
    for name, readme in ((VALID, valid_readme), (INVALID, invalid_readme)):
        (folder / name).mkdir()
        _write(folder / name / README, readme(archive.run_log, archive.protocol, archive.derivation).encode())
    names = ArchiveNames(archive.rows)
    made: set[Path] = set()
    for row in archive.rows:
        path = folder / names.path(row)
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        _write(path, row_bytes(row, archive.derivation, archive.protocol))
        if not row.valid:
            _write(folder / names.reply_path(row), reply_bytes(row))
    (folder / PROMPTS).mkdir()
    for prompt in archive.prompts:
        _write(folder / PROMPTS / f"{prompt.sha256}.txt", prompt.text.encode("utf-8", "surrogatepass"))
    _write(folder / MANIFEST, "".join(prompt_manifest(archive)).encode())
    prompt_names = {prompt.sha256: prompt.name for prompt in archive.prompts}
    _write(folder / RUN_LOG, pretty(_LogFile(log=archive.run_log, prompts=prompt_names)))
    if archive.protocol.files:
        (folder / SPEC).mkdir()
        for name, data in sorted(archive.protocol.files.items()):
            write_file(folder / SPEC / name, data)  # by these the next archive knows this one
    if archive.probes:
        _write(folder / PROBES, pretty(archive.probes))


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:  # x: no two parts are ever one file
        file.write(data)


class _LogFile(msgspec.Struct, frozen=True, kw_only=True):
    """run_log.json: the log, and the prompts' names by hash."""

    log: RunLog
    prompts: dict[str, str]


_log_decoder = msgspec.json.Decoder(ready(_LogFile))
_probes_decoder = msgspec.json.Decoder(ready(list[ProbeResult]))


def read_archive(folder: str | Path, older: int = 2) -> Archive:
    """Read an archive from its files. Writing it again gives the same bytes.

    `older` is the derivation of the record that it was made of, where its log names none: it is older than 3.

    Raises: RecordError naming the first file that is missing, of another form, changed, or in another place than its
    content names; UsageError where two files hold one evaluation.
    """
    place = Path(folder)
    try:
        log = decode_file(RUN_LOG, (place / RUN_LOG).read_bytes(), _log_decoder)
        derivation = older if isinstance(log.log.derivation, msgspec.UnsetType) else log.log.derivation
        protocol = _read_spec(place, log.log)
        rows = {path: row for name in (VALID, INVALID) for path, row in _read_rows(place, name, derivation, protocol)}
        prompts = [_read_prompt(place, sha256, name) for sha256, name in sorted(log.prompts.items())]
        probes = place / PROBES
        read_probes = decode_file(PROBES, probes.read_bytes(), _probes_decoder) if probes.exists() else []
    except OSError as error:
        raise RecordError(f"{error.filename or place}: can't be read ({error.strerror})") from None
    ordered = sorted_rows(rows.values())
    names = ArchiveNames(ordered)
    for path, row in rows.items():
        if path != names.path(row):
            raise RecordError(f"{place / path}: holds the evaluation that belongs at {names.path(row)}")
    return Archive(ordered, prompts, log.log, protocol, read_probes, derivation)


def _read_rows(place: Path, name: str, derivation: int, protocol: Protocol) -> Iterator[tuple[str, EvaluationRow]]:
    readme = place / name / README
    paths = sorted(path for path in (place / name).rglob("*") if path != readme and not path.is_dir())
    replies = {str(path).removesuffix(REPLY): path for path in paths if path.name.endswith(REPLY)}
    for path in paths:
        if path.name.endswith(REPLY):
            continue
        reply = replies.pop(str(path).removesuffix(".json"), None)
        row = row_from_bytes(str(path), path.read_bytes(), reply.read_bytes() if reply else None, derivation, protocol)
        yield path.relative_to(place).as_posix(), row
    for path in replies.values():
        raise RecordError(f"{path}: a raw reply without its evaluation")


def _read_spec(place: Path, log: RunLog) -> Protocol:
    """The protocol of the archived evaluations: one that is shipped, or that of the files beside them.

    Raises: RecordError where these are not the files that the log names; UsageError, SpecError for what is no protocol.
    """
    if log.spec == SPEC_ID:
        return protocol_v1()
    found = load_protocol(place / SPEC).protocol
    if (found.id, found.sha256) != (log.spec, log.spec_sha256):
        raise RecordError(f"{place / SPEC}: has {found.id}, {found.sha256}; {RUN_LOG} names another")
    return found


def _read_prompt(place: Path, sha256: str, name: str) -> UsedPrompt:
    path = place / PROMPTS / f"{sha256}.txt"
    prompt = UsedPrompt(name, path.read_bytes().decode("utf-8", "surrogatepass"))
    if prompt.sha256 != sha256:
        raise RecordError(f"{path}: found a text with the hash {prompt.sha256}; expected the one in its name")
    return prompt
