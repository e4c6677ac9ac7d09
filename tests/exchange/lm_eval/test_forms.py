"""The forms of older versions, which files belong together, and files that make no sense."""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import InputError
from benchbook.exchange.lm_eval.reading import opened
from benchbook.exchange.log import ForeignLog
from benchbook.exchange.tools import opened_logs
from exchange.lm_eval.harness_files import TIME, choice_row, results, row, write_run
from support import examples, peak_memory_mb

NUMBERS = {"sample_len": 2, "acc,none": 0.5, "acc_stderr,none": 0.5}
ROWS = [row(0, acc=1.0), row(1, acc=0.0)]


def values_of(log: ForeignLog) -> dict[str, dict[str, float | None]]:
    return {one.id: {name: score.value for name, score in one.scores.items()} for one in log.samples()}


# ── older versions ───────────────────────────────────────────────────────────────────────────────────────────


def _old_row(doc_id: int, **metrics: Any) -> dict[str, Any]:
    """As 0.4.0 to 0.4.2 have it: no filter, no names of metrics, no hashes, arguments as a list, numbers as such."""
    return {
        "doc_id": doc_id,
        "doc": {"q": doc_id},
        "target": 1,
        "arguments": [["Is it?", " no"], ["Is it?", " yes"]],
        "resps": [[[-2.0, False]], [[-1.0, True]]],
        "filtered_resps": [[-2.0, False], [-1.0, True]],
        **metrics,
    }


def _old_results(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        "results": {"boolq": {"alias": "boolq", **numbers}},
        "configs": {"boolq": {"task": "boolq", "output_type": "multiple_choice", "target_delimiter": " "}},
        "versions": {"boolq": 2.0},
        "n-shot": {"boolq": 0},
        "config": {"model": "hf", "model_args": "pretrained=acme/m,dtype=float", "limit": None},
        "git_hash": "abc1234",
    }


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("name", ["results.json", "mine.json"])
def test_results_with_a_list_of_samples_beside(tmp_path: Path, indent: int | None, name: str) -> None:
    rows = [_old_row(0, acc=1.0, acc_norm=0.0), _old_row(1, acc=0.0, acc_norm=1.0)]
    numbers = {"acc,none": 0.5, "acc_stderr,none": 0.5, "acc_norm,none": 0.5, "acc_norm_stderr,none": 0.5}
    (tmp_path / name).write_text(json.dumps(_old_results(numbers), indent=indent), encoding="utf-8")
    samples = tmp_path / "pretrained__acme__m,dtype__float_boolq.jsonl"
    samples.write_text(json.dumps(rows, indent=indent), encoding="utf-8")
    for path in (tmp_path, tmp_path / name, samples):
        (log,) = opened(path)
        assert (log.header.model, log.header.tool_version, log.header.n_claimed) == ("acme/m", None, None)
        assert log.header.form == "results, and samples as a list in JSON"
        assert sorted(log.files) == sorted((name, samples.name))
        assert values_of(log) == {
            "0": {"acc,none": 1.0, "acc_norm,none": 0.0},
            "1": {"acc,none": 0.0, "acc_norm,none": 1.0},
        }
        first = next(iter(log.samples()))
        assert (first.prompt, first.choices, first.references, first.answer) == (
            "Is it?",
            ("no", "yes"),
            ("yes",),
            "yes",
        )
        assert first.where == "row 1"


def test_filters_that_rows_do_not_name_are_told_by_their_order(tmp_path: Path) -> None:
    numbers = {"em,strict": 0.0, "em_stderr,strict": 0.0, "em,loose": 1.0, "em_stderr,loose": 0.0}
    two_processes = [_old_row(k, em=value) for k, value in [(0, 0.0), (2, 0.0), (0, 1.0), (2, 1.0), (1, 0.0), (1, 1.0)]]
    (tmp_path / "results.json").write_text(json.dumps(_old_results(numbers)), encoding="utf-8")
    (tmp_path / "m_boolq.jsonl").write_text(json.dumps(two_processes), encoding="utf-8")
    (log,) = opened(tmp_path)
    assert values_of(log) == {one: {"em,strict": 0.0, "em,loose": 1.0} for one in ("0", "2", "1")}
    assert log.notes() == []


