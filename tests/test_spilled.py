"""Long lists of numbers: what is on disk reads as what is in memory."""

from __future__ import annotations

import errno
import tempfile
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.evalsets.opening import open_evalset
from benchbook.evalsets.set_contents import RepeatedTexts
from benchbook.spilled import SpilledNumbers

_NUMBERS = st.lists(st.integers(0, 2**64 - 1), max_size=12)


@given(added=st.lists(_NUMBERS, max_size=8), in_memory=st.integers(1, 10), data=st.data())
def test_numbers_come_back_in_their_order(added: list[list[int]], in_memory: int, data: st.DataObject) -> None:
    numbers, wanted = SpilledNumbers(in_memory), list[int]()
    for some in added:
        numbers.extend(array("Q", some))
        wanted += some
        assert len(numbers) == len(wanted)
    assert [numbers[at] for at in range(len(wanted))] == wanted
    start = data.draw(st.integers(0, len(wanted)))
    end = data.draw(st.integers(start, len(wanted) + 3))
    assert numbers.some(start, end).tolist() == wanted[start:end]
    if wanted:
        assert numbers[-1] == wanted[-1]
    with pytest.raises(IndexError):
        numbers[len(wanted)]


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(UsageError, match=r"no room for the places of a large file's lines \(No space left on device\)"):
        SpilledNumbers(1).extend(array("Q", [1]))


@given(texts=st.lists(st.sampled_from("abcdefg"), max_size=20), at_once=st.integers(1, 6))
def test_repeated_texts_are_found_however_many_are_noted_at_once(texts: list[str], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchbook.evalsets.set_contents._NOTED_AT_ONCE", at_once)
        found = RepeatedTexts()
        for line, text in enumerate(texts):
            found.note(text, line)
        assert found.n_again() == len(texts) - len(set(texts))
        suspects = list(found.suspects())
    assert suspects == [line for line, text in enumerate(texts) if texts.count(text) > 1]
    assert [found.earlier(texts[line], line) for line in suspects] == [
        None if texts.index(texts[line]) == line else texts.index(texts[line]) for line in suspects
    ]


def test_a_set_whose_offsets_are_on_disk_is_the_same_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "items.jsonl"
    lines = [f'{{"id": "i{n}", "prompt": "{"p" * (n % 7)}?"}}\n' + "\n" * (n % 3 == 0) for n in range(50)]
    path.write_text("".join(lines), encoding="utf-8")
    with open_evalset(path) as wanted:
        items = list(wanted)
        monkeypatch.setattr(SpilledNumbers.__init__, "__defaults__", (8,))
        with open_evalset(path) as found:
            assert (len(found), list(found), found.sha256) == (50, items, wanted.sha256)
            assert [found[at] for at in (49, 0, 17)] == [items[at] for at in (49, 0, 17)]
            assert [found.line_of(at) for at in range(50)] == [wanted.line_of(at) for at in range(50)]
            with found.alone(range(20, 30)) as part:
                assert list(part) == items[20:30]
