"""Event files, written by the tensorboard package itself and read through it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.training import MetricPoint, read_training_metrics, recognise, resolve_columns

START = 1767913200.0


def simple(tag: str, value: float) -> Any:
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Summary.Value(tag=tag, simple_value=value)


def tensor(tag: str, value: float, *, first: bool) -> Any:
    """As TensorFlow 2 writes scalars: what the tag is stands with its first value alone."""
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb

    made = scalar_pb(tag, value).value[0]
    if not first:
        made.ClearField("metadata")
    return made


def write(folder: Path, events: Iterable[tuple[int, float, list[Any]]], suffix: str = "") -> Path:
    """An event file with one event for each `(step, wall time, values)`."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    before = set(folder.glob("*tfevents*")) if folder.exists() else set()
    writer = EventFileWriter(str(folder), filename_suffix=suffix)
    for step, wall_time, values in events:
        writer.add_event(Event(step=step, wall_time=wall_time, summary=Summary(value=values)))
    writer.close()
    (path,) = set(folder.glob("*tfevents*")) - before
    return path


def read(path: Path, **given: str) -> list[MetricPoint]:
    return list(read_training_metrics(path, "tensorboard", resolve_columns(path, "tensorboard", given)))


def test_scalars_as_hugging_face_logs_them(tmp_path: Path) -> None:
    """A tag at a time, one event each, `train/` and `eval/` before the names."""
    path = write(
        tmp_path,
        [
            (10, START, [simple("train/loss", 2.5)]),
            (10, START + 0.001, [simple("train/num_input_tokens_seen", 1024)]),
            (20, START + 10, [simple("eval/loss", 2.25)]),
            (20, START + 20, [simple("train/loss", float("nan"))]),
            (20, START + 20, [simple("train/num_input_tokens_seen", 2048)]),
        ],
    )
    assert recognise(path) == recognise(tmp_path) == "tensorboard"
    assert resolve_columns(path, "tensorboard") == {
        "step": "event.step",
        "tokens": "train/num_input_tokens_seen",
        "time": "event.wall_time",
        "loss": "train/loss",
        "eval_loss": "eval/loss",
    }
    assert [(p.name, p.step, p.value, p.tokens, p.time_s, p.line) for p in read(path)] == [
        ("loss", 10, 2.5, 1024, START, None),
        ("loss", 20, None, 2048, START + 10, None),
        ("eval_loss", 20, 2.25, 2048, START + 10, None),
    ]


def test_scalars_as_tensors_and_what_is_no_scalar(tmp_path: Path) -> None:
    from tensorboard.plugins.text.summary_v2 import text_pb

    path = write(
        tmp_path,
        [
            (1, START, [tensor("loss", 0.5, first=True), text_pb("note", "hello").value[0]]),
            (1, START, [tensor("never said what it is", 7, first=False)]),
            (2, START + 1, [tensor("loss", 0.25, first=False)]),
        ],
    )
    assert [(p.name, p.step, p.value) for p in read(path)] == [("loss", 1, 0.5), ("loss", 2, 0.25)]


def test_a_restart_in_a_second_file_is_a_segment(tmp_path: Path) -> None:
    write(tmp_path, [(step, START + step, [simple("loss", step)]) for step in (10, 20, 30)], ".1")
    write(tmp_path, [(step, START + 100 + step, [simple("loss", step / 2)]) for step in (20, 30, 40)], ".2")
    assert [(p.step, p.segment, p.value) for p in read(tmp_path)] == [
        (10, 0, 10.0), (20, 0, 20.0), (30, 0, 30.0), (20, 1, 10.0), (30, 1, 15.0), (40, 1, 20.0),
    ]  # fmt: skip


def test_the_same_step_logged_twice_is_a_segment(tmp_path: Path) -> None:
    path = write(tmp_path, [(1, START, [simple("loss", 1)]), (1, START + 5, [simple("loss", 2)])])
    assert [(p.segment, p.value, p.time_s) for p in read(path)] == [(0, 1.0, START), (1, 2.0, START + 5)]


def test_files_are_read_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    first = write(tmp_path / "a", [(10, START, [simple("loss", 1)])])
    second = write(tmp_path / "b", [(20, START, [simple("loss", 2)])])
    folder = tmp_path / "both"
    folder.mkdir()
    first.rename(folder / "events.out.tfevents.999999999.host")
    second.rename(folder / "events.out.tfevents.1000000000.host")
    assert [p.step for p in read(folder)] == [10, 20]


def test_a_torn_end_is_read_up_to_there_and_damage_is_an_error(tmp_path: Path) -> None:
    events = [(step, START, [simple("loss", step)]) for step in (1, 2, 3)]
    whole = write(tmp_path, events, ".3").read_bytes()
    size = len(whole) - len(write(tmp_path, events[:2], ".2").read_bytes())
    path = tmp_path / "x.tfevents.1"
    for cut in range(1, size + 1):
        path.write_bytes(whole[:-cut])
        assert [p.step for p in read(path)] == [1, 2]
    for at in range(len(whole) - size, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"x\.tfevents\.1: found record 4 is damaged"):
            read(path)


def test_what_is_no_event_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tfevents.1"
    path.write_bytes(b'{"step": 1, "loss": 2.5}\n')
    with pytest.raises(InputError, match="record 1 is damaged"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="found no row with such a column"):
        read(path)


def test_a_record_that_is_no_event(tmp_path: Path) -> None:
    from tensorboard.summary.writer.record_writer import RecordWriter

    path = tmp_path / "a.tfevents.1"
    with path.open("wb") as file:
        RecordWriter(file).write(b"\xff\xff")
    with pytest.raises(InputError, match="record 1 is no event"):
        read(path)


def test_a_folder_without_event_files_says_where_some_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no TensorBoard event files in this folder$"):
        read(tmp_path)
    write(tmp_path / "train", [(1, START, [simple("loss", 1)])])
    with pytest.raises(UsageError, match="there are some in train: give one of these"):
        read(tmp_path)


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, [(1, START, [simple("loss", 1)])])
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing.event_file_loader", None)
    with pytest.raises(UsageError, match=r"pip install 'benchbook\[tensorboard\]'"):
        read(path)