def test_samples_of_which_nothing_is_known_have_the_metrics_that_they_hold(tmp_path: Path) -> None:
    (tmp_path / "m_boolq.jsonl").write_text(json.dumps([_old_row(0, acc=1.0)]), encoding="utf-8")
    (log,) = opened(tmp_path)
    assert (log.header.claims, [one.name for one in log.header.scorers]) == ((), ["acc"])
    assert values_of(log) == {"0": {"acc": 1.0}}


def test_results_of_0_3_have_no_filters(tmp_path: Path) -> None:
    stated = {
        "results": {"arc": {"acc": 0.25, "acc_stderr": 0.1, "ppl": 3.0}},
        "versions": {"arc": 0},
        "config": {"model": "gpt2", "model_args": "", "num_fewshot": 0, "limit": None},
    }
    (tmp_path / "out.json").write_text(json.dumps(stated, indent=2), encoding="utf-8")
    (log,) = opened_logs(tmp_path)
    assert (log.header.model, [one.name for one in log.header.scorers]) == ("gpt2", ["acc", "ppl"])
    assert [(one.scorer, one.value, one.formula) for one in log.header.claims] == [
        ("acc", 0.25, "mean"), ("acc", 0.1, "stderr"), ("ppl", 3.0, None),
    ]  # fmt: skip
    assert list(log.samples()) == []


# ── which files belong together ──────────────────────────────────────────────────────────────────────────────


def test_each_run_of_a_folder_has_its_own_samples(tmp_path: Path) -> None:
    later = "2026-01-03T00-00-00.1"
    write_run(tmp_path, results({"my_task": NUMBERS}), {"my_task": ROWS})
    write_run(tmp_path, results({"my_task": NUMBERS}), {"my_task": ROWS[:1]}, later)
    write_run(tmp_path, None, {"other": ROWS}, "2026-01-04T00-00-00.1")
    found = [(log.header.task, log.header.form, len(list(log.samples()))) for log in opened(tmp_path)]
    both = "results, and samples as lines of JSON"
    assert found == [("my_task", both, 2), ("my_task", both, 1), ("other", "samples alone", 2)]


def test_folders_in_folders_are_read(tmp_path: Path) -> None:
    write_run(tmp_path / "acme__a", results({"t": NUMBERS}, model_name="acme/a"), {"t": ROWS})
    write_run(tmp_path / "acme__b", results({"t": NUMBERS}, model_name="acme/b"), {"t": ROWS})
    (tmp_path / "acme__b" / "loop").symlink_to(tmp_path)
    assert [log.header.model for log in opened_logs(tmp_path)] == ["acme/a", "acme/b"]
    write_run(tmp_path, results({"t": NUMBERS}, model_name="acme/c"), {"t": ROWS})
    assert [log.header.model for log in opened_logs(tmp_path)] == ["acme/c", "acme/a", "acme/b"]


def test_a_file_of_samples_has_what_its_results_say_of_its_task(tmp_path: Path) -> None:
    write_run(tmp_path, results({"a": NUMBERS, "b": NUMBERS}), {"a": ROWS, "b": ROWS})
    (log,) = opened(tmp_path / f"samples_b_{TIME}.jsonl")
    assert (log.header.task, len(log.header.claims)) == ("b", 4)
    (tmp_path / f"results_{TIME}.json").unlink()
    (log,) = opened(tmp_path / f"samples_b_{TIME}.jsonl")
    assert (log.header.task, log.header.claims, log.header.model, log.header.n_claimed) == ("b", (), None, None)
    assert [one.name for one in log.header.scorers] == ["acc,none"]


def test_output_named_as_a_file(tmp_path: Path) -> None:
    write_run(tmp_path, results({"a": NUMBERS}), {"a": ROWS})
    (tmp_path / f"results_{TIME}.json").rename(tmp_path / f"mine_{TIME}.json")
    (log,) = opened(tmp_path)
    assert (log.header.n_claimed, len(list(log.samples()))) == (2, 2)


