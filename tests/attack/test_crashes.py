"""Every kind of trouble at every file operation of every writer, twice in a row, and with journals of any lines."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from attack.tally import Tally
from benchbook.record.facts import Reply
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from crashing import Crash, Say, crashes, room_in_memory, why_not_here
from held import faults_of
from writers import WRITERS

pytestmark = [pytest.mark.attack, pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())]

Tallies = Callable[[str, str], Tally]


@pytest.fixture
def room() -> Iterator[Path]:
    with room_in_memory() as folder:
        yield folder


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_at_each_operation(
    name: str, room: Path, rng: random.Random, share: Callable[[int], int], tally: Tallies
) -> None:
    counted = tally("something goes wrong at a file operation", name)

    def pick(every: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return rng.sample(every, share(len(every)))

    for faults in faults_of(WRITERS[name], room, pick):
        counted.count("; ".join(faults) or None)


@pytest.mark.parametrize("name", [name for name, one in WRITERS.items() if not (one.is_slow or one.again)])
def test_trouble_in_the_second_go(
    name: str, room: Path, rng: random.Random, share: Callable[[int], int], tally: Tallies
) -> None:
    """What a crash left is where the next one begins."""
    writer, counted = WRITERS[name], tally("something goes wrong twice in a row", name)

    def some(every: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return rng.sample(every, min(len(every), share(12)))

    for number, crash in enumerate(crashes(writer.act, room, prepare=writer.prepare, pick=some)):
        (second := room / f"second-{number}").mkdir()
        for other in crashes(writer.act, second, prepare=partial(_as_left, crash.folder), pick=some):
            kept = writer.kept(other.folder) if crash.acknowledged or other.acknowledged else ()
            lost = [word for word in (*crash.acknowledged, *other.acknowledged) if word not in kept]
            writer.act(other.folder, str)
            is_whole = writer.seen(other.folder) == writer.seen(crash.whole)
            counted.count(None if is_whole and not lost else f"{crash}, then {other}: lost {lost}, whole: {is_whole}")


def _as_left(crashed: Path, folder: Path) -> None:
    shutil.copytree(crashed, folder, dirs_exist_ok=True)


# ── any journal ──────────────────────────────────────────────────────────────────────────────────────────


def _append(sizes: list[int], segment_bytes: int, synced: int, folder: Path, say: Say) -> None:
    """Facts of these sizes, of which every `synced`-th is acknowledged with all before it."""
    with JournalWriter(folder / "journal", segment_bytes=segment_bytes) as writer:
        for number, size in enumerate(sizes):
            writer.append(Reply(sample=number, role="candidate", text="x" * size))
            if number % synced == 0:
                writer.sync()
                say(str(number))
    say(str(len(sizes) - 1))


def test_a_journal_of_any_lines(room: Path, rng: random.Random, share: Callable[[int], int], tally: Tallies) -> None:
    """What was acknowledged is there, in its order, without a gap; and the writer goes on."""
    counted = tally("something goes wrong at a file operation", "a journal of any lines")

    def some(every: list[tuple[str, int]]) -> list[tuple[str, int]]:
        return rng.sample(every, min(len(every), 12))

    for number in range(share(60)):
        sizes = [rng.choice((rng.randrange(3_000), rng.randrange(60_000, 140_000))) for _ in range(rng.randint(1, 12))]
        segment_bytes, synced = rng.choice((100, 3_000, 200_000)), rng.randint(1, 5)
        (here := room / str(number)).mkdir()
        for crash in crashes(partial(_append, sizes, segment_bytes, synced), here, prepare=_empty, pick=some):
            fault = _fault(crash, segment_bytes)
            counted.count(fault and f"{sizes}, {segment_bytes}, {synced}: {crash}: {fault}")


def _fault(crash: Crash, segment_bytes: int) -> str | None:
    n_known, journal = 1 + max((int(word) for word in crash.acknowledged), default=-1), crash.folder / "journal"
    if (found := _samples(journal)) != list(range(len(found))) or len(found) < n_known:
        return f"found {found}, and {n_known} were acknowledged"
    with JournalWriter(journal, segment_bytes=segment_bytes) as writer:
        writer.append(Reply(sample=len(found), role="candidate", text="goes on"))
    return None if len(_samples(journal)) == len(found) + 1 else "it does not go on"


def _empty(folder: Path) -> None:
    (folder / "journal").mkdir()


def _samples(journal: Path) -> list[int]:
    return [line.fact.sample for line in read_journal(journal) if isinstance(line.fact, Reply)]
