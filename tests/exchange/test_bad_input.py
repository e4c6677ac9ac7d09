"""Bad input of every form: an error that says where it stops making sense, and nothing half imported.

What is tried here in part, `script/test --attack` tries in full (`attack/test_logs.py`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.first_look import OwnItems
from benchbook.exchange.importing import Wanted, import_logs
from benchbook.exchange.tools import TOOLS, Tool, tool_named
from exchange.bad_logs import DEEP, FORMS, Form, changed_values
from running import benchbook_here
from zipped import Entry, archive, bomb


def tried(path: Path, folder: Path, tool: Tool | None = None, *, imports: bool = True) -> list[str]:
    """The errors of an audit and an import of what may be no log. Whatever is no error of use is raised.

    Of an import that is refused, nothing is left.
    """
    said = []
    try:
        list(audits_of(path, tool))
    except UsageError as error:
        said.append(str(error))
    if imports:
        runs = folder / "runs"
        before = names_in(runs)
        try:
            list(import_logs(path, Wanted(runs=str(runs)), tool))
        except UsageError as error:
            said.append(str(error))
            assert names_in(runs) == before
    return said


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


@pytest.fixture(autouse=True)
def _no_temporary_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert names_in(folder) == []


@pytest.mark.parametrize("name", FORMS)
def test_a_log_as_it_should_be_is_read(name: str, tmp_path: Path) -> None:
    assert tried(FORMS[name].laid(tmp_path / "log"), tmp_path) == []


@pytest.mark.parametrize("name", FORMS)
def test_a_log_that_is_cut_off(name: str, tmp_path: Path) -> None:
    form, tool = FORMS[name], tool_named(FORMS[name].tool)
    for file, data in form.files().items():
        for number, n in enumerate(range(0, len(data), len(data) // 10)):
            tried(form.laid(tmp_path / "log", {file: data[:n]}), tmp_path, tool, imports=number == 9)


@pytest.mark.parametrize("name", FORMS)
def test_values_that_nobody_expects(name: str, tmp_path: Path) -> None:
    form, tool = FORMS[name], tool_named(FORMS[name].tool)
    for number, (_, files) in enumerate(islice(changed_values(form), 0, None, 149)):
        tried(form.laid(tmp_path / "log", files), tmp_path, tool, imports=number % 10 == 0)


# Changes of a whole file, and if such a log may be read all the same, in words.
CHANGES: dict[str, tuple[Callable[[bytes], bytes], bool]] = {
    "empty": (lambda _: b"", False),
    "white space": (lambda _: b" \n\r\n\t", False),
    "a number": (lambda _: b"7", False),
    "zeros": (lambda data: bytes(len(data)), False),
    "UTF-16": (lambda data: data.decode("latin-1").encode("utf-16"), False),
    "nothing but levels": (lambda _: DEEP, False),
    "levels that never end": (lambda _: b'{"a":' * 10_000, False),
    "a NUL in front": (lambda data: b"\0" + data, True),  # as what unpacks itself begins with a program
    "not UTF-8": (lambda data: data.replace(b"Paris", b"P\xffris").replace(b"id1", b"i\xff1"), True),
    "a byte-order mark": (lambda data: b"\xef\xbb\xbf" + data, True),
    "line ends of DOS": (lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), True),
    "twice": (lambda data: data + data, True),
    "more at the end": (lambda data: data + b"\n]}", True),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_is_something_else(name: str, change: str, tmp_path: Path) -> None:
    """Where the tool is named, and where it is found out."""
    form = FORMS[name]
    changed, may_be_read = CHANGES[change]
    files = {file: changed(data) for file, data in form.files().items()}
    path = form.laid(tmp_path / "log", files)
    for tool in (tool_named(form.tool), None):
        said = tried(path, tmp_path, tool, imports=tool is not None and may_be_read)
        assert all(str(tmp_path / "log") in one for one in said)
        assert may_be_read or said, f"{tool}: it was read"


@pytest.mark.parametrize("name", FORMS)
def test_another_tools_log(name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    path = form.laid(tmp_path / "log")
    for tool in TOOLS:
        if tool.name != form.tool:
            assert tried(path, tmp_path, tool, imports=False), tool.name


# ── archives ─────────────────────────────────────────────────────────────────────────────────────────────────

_HEADER = Entry("header.json", b'{"version": 2, "status": "success", "eval": {"task": "t", "model": "m/m"}}')
_SAMPLE = Entry("samples/1_epoch_1.json", b'{"id": 1, "epoch": 1, "input": "?", "target": "", "scores": {}}')


def _quine() -> bytes:
    """An archive in an archive in an archive …: what is in a member is never opened."""
    data = archive([_HEADER, _SAMPLE])
    for _ in range(20):
        data = archive([Entry("samples/1_epoch_1.json", data), _HEADER])
    return data


ARCHIVES: dict[str, tuple[Callable[[], bytes], str | None]] = {
    "a bomb": (lambda: archive([_HEADER, bomb("samples/1_epoch_1.json", 80 << 20)]), "looks like a bomb"),
    "a bomb that says it is small": (
        lambda: archive([_HEADER, bomb("samples/1_epoch_1.json", 8 << 20, said=10)]),
        "found more bytes; expected 10",
    ),
    "a member that says it is large": (
        lambda: archive([_HEADER, Entry("samples/1_epoch_1.json", b"{}", size=1 << 40, sizes="of_64")]),
        "1,099,511,627,776 bytes",
    ),
    "a quine": (_quine, "no whole JSON"),
    "many members at one place": (
        lambda: archive([_HEADER, *(Entry(f"samples/{n}_epoch_1.json", b"x" * 900, 0, at=0) for n in range(50))]),
        None,
    ),
    "names that lead elsewhere": (
        lambda: archive(
            [_HEADER, *(Entry(one, b"{}") for one in ("../../x", "/etc/x", "C:\\x", "a\\..\\x", "a\0b")), _SAMPLE]
        ),
        None,
    ),
    "an encrypted member": (lambda: archive([_HEADER, Entry("samples/1_epoch_1.json", flags=1)]), "encrypted"),
    "an unknown compression": (
        lambda: archive([_HEADER, Entry("samples/1_epoch_1.json", method=99)]), "found compression 99; expected"
    ),
    "a wrong checksum": (lambda: archive([_HEADER, Entry("samples/1_epoch_1.json", checksum=5)]), "checksum"),
    "a directory that is cut": (lambda: archive([_HEADER, _SAMPLE], length=1 << 20), "does not fit into the file"),
    "a comment like a directory's end": (
        lambda: archive([_HEADER, _SAMPLE], comment=b"PK\5\6" + bytes(18) + b"x"), None
    ),
    "a directory of 64 bits on another disk": (lambda: archive([_HEADER], end_of_64=True, disk=7), "does not fit"),
    "no members": (lambda: archive([]), "an archive without header.json"),
    "a header that is another's": (lambda: archive([Entry("header.json", b'{"results": []}')]), "header.json"),
    "empty members without end": (
        lambda: archive([_HEADER, *(Entry(f"samples/{n}", b"", 0) for n in range(20_000))]), None
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", ARCHIVES)
def test_archives(what: str, tmp_path: Path) -> None:
    make, words = ARCHIVES[what]
    path = tmp_path / "log.eval"
    path.write_bytes(make())
    said = tried(path, tmp_path)
    assert all(str(path) in one for one in said)
    if words is not None:
        assert len(said) == 2
        assert all(words in one for one in said), said
    assert sorted(one.name for one in tmp_path.iterdir() if one.name != "runs") == ["log.eval", "temporary"]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


NO_FILES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a pipe": _pipe,
    "a link to itself": _loop,
    "a device without end": _endless,
    "an empty folder": Path.mkdir,
}


@pytest.mark.parametrize("what", NO_FILES)
def test_what_is_no_file(what: str, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    NO_FILES[what](path)
    for tool in (None, *TOOLS):
        said = tried(path, tmp_path, tool)
        assert len(said) == 2
        assert all(str(path) in one for one in said)


@pytest.mark.parametrize("what", NO_FILES)
@pytest.mark.parametrize("name", ["helm", "lm_eval", "every_eval_ever", "openai_batch"])
def test_a_log_of_several_files_one_of_which_is_none(name: str, what: str, tmp_path: Path) -> None:
    for number, file in enumerate(FORMS[name].files()):
        path = FORMS[name].laid(tmp_path / f"{number}")
        (tmp_path / f"{number}" / file).unlink()
        NO_FILES[what](tmp_path / f"{number}" / file)
        for one in (path, tmp_path / f"{number}"):
            tried(one, tmp_path, tool_named(FORMS[name].tool), imports=number == 0)


def test_a_folder_that_leads_back_to_itself(tmp_path: Path) -> None:
    inner = tmp_path / "logs" / "a" / "b"
    FORMS["eval"].laid(inner)
    (inner / "up").symlink_to(tmp_path / "logs")
    (inner / "self").symlink_to("self")
    _pipe(inner / "x.jsonl")
    assert len(list(audits_of(tmp_path / "logs"))) == 1


def test_folders_without_end(tmp_path: Path) -> None:
    tmp_path.joinpath("logs", *["d"] * 200).mkdir(parents=True)
    said = tried(tmp_path / "logs", tmp_path)
    assert len(said) == 2
    assert all(one.endswith("found folders nested too deeply; expected at most 100 levels") for one in said)


_SINCE: dict[str, Callable[[Path], object]] = {
    "is gone": Path.unlink,
    "is empty": lambda path: path.write_bytes(b""),
    "is half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "is twice as long": lambda path: path.write_bytes(path.read_bytes() * 2),
    "is another": lambda path: path.write_bytes(b'{"a": 1}\n'),
}


@pytest.mark.parametrize("since", _SINCE)
@pytest.mark.parametrize("name", FORMS)
def test_a_log_that_changes_while_it_is_imported(
    name: str, since: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first time that it is read and the second."""
    form = FORMS[name]
    path = form.laid(tmp_path / "log")
    write_items = OwnItems.write

    def changing(items: OwnItems, target: object) -> None:
        write_items(items, target)  # type: ignore[arg-type]
        for file in form.files():
            _SINCE[since](tmp_path / "log" / file)

    monkeypatch.setattr(OwnItems, "write", changing)
    runs = tmp_path / "runs"
    with pytest.raises(UsageError):
        list(import_logs(path, Wanted(runs=str(runs)), tool_named(form.tool)))
    assert names_in(runs) == []


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────

COMMANDS: dict[str, Sequence[str]] = {"audit": ["audit"], "import": ["import", "--runs", "RUNS", "--reports", "none"]}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", FORMS)
def test_commands_end_with_2_and_say_which_file(name: str, command: str, tmp_path: Path) -> None:
    form: Form = FORMS[name]
    path = form.laid(tmp_path / "log", dict.fromkeys(form.files(), DEEP))
    words = [str(tmp_path / "runs") if one == "RUNS" else one for one in COMMANDS[command]]
    for more in ([], ["--tool", form.tool]):
        found = benchbook_here(*words, str(path), *more)
        assert found.returncode == 2
        assert str(tmp_path / "log").encode() in found.stderr
        assert b"Traceback" not in found.stderr
    assert not (tmp_path / "runs").exists()


def test_an_error_names_the_place(tmp_path: Path) -> None:
    path = FORMS["openai_batch"].laid(tmp_path / "log")
    lines = path.read_bytes().splitlines()
    path.write_bytes(lines[0] + b"\n{" + lines[1] + b"\n")
    with pytest.raises(InputError, match=r"results.jsonl:2: .*no whole JSON"):
        list(audits_of(path))