# ── files that make no sense ─────────────────────────────────────────────────────────────────────────────────


def _lines(*texts: str) -> bytes:
    return "".join(text + "\n" for text in texts).encode()


GOOD = json.dumps(ROWS[0])


@pytest.mark.parametrize(
    ("data", "where", "said"),
    [
        (_lines(GOOD, GOOD[:-20]), ":2:", "no whole JSON"),
        (_lines(GOOD)[:-30], ":1:", "no whole JSON"),
        (_lines(GOOD, "", "nonsense"), ":3:", "no whole JSON"),
        (_lines(GOOD, "[1]"), ":2:", "another form"),
        (_lines(GOOD, '{"doc": {}, "target": "x"}'), ":2:", "doc_id"),
        (_lines(GOOD, GOOD.replace('"doc_id": 0', '"doc_id": 1.5')), ":2:", "doc_id"),
        (_lines(GOOD, GOOD.replace('"doc_id": 0', '"doc_id": null')), ":2:", "doc_id"),
        (_lines(GOOD, GOOD.replace('"resps": [["4"]]', '"resps": "4"')), ":2:", "resps"),
        (_lines(GOOD, GOOD.replace('{"gen_args_0"', '{"gen_args_0": 3, "x"')), ":2:", "arguments"),
        (_lines(GOOD, GOOD.replace('"filter": "none"', '"filter": ["none"]')), ":2:", "filter"),
        (_lines(GOOD) + b'{"doc_id": 1, "target": "\xff"}\n', ":2:", "no whole JSON"),
        (_lines(GOOD, '{"doc_id": 1, "doc": ' + "[" * 10_000 + "]" * 10_000 + "}"), ":2:", "nested too deeply"),
        (f"[{GOOD}, {GOOD[:-9]}".encode(), ".jsonl", "end"),
        (f"[{GOOD}, 7]".encode(), ".jsonl", "element"),
        (f'[{GOOD}, {{"doc_id": []}}]'.encode(), ".jsonl: [1]:", "doc_id"),
    ],
)
def test_an_error_says_where_samples_make_no_sense(tmp_path: Path, data: bytes, where: str, said: str) -> None:
    write_run(tmp_path, results({"t": NUMBERS}), {})
    (tmp_path / f"samples_t_{TIME}.jsonl").write_bytes(data)
    (log,) = opened(tmp_path)
    with pytest.raises(InputError) as error:
        list(log.samples())
    assert where in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-40], "no whole JSON"),
        (lambda text: text.replace('"n-samples": {', '"n-samples": 3, "x": {', 1), "n-samples"),
        (lambda text: text.replace('"group_subtasks": {', '"group_subtasks": {"t": 1, ', 1), "group_subtasks"),
        (lambda text: text.replace('"config": {', '"config": {"deep": ' + "[" * 9000 + "]" * 9000 + ", ", 1), "nested"),
    ],
)
def test_an_error_says_what_of_the_results_makes_no_sense(tmp_path: Path, change: Any, said: str) -> None:
    path = write_run(tmp_path, results({"t": NUMBERS}), {"t": ROWS}) / f"results_{TIME}.json"
    path.write_text(change(path.read_text("utf-8")), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        opened(tmp_path)


def test_a_line_that_does_not_end_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.exchange.lm_eval.rows._MOST_BYTES", 1000)
    write_run(tmp_path, None, {"t": [ROWS[0], row(1, "4" * 2000, acc=1.0)]})
    with pytest.raises(InputError, match=r":2: found a line of more than"):
        opened(tmp_path)


def test_rows_out_of_order_are_held_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.exchange.lm_eval.stretches._MOST_HELD", 1000)
    rows = [row(k, filtered_by=name, m=1.0) for name, ids in (("a", range(5)), ("b", range(4, -1, -1))) for k in ids]
    (log,) = opened(write_run(tmp_path, None, {"t": rows}))
    with pytest.raises(InputError, match="in another order"):
        list(log.samples())


@pytest.mark.parametrize("of", ["filters", "metrics"])
def test_names_without_end_are_refused(tmp_path: Path, of: str) -> None:
    rows = [row(k, filtered_by=f"f{k}", m=1.0) if of == "filters" else row(k, **{f"m{k}": 1.0}) for k in range(1200)]
    with pytest.raises(InputError, match=r":1001: found more than 1,000 names"):
        opened(write_run(tmp_path, None, {"t": rows}))


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    hostile, name = "\x1b[31m<script>\u202e=cmd|' /C calc'!A0\x00", "<b>\u202e=1'"
    one = row(0, hostile, filtered_by=hostile, **{name: 1.0, "__class__": 0.5, "doc": 0})
    (log,) = opened(write_run(tmp_path, None, {"t": [one]}))
    (found,) = log.samples()
    assert found.answer == hostile
    assert {key: score.value for key, score in found.scores.items()} == {
        f"{name},{hostile}": 1.0, f"__class__,{hostile}": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "\x00"])
