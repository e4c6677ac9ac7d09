"""Changes of a record's files and lines as people, tools and thieves make them: each is found, or does no harm.

The first changes one file, drawn by chance, as it lies there. The second has those of `mutating`, among them journals
whose whole chain was written anew.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path

import pytest

from attack.tally import Tally
from attack.targets import MAKE, OLD_BOOK, Target, derive_once, made, verified
from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from mutating import BY_HASH_ALONE, LEFT_BEHIND, MUTATIONS, POINTER, Mutation, NotHereError

pytestmark = pytest.mark.attack

ATTACKED = "attacked"
CHANGES = 170  # of each target

Change = Callable[[Path, random.Random], None]  # of one file, in its place


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────


def lines(change: Callable[[list[bytes], random.Random], object]) -> Change:
    def done(path: Path, rng: random.Random) -> None:
        found = path.read_bytes().splitlines(keepends=True)
        if len(found) < 2:
            raise NotHereError
        change(found, rng)
        path.write_bytes(b"".join(found))

    return done


def _swap(found: list[bytes], rng: random.Random) -> None:
    one, other = rng.sample(range(len(found)), 2)
    found[one], found[other] = found[other], found[one]


def _move(found: list[bytes], rng: random.Random) -> None:
    found.insert(rng.randrange(len(found)), found.pop(rng.randrange(len(found))))


def _double(found: list[bytes], rng: random.Random) -> None:
    found.insert(rng.randrange(len(found)), rng.choice(found))


def _blank(found: list[bytes], rng: random.Random) -> None:
    found.insert(rng.randrange(len(found) + 1), b"\n")


def _keys_turned_round(path: Path, rng: random.Random) -> None:
    """The same JSON, its keys in another order: of a whole file, or of one of its lines."""
    data = path.read_bytes()
    whole = path.suffix == ".json"
    found = [data] if whole else data.splitlines(keepends=True)
    place = rng.randrange(len(found)) if found else 0
    try:
        value = json.loads(found[place])
    except (ValueError, IndexError):
        raise NotHereError from None
    if not isinstance(value, dict):
        raise NotHereError
    turned = dict(reversed(value.items()))
    text = json.dumps(turned, ensure_ascii=False, indent=2 if whole else None, separators=None if whole else (",", ":"))
    found[place] = text.encode("utf-8", "surrogatepass") + b"\n"
    path.write_bytes(b"".join(found))


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────


def data(change: Callable[[bytes, random.Random], bytes]) -> Change:
    return lambda path, rng: path.write_bytes(change(path.read_bytes(), rng)) and None


def _recoded(encoding: str) -> Callable[[bytes, random.Random], bytes]:
    def done(found: bytes, rng: random.Random) -> bytes:
        try:
            return found.decode("utf-8").encode(encoding)
        except UnicodeError:
            raise NotHereError from None

    return done


def _without_a_piece(found: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(found))
    return found[:start] + found[start + rng.randrange(1, 64) :]


def _a_piece_twice(found: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(found))
    end = start + rng.randrange(1, 64)
    return found[:end] + found[start:end] + found[end:]


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────


def _as_folder(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _loop(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _another(path: Path, rng: random.Random) -> Path:
    """Another file of the same record."""
    top = next(folder for folder in path.parents if folder.parent.name == ATTACKED)
    others = sorted(one for one in top.rglob("*") if one.is_file() and one.read_bytes() != path.read_bytes())
    return rng.choice(others)


def _linked_to_another(path: Path, rng: random.Random) -> None:
    other = _another(path, rng)
    path.unlink()
    path.symlink_to(other)


def _swapped(path: Path, rng: random.Random) -> None:
    other = _another(path, rng)
    ours, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(ours)


def _copied_over(path: Path, rng: random.Random) -> None:
    path.write_bytes(_another(path, rng).read_bytes())


def _renamed(path: Path, rng: random.Random) -> None:
    path.rename(path.with_name(rng.choice([path.name + ".bak", path.name.upper() + "~", "0" * 64, "000009.jsonl"])))


def _moved_up(path: Path, rng: random.Random) -> None:
    path.rename(path.parents[1] / path.name)


def _copy_beside(path: Path, rng: random.Random) -> None:
    shutil.copy(
        path, path.with_name(rng.choice([f"copy of {path.name}", f"{path.name}.orig", f"{path.stem} (1){path.suffix}"]))
    )


CHANGE: Mapping[str, Change] = {
    "two lines swapped": lines(_swap),
    "a line moved": lines(_move),
    "a line doubled": lines(_double),
    "a line deleted": lines(lambda found, rng: found.pop(rng.randrange(len(found)))),
    "an empty line": lines(_blank),
    "the first half": lines(lambda found, rng: found.__delitem__(slice(len(found) // 2, None))),
    "keys in another order": _keys_turned_round,
    "cut": data(lambda found, rng: found[: rng.randrange(len(found))]),
    "the head cut": data(lambda found, rng: found[rng.randrange(1, len(found) + 1) :]),
    "a piece taken out": data(_without_a_piece),
    "a piece twice": data(_a_piece_twice),
    "bytes at the end": data(lambda found, rng: found + rng.randbytes(rng.randrange(1, 9))),
    "zeros at the end": data(lambda found, rng: found + bytes(4096)),
    "zeros all over": data(lambda found, rng: bytes(len(found))),
    "line ends of DOS": data(lambda found, rng: found.replace(b"\n", b"\r\n")),
    "a byte-order mark": data(lambda found, rng: b"\xef\xbb\xbf" + found),
    "UTF-16": data(_recoded("utf-16")),
    "UTF-32": data(_recoded("utf-32")),
    "empty": data(lambda found, rng: b""),
    "a Git LFS pointer": data(lambda found, rng: POINTER),
    "gone": lambda path, rng: path.unlink(),
    "a folder": _as_folder,
    "a dangling link": _dangling,
    "a link to itself": _loop,
    "a link to another file": _linked_to_another,
    "swapped with another": _swapped,
    "another's bytes": _copied_over,
    "renamed": _renamed,
    "moved up": _moved_up,
    "a copy beside": _copy_beside,
}


@pytest.mark.parametrize("name", MAKE)
def test_a_change_of_files_and_lines_is_found(
    name: str, tmp_path: Path, rng: random.Random, share: Callable[[int], int], tally: Callable[[str, str], Tally]
) -> None:
    whole = made(name, tmp_path / "made")
    before = contents(whole.folder)
    counted = tally("files and lines are changed", name)
    with attacked(whole, tmp_path) as target:
        assert target.check(target.folder) == []
    changes = cycle(rng.sample(sorted(CHANGE), len(CHANGE)))
    with pytest.MonkeyPatch.context() as patch:
        derive_once(patch)
        while counted.tried < share(CHANGES):
            change = next(changes)
            with attacked(whole, tmp_path) as target:
                path = rng.choice(target.files())
                where = path.relative_to(target.folder)
                try:
                    CHANGE[change](path, rng)
                except NotHereError:
                    continue
                if contents(target.folder) != before:
                    fault = missed(target, f"{where}: {change}")
                    if (
                        fault is not None
                        and name == OLD_BOOK
                        and is_shorter(target.folder / where, whole.folder / where)
                    ):
                        counted.excepted[NO_ANCHOR] += 1
                    else:
                        counted.count(fault)


def is_shorter(now: Path, before: Path) -> bool:
    """True for a journal without its last lines, or without a part of the last."""
    return now.is_file() and now.parent.name == "journal" and before.read_bytes().startswith(now.read_bytes())


class attacked:  # noqa: N801 - a context manager
    """A copy of a target under its own name, gone at the end."""

    def __init__(self, whole: Target, folder: Path) -> None:
        self._whole = whole
        self._below = folder / ATTACKED

    def __enter__(self) -> Target:
        if self._whole.check.__name__ == "archive_checked":  # the record that it is of lies beside it
            shutil.copytree(self._whole.folder.parent / "judged", self._below / "judged")
        return self._whole.copied(self._below / self._whole.folder.name)

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._below)


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def missed(target: Target, change: str) -> str | None:
    """The words for a change that nothing was found of, or that broke who looked."""
    try:
        found = target.check(target.folder)
    except Exception as error:  # whatever it is, it is told
        return f"{change}: {type(error).__name__}: {error}"
    if not found:
        return f"{change}: nothing was found"
    return f"{change}: {found[0]}" if any("Traceback" in one for one in found) else None


RECORDS = [name for name, (_, check) in MAKE.items() if check is verified]
NO_ANCHOR = (
    "a book from before books had an anchor does not tell that its last lines were cut off; the next label gives it one"
)
# What holds where nothing has ended: a record that may be resumed takes further facts.
OF_THE_UNENDED = "resumed-after-the-end"
ANEW = "who writes the whole chain anew makes another record, which holds: its hash is another, as --expect shows"


@pytest.mark.parametrize("name", RECORDS)
def test_another_record_in_its_place_is_found(name: str, tmp_path: Path, tally: Callable[[str, str], Tally]) -> None:
    """Everything in `mutating` that the record has something for."""
    whole = made(name, tmp_path / "made")
    before = contents(whole.folder)
    counted = tally("the record is written anew", name)
    with attacked(whole, tmp_path) as target:
        assert target.check(target.folder) == []
    for mutation in MUTATIONS:
        with attacked(whole, tmp_path) as target:
            is_another = mutated(mutation, target.folder) and contents(target.folder) != before
            if is_another and not ("interrupted" in name and mutation[0] == OF_THE_UNENDED):
                counted.count(missed(target, mutation[0]))
    published = verify(Record(whole.folder)).sha256
    for mutation in BY_HASH_ALONE:
        with attacked(whole, tmp_path) as target:
            if mutated(mutation, target.folder) and contents(target.folder) != before:
                if not verify(Record(target.folder)).holds:
                    counted.count(None)
                elif verify(Record(target.folder), expect=published).holds:
                    counted.count(f"{mutation[0]}: nothing was found by the published hash either")
                else:
                    counted.excepted[ANEW] += 1


def mutated(mutation: Mutation, folder: Path) -> bool:
    """True where there was something to change."""
    try:
        mutation[1](folder)
    except (NotHereError, BenchbookError):  # it may not know a spec of a user's own
        return False
    return True


@pytest.mark.parametrize("name", MAKE)
def test_what_a_file_manager_leaves_is_no_damage(name: str, tmp_path: Path, tally: Callable[[str, str], Tally]) -> None:
    target = made(name, tmp_path)
    counted = tally("a file manager's files are added", name)
    below = sorted({path.parent for path in target.files()})
    for folder in below if name in ("archive", "experiment") else [target.folder]:
        for one in LEFT_BEHIND:
            path = folder / one
            if path.parent in below:
                path.write_bytes(b"\0\0\0\1Bud1")
                found = target.check(target.folder)
                path.unlink()
                counted.count(f"{path.relative_to(target.folder)}: {found[0]}" if found else None)
