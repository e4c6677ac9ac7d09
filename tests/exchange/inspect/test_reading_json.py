"""`.json` logs: streamed whatever the order of their keys, and every version of the form."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import ForeignLog
from benchbook.exchange.tools import opened_logs, recognised, seen_at
from inspect_made import SAMPLES, as_archive, as_file, as_json, header, members, open_log, sample, scores
from support import peak_memory_mb
from zipped import archive

SLIM = {"id": 1, "epoch": 1, "input": "x", "scores": {"match": {"value": 1}}}
WHOLE = {**header(), "samples": SAMPLES}


def written(folder: Path, data: bytes, name: str = "log.json") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def values(log: ForeignLog) -> list[tuple[str, float | None]]:
    with log:
        return [(one.id, one.scores["match"].value) for one in log.samples()]


@pytest.mark.parametrize("order", list(permutations(("eval", "results", "samples", "status"))), ids="-".join)
@pytest.mark.parametrize("indent", [None, 2], ids=["dense", "indented"])
def test_keys_may_come_in_any_order(order: tuple[str, ...], indent: int | None, tmp_path: Path) -> None:
    data = json.dumps({name: WHOLE[name] for name in (*order, "version", "plan", "stats")}, indent=indent).encode()
    path = written(tmp_path, data)
    assert recognised(path).name == "inspect"
    log = open_log(path)
    assert (log.header.status, log.header.n_claimed, log.header.form) == ("complete", 2, "json, version 2")
    assert values(log) == [("1", 1.0), ("2", 0.0)]


def test_a_header_in_front_is_the_header(tmp_path: Path) -> None:
    """The samples are then read in one pass; that something else stands behind them is found at its end."""
    data = as_json(WHOLE)[:-1]
    log = open_log(written(tmp_path, data + b', "reductions": [{"samples": [1, 2]}]}'))
    assert values(log) == [("1", 1.0), ("2", 0.0)]
    path = written(tmp_path, data + b', "results": {"total_samples": 3}}')
    with pytest.raises(InputError, match="another header behind the samples"):
        values(open_log(path))


@pytest.mark.parametrize(
    "samples", [pytest.param(None, id="null"), pytest.param([], id="none"), pytest.param(..., id="absent")]
)
def test_a_log_may_hold_no_samples(samples: Any, tmp_path: Path) -> None:
    told = header() if samples is ... else {**header(), "samples": samples}
    log = open_log(written(tmp_path, as_json(told)))
    assert log.header.n_claimed == 2
    assert list(log.samples()) == []


def test_it_is_cut_off_nowhere_without_an_error(tmp_path: Path) -> None:
    data = as_json({"eval": {"task": "t", "model": "m"}, "samples": [SLIM, SLIM], "results": {"total_samples": 2}})
    for length in range(len(data)):
        path = written(tmp_path, data[:length])
        with pytest.raises(InputError):
            values(open_log(path))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "no whole JSON", id="empty"),
        pytest.param(b"[1, 2]", "another form than it should have", id="array"),
        pytest.param(b'{"evals": {}}', "missing required field `eval`", id="other-json"),
        pytest.param(as_json({**WHOLE, "samples": [{"id": 1, "epoch": "one"}]}), "samples[0]", id="epoch-of-text"),
        pytest.param(as_json({**WHOLE, "samples": [SAMPLES[0], {}]}), "samples[1]", id="no-id"),
        pytest.param(as_json({**WHOLE, "samples": [1]}), "samples", id="a-number"),
        pytest.param(as_json({**WHOLE, "version": 4}), "version: found 4; expected 1 to 3", id="of-the-future"),
        pytest.param(as_json({**WHOLE, "version": 0}), "version: found 0; expected 1 to 3", id="before-all"),
        pytest.param(
            b'{"samples": [' + b"[" * 10_000 + b"]" * 10_000 + b"]}",
            "samples[0]: found JSON nested",
            id="nested-samples",
        ),
        pytest.param(b'{"eval": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested too deeply", id="nested-header"),
        pytest.param(as_json(WHOLE).replace(b'"mock-1"', b'"\xff"'), "samples[0]", id="no-utf-8"),
    ],
)
def test_what_makes_no_sense_is_an_error_that_says_where(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        values(open_log(written(tmp_path, data)))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("piece", "value", "unscored"),
    [
        pytest.param(b"NaN", None, "NaN", id="NaN"),
        pytest.param(b"Infinity", None, "no finite number", id="infinity"),
        pytest.param(b"1e999", None, None, id="beyond-floats"),
        pytest.param(b"9" * 400, None, "no finite number", id="digits"),
        pytest.param(b"null", None, "null", id="null"),
        pytest.param(b"0.1", 0.1, None, id="number"),
        pytest.param(b"true", 1.0, None, id="true"),
        pytest.param(b'"I", "value": "C"', 1.0, None, id="doubled-key"),
    ],
)
def test_numbers_are_what_they_are(piece: bytes, value: float | None, unscored: str | None, tmp_path: Path) -> None:
    one = as_json(sample(1, "VALUE")).replace(b'"VALUE"', piece)
    path = written(tmp_path, as_json(header())[:-1] + b', "samples": [' + one + b"]}")
    if piece == b"1e999":
        with pytest.raises(InputError, match="Number out of range"):
            values(open_log(path))
        return
    (read,) = open_log(path).samples()
    score = read.scores["match"]
    assert (score.value, score.unscored) == (value, unscored)


def test_halves_of_characters_and_controls_are_text(tmp_path: Path) -> None:
    (read,) = open_log(as_file(tmp_path, [sample(1, said="\ud83d \x1b[31m \U0001f600", input="half \udc00")])).samples()
    assert (read.answer, read.prompt) == ("\\ud83d \x1b[31m \U0001f600", "half \\udc00")


def test_the_first_version(tmp_path: Path) -> None:
    """One scorer, its metrics beside it, a sample's one score without a name, a transcript."""
    head = {
        "version": 1,
        "status": "success",
        "eval": {"task": "t", "model": "m", "created": "2024-05-05T07:59:35", "dataset": {}, "config": {}},
        "results": {
            "scorer": {"name": "match", "params": {}},
            "metrics": {"accuracy": {"name": "accuracy", "value": 0.5, "options": {}}},
            "sample_reductions": [{"scorer": "match", "samples": []}],
        },
    }
    old = [{name: value for name, value in one.items() if name != "scores"} for one in SAMPLES]
    samples = [{**one, "score": scored, "transcript": {"events": [], "content": {}}}
               for one, scored in zip(old, ({"value": 1}, {"value": "I"}), strict=True)]  # fmt: skip
    log = open_log(as_file(tmp_path, samples, head))
    assert (log.header.form, log.header.created_at) == ("json, version 1", "2024-05-05T07:59:35")
    (claim,) = log.header.claims
    assert (claim.scorer, claim.metric, claim.value, claim.formula) == ("match", "accuracy", 0.5, "mean")
    assert claim.where == "results.metrics.accuracy"
    assert values(log) == [("1", 1.0), ("2", 0.0)]