def test_a_metric_has_a_plain_name(tmp_path: Path, name: str) -> None:
    (log,) = opened(write_run(tmp_path, None, {"t": [row(0, **{name: 1.0})]}))
    with pytest.raises(InputError, match="found a metric named"):
        list(log.samples())


_ODD = [b"null", b"[]", b"{}", b"1", b"-1.5", b"1e999", b"NaN", b'"x"', b"true", b"[[]]", b'{"a": 1}', b"9" * 40,
        b'"\\ud800"', b'[1, "2"]', b"", b"\xff", b"\x00", b"\n"]  # fmt: skip
_VALUE = re.compile(rb'(?<=: )(?:"[^"]*"|-?[\d.]+|true|false|null|\[[^\[\]{}]*\]|\{[^{}]*\})')


@given(st.integers(0, 1), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(_ODD), st.booleans()), max_size=4))
@examples(150)
def test_a_file_that_was_changed_anywhere_is_read_or_refused(
    which: int, changes: list[tuple[float, bytes, bool]]
) -> None:
    """A value in it replaced, or bytes put in: nothing but an error that says where."""
    with tempfile.TemporaryDirectory() as name:
        folder = write_run(
            Path(name), results({"t": NUMBERS}), {"t": [*ROWS, choice_row(2, [-1.0, -2.0, -3.0], acc=1.0)]}
        )
        path = sorted(folder.iterdir())[which]
        data = path.read_bytes()
        for at, odd, is_value in changes:
            places = [one.span() for one in _VALUE.finditer(data)] if is_value else []
            begin, end = places[int(at * (len(places) - 1))] if places else (int(at * len(data)),) * 2
            data = data[:begin] + odd + data[end:]
        path.write_bytes(data)
        with suppress(InputError):
            for log in opened(folder):
                assert all(one.prompt is not None for one in log.samples())
                log.notes()


def test_an_argument_that_is_absent_is_an_empty_choice(tmp_path: Path) -> None:
    one = choice_row(0, [-1.0, -2.0, -3.0], acc=1.0)
    del one["arguments"]["gen_args_1"]["arg_1"]
    (log,) = opened(write_run(tmp_path, None, {"t": [one]}))
    (found,) = log.samples()
    assert found.answer == found.choices[0]


@pytest.mark.slow
def test_memory_does_not_grow_with_samples(tmp_path: Path) -> None:
    main = (
        "import sys; from pathlib import Path; from benchbook.exchange.lm_eval.reading import opened;"
        "print(sum(1 for log in opened(Path(sys.argv[1])) for _ in log.samples()), file=sys.stderr)"
    )
    peaks = []
    for n in (200, 6_000):
        rows = [row(k, "4" * 300, filtered_by=name, m=1.0) for name in ("a", "b") for k in range(n)]
        code, peak = peak_memory_mb(main, [str(write_run(tmp_path / str(n), None, {"t": rows}))])
        assert code == 0
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 4
