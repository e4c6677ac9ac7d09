"""Marks on runs: one change at a time, whoever else writes, and lines of older versions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from benchbook.errors import UsageError
from benchbook.record.marks import MOST_TAGS, NO_MARKS, MarkFile, Marks, MarksChange


def changed(file: MarkFile, run_id: str, **what: Any) -> Marks:
    return file.change((run_id,), lambda _, before: MarksChange(**what).of(before))[run_id]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param({"name": " best "}, {"name": "best"}, id="name"),
        pytest.param({"name": "", "note": ""}, {"name": "", "note": ""}, id="texts-taken-away"),
        pytest.param({"add_tags": ("z", "a", "b")}, {"tags": ("a", "b", "z")}, id="tags-in-order"),
        pytest.param({"remove_tags": ("b", "none")}, {"tags": ("a",)}, id="a-tag-taken-away"),
        pytest.param({"add_tags": ("c",), "remove_tags": ("c",)}, {}, id="added-and-taken-away"),
        pytest.param({"archived": True}, {"archived": True}, id="archived"),
    ],
)
def test_a_change_leaves_the_rest_alone(change: dict[str, Any], expected: dict[str, Any]) -> None:
    before = Marks(name="old", note="why", tags=("a", "b"))
    assert MarksChange(**change).of(before) == structs.replace(before, **expected)


def test_a_run_has_a_bounded_number_of_tags_and_those_of_before_stay() -> None:
    many = tuple(f"t{number:03d}" for number in range(MOST_TAGS))
    with pytest.raises(UsageError, match="found 51 tags; expected at most 50"):
        MarksChange(add_tags=("one more",)).of(Marks(tags=many))
    assert MarksChange(add_tags=("one more",), remove_tags=("t000",)).of(Marks(tags=many)).tags[0] == "one more"


def test_the_version_is_that_of_what_stands_there() -> None:
    one, other = Marks(name="a", note="b"), Marks(name="b", note="a")
    assert one.version == Marks(name="a", note="b").version
    assert len({one.version, other.version, NO_MARKS.version, Marks(archived=True).version}) == 4


def test_two_who_write_at_once_lose_no_tag(tmp_path: Path) -> None:
    files = [MarkFile(tmp_path) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: changed(files[n % 4], "run", add_tags=(f"tag {n:02d}",)), range(24)))
    assert all(len(file.of("run").tags) == 24 for file in (*files, MarkFile(tmp_path)))


def test_many_runs_are_changed_or_none(tmp_path: Path) -> None:
    file = MarkFile(tmp_path)

    def edit(run_id: str, before: Marks) -> Marks:
        if run_id == "c":
            raise UsageError("no")
        return structs.replace(before, archived=True)

    with pytest.raises(UsageError):
        file.change(("a", "b", "c"), edit)
    assert file.all() == {}
    file.change(("a", "b"), edit)
    assert [file.of(run_id).archived for run_id in "abc"] == [True, True, False]
    assert file.take_changed().keys() == {"a", "b"}
    assert file.take_changed() == {}


def test_what_changes_nothing_is_not_written(tmp_path: Path) -> None:
    file = MarkFile(tmp_path)
    changed(file, "run", note="x")
    size = (tmp_path / ".server" / "tags.jsonl").stat().st_size
    changed(file, "run", note="x ", remove_tags=("none",))
    assert (tmp_path / ".server" / "tags.jsonl").stat().st_size == size


def test_lines_of_older_versions_are_tags_alone_and_others_are_passed_over(tmp_path: Path) -> None:
    changed(MarkFile(tmp_path), "run", name="mine", archived=True)
    path = tmp_path / ".server" / "tags.jsonl"
    more = b'{"at":"2026-11-29T00:00:00.000Z","run_id":"run","tags":["x"]}\n{"run_id":"run"}\nno JSON\n{"at":"torn'
    path.write_bytes(path.read_bytes() + more)
    assert MarkFile(tmp_path).of("run") == Marks(name="mine", tags=("x",), archived=True)


def test_another_file_in_its_place_is_read_from_its_start(tmp_path: Path) -> None:
    file = MarkFile(tmp_path)
    changed(file, "a", note="a long note, so that the other file is shorter")
    file.take_changed()
    changed(MarkFile(tmp_path / "other"), "b", archived=True)
    (tmp_path / "other" / ".server" / "tags.jsonl").replace(tmp_path / ".server" / "tags.jsonl")
    assert file.all() == {"b": Marks(archived=True)}
    assert file.take_changed() == {"a": NO_MARKS, "b": Marks(archived=True)}