def test_ids_that_differ_in_type_alone_are_one_item_and_noted(tmp_path: Path) -> None:
    log = open_log(as_file(tmp_path, [sample(1), sample("1"), sample("one")]))
    assert [one.id for one in log.samples()] == ["1", "1", "one"]
    assert [(note.code, note.n) for note in log.notes()] == [("ids_of_two_types", 1)]


@pytest.mark.parametrize(
    ("name", "data", "is_known"),
    [
        pytest.param("log.eval", archive(members()), True, id="archive"),
        pytest.param("log.zip", archive(members()), True, id="archive-of-another-name"),
        pytest.param("log.eval", archive(members(), prefix=b"#!"), True, id="prefix"),
        pytest.param("a.docx", archive(members()).replace(b"_journal/", b"document/"), False, id="another-archive"),
        pytest.param("log.json", as_json(WHOLE), True, id="json"),
        pytest.param("log.json", b"\xef\xbb\xbf \n" + as_json(WHOLE), True, id="byte-order-mark"),
        pytest.param(
            "log.json", as_json({"samples": [sample(said="x" * 70_000)], **header()}), True, id="samples-first"
        ),
        pytest.param("log.json", as_json({"evalId": "eval-1", "results": {"version": 3}}), False, id="promptfoo"),
        pytest.param("log.json", as_json({"results": {}, "configs": {}, "versions": {}}), False, id="lm-eval"),
        pytest.param("log.json", b"{", False, id="brace"),
        pytest.param("log.eval", b"", False, id="empty"),
        pytest.param("log.jsonl", b'{"spec": {"eval_name": "x", "model": "m"}}', False, id="openai-evals"),
    ],
)
def test_files_are_known_by_how_they_begin(name: str, data: bytes, is_known: bool, tmp_path: Path) -> None:
    from benchbook.exchange.inspect.reading import recognises

    assert recognises(seen_at(written(tmp_path, data, name))) is is_known


def test_a_folder_of_logs_is_read_log_by_log(tmp_path: Path) -> None:
    as_archive(tmp_path)
    as_file(tmp_path)
    assert [log.header.form for log in opened_logs(tmp_path)] == ["eval, version 2", "json, version 2"]
    assert not list(tmp_path.glob("*.eval/*"))


READ = (
    "import sys; sys.path.insert(0, sys.argv[2]); from benchbook.exchange.inspect.reading import opened; "
    "log = opened(__import__('pathlib').Path(sys.argv[1]))[0]; print(sum(1 for _ in log.samples(whole=False)))"
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_memory_does_not_grow_with_a_log(kind: str, tmp_path: Path) -> None:
    peaks = []
    for n in (20, 200):  # of 200 kB each: 4 and 40 MB
        big = [sample(number, store={"x": "y" * 200_000}) for number in range(n)]
        path = as_archive(tmp_path, big) if kind == "eval" else as_file(tmp_path, big)
        peaks.append(peak_memory_mb(READ, [str(path), str(Path(__file__).parents[3] / "src")])[1])
    assert peaks[1] < peaks[0] + 8


def test_a_score_may_have_a_name_that_another_has_as_a_part(tmp_path: Path) -> None:
    head = header(results={"scores": [scores("match", accuracy=1), scores("match", "judge", accuracy=1)]})
    log = open_log(
        as_file(tmp_path, [sample(1, scores={"match": {"value": 1}, "judge": {"value": {"match": 0}}})], head)
    )
    (read,) = log.samples()
    assert {name: one.value for name, one in read.scores.items()} == {"match": 1.0, "judge.match": 0.0}
    assert [one.name for one in log.header.scorers] == ["match", "judge.match"]
