"""A journal in parts: however it was cut, whatever was killed when, what is pulled is the journal, byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import MemoryStore

from benchbook.errors import StoreError, TakenError
from benchbook.record.facts import Reply
from benchbook.record.journal import JournalWriter
from benchbook.record.packing import packed
from benchbook.record.reading import read_journal, read_segment, segment_files
from benchbook.stores import pulling
from benchbook.stores.address import StoreAddress
from benchbook.stores.names import PutSegment, listed, part_name, sealed_name
from benchbook.stores.objects import Objects
from benchbook.stores.parts import JournalPusher, cut, lines_of
from benchbook.stores.pulling import _pull_journal
from support import examples

NAME = "journal"


class KilledError(BaseException):
    """The process ends here."""


class Killable(Objects):
    """Objects whose process is killed at a put: before it, or after it."""

    kill_at: int = -1
    kills_after = False
    n_asked = 0

    def put_new(self, name: str, data: bytes) -> bool:
        self.n_asked += 1
        is_last = self.n_asked == self.kill_at
        if is_last and not self.kills_after:
            raise KilledError
        found = super().put_new(name, data)
        if is_last:
            raise KilledError
        return found


def objects(kind: type[Objects] = Objects) -> Objects:
    return kind(StoreAddress("s3", "bucket", ("run",)), MemoryStore())


def segments(found: Objects) -> dict[int, PutSegment]:
    return listed(found.list()).journals.get(NAME, {})


def push(found: Objects, journal: Path) -> int:
    """Push it, as a process that has just begun; return how many objects were put."""
    pusher = JournalPusher(found, NAME, journal, segments(found))
    pusher.push()
    return pusher.n_put


def pull(found: Objects, journal: Path) -> int:
    return _pull_journal(found, NAME, segments(found), journal).n_grown


def files(journal: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(journal.iterdir())}


@contextmanager
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as made:
        yield Path(made)


def write(journal: Path, texts: list[str], segment_bytes: int = 1 << 22) -> None:
    journal.mkdir(parents=True, exist_ok=True)
    with JournalWriter(journal, segment_bytes=segment_bytes) as writer:
        for text in texts:
            writer.append(Reply(sample=writer.seq, role="candidate", text=text))


# ── cutting ──────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.binary(max_size=30).map(lambda one: one.replace(b"\n", b"")), max_size=20), st.integers(1, 60))
def test_parts_put_together_are_the_whole(lines: list[bytes], most: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    parts = list(cut(data + b"torn", 0, most))
    assert b"".join(part for _, part in parts) == data
    assert [start for start, _ in parts] == [sum(len(part) for _, part in parts[:n]) for n in range(len(parts))]
    assert all(part.endswith(b"\n") and (len(part) <= most or part.count(b"\n") == 1) for _, part in parts)
    for start, part in parts:  # and from any of them on
        assert b"".join(one for _, one in cut(data, start, most)) == data[start:]
        assert lines_of(packed(part), "part") == part


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (b"no frame", "is no part of a journal"),
        (packed(b"a\n")[:-1], "is no part of a journal"),
        (packed(b"a\nb"), "its last line is cut"),
        (packed(b""), "says that it unpacks to 0 bytes"),
        (bytes.fromhex("28b52ffde0000000000000ff7f010000"), "says that it unpacks to|is no part"),
    ],
)
def test_what_is_no_part_is_said_so(found: bytes, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        lines_of(found, "part")


# ── pushed and pulled ────────────────────────────────────────────────────────────────────────────────────────

ROUNDS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["", "short", "long " * 40]), max_size=6),  # what is recorded
        st.integers(0, 12),  # the put at which the pushing process is killed; 0 for none
        st.booleans(),  # after it
        st.booleans(),  # whether another machine pulls then
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@examples(15)
@given(ROUNDS, st.sampled_from([150, 600, 1 << 22]))
def test_whatever_is_killed_when_it_is_the_journal(
    rounds: list[tuple[list[str], int, bool, bool]], segment_bytes: int
) -> None:
    found = objects(Killable)
    assert isinstance(found, Killable)
    with folder() as here:
        journal, other, fresh = here / "journal", here / "other", here / "new" / "journal"
        for texts, found.kill_at, found.kills_after, is_pulled in rounds:
            write(journal, texts, segment_bytes)
            found.n_asked = 0
            with suppress(KilledError):
                push(found, journal)
            if is_pulled and segments(found):
                pull(found, other)
                whole = b"".join(lines(journal))
                assert whole.startswith(b"".join(lines(other)))
        found.kill_at = -1
        push(found, journal)
        assert push(found, journal) == 0  # nothing is put twice
        if not segments(found):
            return
        pull(found, other)
        pull(found, fresh)
        assert files(other) == files(fresh) == files(journal)
        assert pull(found, other) == 0


def lines(journal: Path) -> Iterator[bytes]:
    return map(read_segment, segment_files(journal)) if journal.is_dir() else iter(())


def test_one_that_pushes_as_it_grows_puts_each_line_once(tmp_path: Path) -> None:
    found, journal = objects(), tmp_path / "journal"
    write(journal, ["one"])
    pusher = JournalPusher(found, NAME, journal, {})
    for _ in range(3):
        pusher.push()
    write(journal, ["two", "three"])
    pusher.push()
    assert pusher.n_put == len(found.list()) == 2
    pull(found, tmp_path / "other")
    assert files(tmp_path / "other") == files(journal)


def test_a_torn_line_stays_here(tmp_path: Path) -> None:
    found, journal = objects(), tmp_path / "journal"
    write(journal, ["one"])
    whole = files(journal)
    with (journal / "000001.jsonl").open("ab") as file:
        file.write(b'{"torn')
    push(found, journal)
    pull(found, tmp_path / "other")
    assert files(tmp_path / "other") == whole
    with (tmp_path / "other" / "000001.jsonl").open("ab") as file:
        file.write(b'{"torn')
    write(journal, ["two"])
    push(found, journal)
    pull(found, tmp_path / "other")
    assert files(tmp_path / "other") == files(journal)


def test_a_segment_that_was_sealed_before_is_one_object(tmp_path: Path) -> None:
    found, journal = objects(), tmp_path / "journal"
    write(journal, ["long " * 40] * 3, segment_bytes=200)
    push(found, journal)
    assert sorted(found.list()) == [f"{NAME}/{part_name(number, 0)}" for number in (1, 2, 3)]
    sealed = (journal / sealed_name(1)).read_bytes()
    assert found.get(f"{NAME}/{part_name(1, 0)}", 1 << 20) == sealed


def test_a_pull_that_was_killed_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it ends, the journal is one that its writer could have left, and the next pull goes on with it."""
    found, journal, other = objects(), tmp_path / "journal", tmp_path / "other"
    write(journal, ["long " * 40] * 4, segment_bytes=200)
    push(found, journal)
    whole, all_lines = files(journal), b"".join(lines(journal))
    n_left, n_kills = 0, 0

    def step(done: Callable[..., None]) -> Callable[..., None]:
        def killed(*words: object) -> None:
            nonlocal n_left
            n_left -= 1
            if n_left < 0:
                raise KilledError
            done(*words)

        return killed

    for name in ("_append", "write_file"):
        monkeypatch.setattr(pulling, name, step(getattr(pulling, name)))
    for n_steps in range(20):
        shutil.rmtree(other, ignore_errors=True)
        write(other, [])
        n_left = n_steps
        try:
            pull(found, other)
            break
        except KilledError:
            n_kills += 1
        there = b"".join(line.raw + b"\n" for line in read_journal(other))
        assert all_lines.startswith(there)
        if n_kills % 2:  # its writer mends it, or the next pull does
            JournalWriter(other).close()
        n_left = 100
        pull(found, other)
        assert files(other) == whole
    assert n_kills == 7  # four segments, of which three are sealed


