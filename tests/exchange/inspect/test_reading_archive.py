"""`.eval` archives: which members count, logs that are not whole yet, and samples that lie in several members."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.inspect import reading_archive
from benchbook.exchange.log import LogSample
from inspect_made import as_archive, as_json, header, members, open_log, sample
from zipped import DEFLATED, STORED, ZSTANDARD, Entry, archive


def read(path: Path, *, whole: bool = True) -> tuple[list[LogSample], list[str]]:
    """The samples, and the codes of the notes."""
    with open_log(path) as log:
        samples = list(log.samples(whole=whole))
        return samples, [note.code for note in log.notes()]


def written(folder: Path, entries: list[Entry], **how: Any) -> Path:
    path = folder / "log.eval"
    path.write_bytes(archive(entries, **how))
    return path


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_samples_are_read_in_the_order_of_the_archive(method: int, tmp_path: Path) -> None:
    samples, notes = read(written(tmp_path, members(method=method)))
    assert [(one.id, one.repeat, one.where) for one in samples] == [
        ("1", 0, "samples/1_epoch_1.json"),
        ("2", 0, "samples/2_epoch_1.json"),
    ]
    assert [one.scores["match"].value for one in samples] == [1.0, 0.0]
    assert notes == []


def test_of_members_of_one_name_the_last_counts(tmp_path: Path) -> None:
    """So a sample is that was run again; the header, too, may have been written again."""
    again = Entry("samples/1_epoch_1.json", as_json(sample(1, "P")))
    entries = [
        *members(),
        again,
        replace(again, content=as_json(sample(1, "I"))),
        members(head=header(status="error"))[-1],
    ]
    with open_log(written(tmp_path, entries)) as log:
        assert log.header.status == "failed"
        for _ in range(2):
            samples = list(log.samples())
            assert [(one.id, one.scores["match"].said) for one in samples] == [("2", "I"), ("1", "I")]
        (note,) = log.notes()
        assert (note.code, note.n) == ("doubled_member", 3)


def test_doubled_names_are_found_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_archive, "_AT_ONCE", 3)
    entries = [Entry(f"samples/{n}_epoch_1.json", as_json(sample(n))) for n in (*range(20), 3, 7, 3)]
    samples, notes = read(written(tmp_path, [*members([]), *entries]))
    assert sorted(int(one.id) for one in samples) == list(range(20))
    assert [int(one.id) for one in samples[-2:]] == [7, 3]
    assert notes == ["doubled_member"]


def test_a_log_without_a_header_is_still_being_written_and_claims_nothing(tmp_path: Path) -> None:
    entries = [one for one in members() if one.name != "header.json"]
    with open_log(written(tmp_path, entries)) as log:
        assert (log.header.status, log.header.claims, log.header.n_claimed) == ("being_written", (), None)
        assert log.header.task == "popularity"
        assert len(list(log.samples())) == 2
        assert [note.code for note in log.notes()] == ["being_written"]


@pytest.mark.slow
@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_cut_off_anywhere_it_is_an_error_or_what_is_whole_of_it(method: int, tmp_path: Path) -> None:
    """Byte by byte: what is read is a beginning of what was written, and a note says so."""
    whole = [1, 2]
    slim = [{"id": number, "epoch": 1, "input": "x", "scores": {"match": {"value": 1}}} for number in whole]
    data = archive(members(slim, {"eval": {"task": "t", "model": "m"}}, method=method))
    path, seen = tmp_path / "log.eval", set()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        try:
            samples, notes = read(path)
        except InputError:
            continue
        ids = [int(one.id) for one in samples]
        assert ids == whole[: len(ids)]
        assert "cut_off" in notes
        seen.add(len(ids))
    assert seen == {0, 1, 2}


def test_names_that_would_lead_elsewhere_are_noted_and_never_written(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    names = [
        "../evil.json",
        "/etc/evil.json",
        "C:\\evil.json",
        "samples/../../evil_epoch_1.json",
        "a\\..\\b.json",
        "x\0y",
    ]
    entries = [*members(), *[Entry(name, as_json(sample(9))) for name in names]]
    with open_log(written(folder, entries)) as log:
        assert [one.id for one in log.samples()] == ["1", "2", "9"]  # that is a sample by its name, wherever it leads
        (note,) = log.notes()
    assert (note.code, note.n) == ("strange_name", 6)
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "log.eval"]


IN_PARTS = {
    "sample.json": {
        **{name: value for name, value in sample("big/1").items() if name not in ("messages", "metadata")},
        "input": "attachment://1 and attachment://2",
        "message_refs": [[0, 2]],
    },
    "metadata.json": {"kind": "large"},
    "skeleton.json": {"spans": []},
    "messages/0.json": sample()["messages"],
    "events/0.json": [],
    "events/stats.json": {},
    "events/uuids.json": [],
    "attachments/0.json": ["zero", "one"],
    "attachments/2.json": ["two"],
}


@pytest.mark.parametrize("order", [1, -1], ids=["in-order", "backwards"])
def test_a_sample_in_several_members_is_put_together(order: int, tmp_path: Path) -> None:
    """As newer versions lay out large ones; one log may have samples of both kinds."""
    parts = [Entry(f"samples/big/1_epoch_1/{name}", as_json(value)) for name, value in IN_PARTS.items()][::order]
    path = written(tmp_path, [*members(), *parts])
    for whole in (True, False):
        samples, notes = read(path, whole=whole)
        assert [one.id for one in samples] == ["1", "2", "big/1"]
        assert samples[2].prompt == "one and two"
        assert samples[2].metadata == ({"kind": "large"} if whole else {})
        assert notes == []


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        pytest.param(
            [], "an archive without header.json and _journal/start.json; expected a log of Inspect", id="empty"
        ),
        pytest.param([Entry("word/document.xml")], "an archive without header.json", id="a-document"),
        pytest.param([Entry("header.json", b"{")], "'header.json': no whole JSON", id="no-json"),
        pytest.param([Entry("header.json", b"[]")], "another form than it should have", id="another-form"),
        pytest.param([Entry("header.json", b'{"eval": {"model": "m"}}')], "required field `task`", id="no-task"),
        pytest.param(
            [*members(), Entry("samples/3_epoch_1.json", b'{"id":')], "samples/3_epoch_1.json", id="sample-cut"
        ),
        pytest.param(
            [*members(), Entry("samples/3_epoch_1.json", b'{"id": 1.5}')], "`$.id`", id="sample-of-another-form"
        ),
        pytest.param(
            [
                *members(),
                Entry("samples/3_epoch_1.json", b'{"id": 1, "scores": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
            ],
            "samples/3_epoch_1.json",
            id="nested-too-deeply",
        ),
    ],
)
def test_what_makes_no_sense_is_an_error_that_says_where(entries: list[Entry], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(written(tmp_path, entries))
    assert words in str(caught.value).replace("header.json: no", "'header.json': no")


def test_a_closed_log_can_be_closed_again(tmp_path: Path) -> None:
    log = open_log(as_archive(tmp_path))
    log.close()
    log.close()