# ── another writer ───────────────────────────────────────────────────────────────────────────────────────────


def test_two_who_begin_at_once_see_each_other(tmp_path: Path) -> None:
    found = objects()
    for name in ("one", "two"):
        write(tmp_path / name, [name])
    push(found, tmp_path / "one")
    for segments_seen in ({}, segments(found)):  # whether the listing came before the other one's part, or after it
        with pytest.raises(TakenError, match="lines of another writer"):
            JournalPusher(found, NAME, tmp_path / "two", segments_seen).push()
    with pytest.raises(TakenError, match="has other lines than this folder"):
        pull(found, tmp_path / "two")


@pytest.mark.parametrize("segment_bytes", [150, 1 << 22])
def test_one_who_was_thought_dead_sees_who_went_on(tmp_path: Path, segment_bytes: int) -> None:
    found, one, two = objects(), tmp_path / "one", tmp_path / "two"
    write(one, ["begun"])
    slow = JournalPusher(found, NAME, one, {})
    slow.push()
    pull(found, two)
    write(two, ["here"] * 3, segment_bytes)
    write(one, ["there"] * 3, segment_bytes)
    push(found, two)
    with pytest.raises(TakenError, match="lines of another writer"):
        slow.push()
    with pytest.raises(TakenError):
        push(found, one)
    shutil.rmtree(one)
    pull(found, one)
    assert files(one) == files(two)


def test_whoever_has_less_pulls_first(tmp_path: Path) -> None:
    found, one, two = objects(), tmp_path / "one", tmp_path / "two"
    write(one, ["begun"])
    shutil.copytree(one, two)
    write(one, ["more"])
    push(found, one)
    with pytest.raises(TakenError, match=r"has more lines than this folder.*Pull first"):
        push(found, two)
    assert pull(found, two) == 1
    assert push(found, two) == 0


# ── a store that was changed ─────────────────────────────────────────────────────────────────────────────────


def _no_part(found: Objects) -> None:
    found.put(f"{NAME}/{part_name(1, 0)}", b"no frame")


def _changed(found: Objects) -> None:
    name = f"{NAME}/{part_name(1, 0)}"
    found.put(name, packed(lines_of(found.get(name, 1 << 20), name).replace(b"begun", b"began")))


def _gap(found: Objects) -> None:
    name = max(found.list())
    found.put(f"{NAME}/{part_name(1, 9_999)}", found.get(name, 1 << 20))


def _overlap(found: Objects) -> None:
    name = max(found.list())
    found.put(f"{NAME}/{part_name(1, 7)}", found.get(name, 1 << 20))


def _no_fact(found: Objects) -> None:
    found.put(f"{NAME}/{part_name(1, 0)}", packed(b"[]\n" * 3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_no_part, "is no part of a journal"),
        (_changed, "new line 2 does not hold the hash of the one before"),
        (_gap, "begins at byte 9,999, and the part before it ends at"),
        (_overlap, "begins at byte 7, and the part before it ends at"),
        (_no_fact, "begins at byte|is no fact"),
    ],
)
def test_what_was_changed_in_the_store_is_not_pulled(tmp_path: Path, change: object, words: str) -> None:
    assert callable(change)
    found, journal = objects(), tmp_path / "journal"
    write(journal, ["begun"])
    push(found, journal)
    write(journal, ["more"])
    push(found, journal)
    change(found)
    with pytest.raises(StoreError, match=words):
        pull(found, tmp_path / "new" / "journal")
    assert not (tmp_path / "new" / "journal").exists()
