"""Issue 4, item 6: training metrics out of each form of log, and bad input named by file, line and field."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.training import MetricPoint, read_training_metrics, recognise, resolve_columns
from benchbook.training.columns import MAX_METRICS
from benchbook.training.forms import LogForm
from support import examples, peak_memory_mb, shared_data


def read(path: Path, form: LogForm | None = None, **given: str) -> list[MetricPoint]:
    form = form or recognise(path)
    return list(read_training_metrics(path, form, resolve_columns(path, form, given)))


def short(path: Path, **given: str) -> list[tuple[str, int, float | None]]:
    return [(point.name, point.step, point.value) for point in read(path, **given)]


def log(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_the_real_metrics_of_a_tunix_checkpoint() -> None:
    path = shared_data("tunix-rt") / "m44_v1_metrics.jsonl"
    assert resolve_columns(path, recognise(path)) == {
        "step": "step",
        "time": "timestamp",
        "loss": "loss",
        **{
            f"metrics.{name}": f"metrics.{name}"
            for name in (
                "train_runtime",
                "train_samples_per_second",
                "train_steps_per_second",
                "total_flos",
                "train_loss",
                "epoch",
            )
        },
    }
    first, *others = read(path)
    # 2026-01-08T23:04:37.216456+00:00, by `date -d … +%s.%N`
    assert first == MetricPoint(name="loss", step=414, value=0.8573377161210286, time_s=1767913477.216456, line=1)
    assert {point.name: point.value for point in others}["metrics.train_runtime"] == 203.3641


def test_trainer_state(tmp_path: Path) -> None:
    history = [
        {
            "epoch": 0.5,
            "grad_norm": 1.25,
            "learning_rate": 2e-5,
            "loss": 2.5,
            "num_input_tokens_seen": 1024,
            "step": 10,
        },
        {"epoch": 1.0, "eval_loss": 2.25, "eval_runtime": 3.5, "num_input_tokens_seen": 2048, "step": 20},
        {"epoch": 1.0, "loss": 2.0, "num_input_tokens_seen": 2048, "step": 20},
        {"epoch": 1.0, "train_loss": 2.25, "total_flos": 12345.0, "step": 20},
    ]
    path = log(tmp_path, "trainer_state.json", json.dumps({"global_step": 20, "log_history": history}, indent=2))
    points = read(path)
    assert [(p.name, p.step, p.value, p.tokens, p.line) for p in points if "loss" in p.name] == [
        ("loss", 10, 2.5, 1024, 1),
        ("eval_loss", 20, 2.25, 2048, 2),
        ("loss", 20, 2.0, 2048, 3),
        ("train_loss", 20, 2.25, None, 4),
    ]
    assert {p.name for p in points} == {
        *("loss", "eval_loss", "train_loss", "epoch", "grad_norm", "learning_rate", "eval_runtime", "total_flos")
    }


def test_jsonl_rows_of_many_kinds(tmp_path: Path) -> None:
    lines = [
        '{"run": "a", "config_lr": 0.1}',  # no step: a header, and no metric
        '{"global_step": 1, "train_loss": 3.5, "phase": "warm-up", "wall_time": 0.5, "num_tokens": 100.0}',
        "",
        '{"global_step": 2, "eval_loss": 3, "wall_time": 1.5, "num_tokens": 200, "train_loss": null}',
        '{"global_step": 3, "train_loss": 3.25, "wall_time": 2.5, "num_tokens": 300}',
    ]
    path = log(tmp_path, "log.jsonl", "\n".join(lines) + "\n")
    assert resolve_columns(path, "jsonl") == {
        "step": "global_step",
        "tokens": "num_tokens",
        "time": "wall_time",
        "loss": "train_loss",
        "eval_loss": "eval_loss",
    }
    assert [(p.name, p.step, p.value, p.tokens, p.time_s, p.line) for p in read(path)] == [
        ("loss", 1, 3.5, 100, 0.5, 2),
        ("eval_loss", 2, 3.0, 200, 1.5, 4),
        ("loss", 3, 3.25, 300, 2.5, 5),
    ]


def test_csv(tmp_path: Path) -> None:
    text = "step,loss,eval_loss,timestamp,note\n1,2.5,,2026-01-08T23:00:00Z,hot\n2,1.5e0,NaN,2026-01-08 23:00:10,\n"
    path = log(tmp_path, "log.csv", text)
    start = 1767913200.0  # date -u -d 2026-01-08T23:00:00Z +%s
    assert [(p.name, p.step, p.value, p.time_s, p.line) for p in read(path)] == [
        ("loss", 1, 2.5, start, 2),
        ("loss", 2, 1.5, start + 10, 3),
        ("eval_loss", 2, None, start + 10, 3),
    ]


def test_given_columns_go_first_and_are_recorded(tmp_path: Path) -> None:
    path = log(tmp_path, "log.jsonl", '{"it": 7, "loss": 9, "m": {"total": 0.5}, "reward/mean": 1}\n')
    given = {"step": "it", "loss": "m.total", "reward": "reward/mean"}
    assert resolve_columns(path, "jsonl", given) == given
    assert short(path, **given) == [("loss", 7, 0.5), ("reward", 7, 1.0)]


@pytest.mark.parametrize(
    "number",
    ["NaN", "Infinity", "-Infinity", '"NaN"', '"-inf"', "1e999", "1" + "0" * 400],
)
def test_what_is_not_finite_is_kept_as_null(tmp_path: Path, number: str) -> None:
    path = log(tmp_path, "log.jsonl", f'{{"step": 1, "loss": {number}}}\n{{"step": 2, "loss": 0.5}}\n')
    assert short(path) == [("loss", 1, None), ("loss", 2, 0.5)]
    state = log(tmp_path, "trainer_state.json", f'{{"log_history": [{{"step": 1, "loss": {number}}}]}}')
    assert short(state) == [("loss", 1, None)]


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv", "trainer_state.json"])
def test_mark_and_line_ends_of_windows(tmp_path: Path, name: str) -> None:
    content = {
        "log.jsonl": '{"step": 1, "loss": 2.5}\r\n{"step": 2, "loss": 2.25}\r\n',
        "log.csv": "step,loss\r\n1,2.5\r\n2,2.25\r\n",
        "trainer_state.json": '{"log_history": [\r\n{"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.25}]}',
    }[name]
    path = log(tmp_path, name, b"\xef\xbb\xbf" + content.encode())
    assert short(path) == [("loss", 1, 2.5), ("loss", 2, 2.25)]


def test_a_line_separator_of_unicode_ends_no_line(tmp_path: Path) -> None:
    path = log(tmp_path, "log.jsonl", '{"step": 1, "loss": 2.5, "note": "a\u2028b"}\n{"step": 2, "loss": 2.25}\n')
    assert [point.line for point in read(path)] == [1, 2]
    path = log(tmp_path, "log.csv", "step,loss,note\n1,2.5,a\u2028b\n2,2.25,c\n")
    assert [point.line for point in read(path)] == [2, 3]


GOOD = '{"step": 1, "loss": 2.5}\n'
FAULTS: list[tuple[str, str, str | bytes, str]] = [
    ("text for a loss", "a.jsonl", GOOD + '{"step": 2, "loss": "low"}', "a.jsonl:2: loss: found 'low'"),
    ("a loss that is true", "a.jsonl", GOOD + '{"step": 2, "loss": true}', "a.jsonl:2: loss: found True"),
    ("a list", "a.jsonl", GOOD + '{"step": 2, "loss": [1]}', "a.jsonl:2: loss: found [1]; expected a number"),
    ("text for a step", "a.jsonl", GOOD + '{"step": "two", "loss": 1}', "a.jsonl:2: step: found 'two'"),
    ("half a step", "a.jsonl", GOOD + '{"step": 2.5, "loss": 1}', "a.jsonl:2: step: found 2.5; expected a whole"),
    ("a step NaN", "a.jsonl", GOOD + '{"step": NaN, "loss": 1}', "a.jsonl:2: step: found nan"),
    ("no step", "a.jsonl", GOOD + '{"loss": 1}', "a.jsonl:2: step: found nothing; expected the step"),
    ("negative tokens", "a.jsonl", '{"step": 1, "loss": 1, "tokens": -1}', "a.jsonl:1: tokens: found -1"),
    ("a time in words", "a.jsonl", '{"step": 1, "loss": 1, "time": "noon"}', "a.jsonl:1: time: found 'noon'; expected"),
    ("milliseconds", "a.jsonl", '{"step": 1, "loss": 1, "time": 1767913200000}', "a.jsonl:1: time: found 17679132"),
    ("no object", "a.jsonl", GOOD + "[1]", "a.jsonl:2: found an array; expected an object"),
    ("no JSON", "a.jsonl", GOOD + '{"step": 2, "loss": 1\n', "a.jsonl:2: found no JSON (EOF while parsing an"),
    ("a key twice", "a.jsonl", GOOD + '{"step": 2, "loss": 1, "loss": 2}', 'a.jsonl:2: found no JSON (Detected'),
    ("bad UTF-8", "a.jsonl", GOOD.encode() + b'{"step": 2, "x": "\xff", "loss": 1}', "a.jsonl:2: byte 0xff at byte 19"),
    ("UTF-16", "a.jsonl", GOOD.encode("utf-16"), "a.jsonl: the file is UTF-16"),
    ("two steps", "a.jsonl", '{"step": 1, "global_step": 1, "loss": 1}', "a.jsonl: step: found step and global_step"),
    ("half, then more", "a.jsonl", GOOD + '{"step": 2, "lo\n' + GOOD, "a.jsonl:2: found no JSON (EOF while parsing"),
    ("no beginning either", "a.jsonl", GOOD + '{"step" 2', "a.jsonl:2: found no JSON (expected `:`"),
    ("a number alone", "a.jsonl", GOOD + "-", "a.jsonl:2: found no JSON (EOF while parsing"),
    ("never a step", "a.jsonl", '{"loss": 1}', "a.jsonl:1: step: found no step beside loss; expected step,"),
    ("a step at last", "a.jsonl", '{"loss": 1}\n{"loss": 2}\n{"global_step": 2, "best": 1}', "a.jsonl:1: step: found"),
    ("mostly no step", "a.jsonl", '{"x": 1}\n{"x": 2}\n{"step": 2, "y": 1}', "a.jsonl:1: step: found no step beside"),
    ("no step in CSV", "a.csv", "loss,step\n1,\n2,\n3,9\n", "a.csv:2: step: found no step beside loss"),
    ("nothing", "a.jsonl", "", "a.jsonl: step: found no row with such a column"),
    ("no metric", "a.jsonl", '{"step": 1, "phase": "x"}', "a.jsonl: found no metrics"),
    ("text in CSV", "a.csv", "step,loss\n1,2\n2,low\n", "a.csv:3: loss: found 'low'"),
    ("other cells", "a.csv", "step,loss\n1,2\n2\n", "a.csv:3: found another number of cells than"),
    ("a name twice", "a.csv", "step,loss,loss\n1,2,3\n", "a.csv:1: loss: found the column 'loss' more than once"),
    ("an open quote", "a.csv", 'step,loss\n1,"2\n', "a.csv:2: found no CSV (unexpected end of data)"),
    ("bad UTF-8 in CSV", "a.csv", b"step,loss\n1,\xff\n", "a.csv:2: found no UTF-8"),
    ("no history", "a.json", "{}", "a.json: log_history: found nothing; expected an array, as"),
    ("no array", "a.json", '{"log_history": 7}', "a.json: log_history: found a number; expected an array"),
    ("no state", "a.json", "[]", "a.json: log_history: found nothing; expected an array"),
    ("no entry", "a.json", '{"log_history": [7]}', "a.json: log_history[1]: found a number; expected an object"),
    ("torn", "a.json", '{"log_history": [\n{"step": 1,', "a.json:2: found no JSON (EOF while parsing a value at byte"),
    ("bad UTF-8 in JSON", "a.json", b'{\n"x": "\xff"}', "a.json:2: byte 0xff at byte 7 of the line"),
    ("nested deeply", "a.jsonl", "[" * 100_000, "a.jsonl:1: found no JSON (recursion limit exceeded"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_faults_are_named(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    path = log(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(message)


@pytest.mark.parametrize(
    ("name", "content", "half"),
    [
        pytest.param("a.jsonl", GOOD + '{"step": 2, "lo', 2, id="a-key"),
        pytest.param("a.jsonl", GOOD + "{", 2, id="a-brace"),
        pytest.param("a.jsonl", GOOD + '\n{"step": 2, "loss": 1', 3, id="a-number"),
        pytest.param("a.jsonl", GOOD.encode() + b'{"step": 2, "note": "\xe2\x82', 2, id="a-character"),
        pytest.param("a.csv", "step,loss,lr\n1,2.5,0.1\n2,1", 3, id="csv"),
        pytest.param("a.tsv", "step\tloss\n1\t2.5\n2", 3, id="tsv"),
    ],
)
def test_a_log_that_is_still_written_is_read_up_to_its_last_whole_line(
    tmp_path: Path, name: str, content: str | bytes, half: int
) -> None:
    path = log(tmp_path, name, content)
    found: list[int] = []
    form = recognise(path)
    columns = resolve_columns(path, form)
    points = list(read_training_metrics(path, form, columns, on_half=found.append))
    assert ([(p.step, p.value) for p in points if p.name == "loss"], found) == ([(1, 2.5)], [half])


def test_a_loss_that_is_a_text_is_named_and_not_passed_over(tmp_path: Path) -> None:
    """Another column of texts is no metric; the loss is one by its name."""
    path = log(tmp_path, "log.jsonl", '{"step": 1, "loss": "low", "note": "a", "lr": 0.1}\n')
    with pytest.raises(InputError, match=r"log\.jsonl:1: loss: found 'low'"):
        read(path)


def test_a_huge_line_is_named_and_not_held(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(GOOD.encode() + b'{"step": 2, "loss": "')
        for _ in range(50):
            file.write(b"9" * 1024**2)
        file.write(b'"}\n')
    with pytest.raises(InputError, match=r"huge\.jsonl:2: found a longer line; expected at most 16 MiB"):
        read(path)


@pytest.mark.slow
def test_a_huge_line_of_csv(tmp_path: Path) -> None:
    path = log(tmp_path, "huge.csv", b"step,loss\n1," + b"9" * (17 * 1024**2) + b"\n")
    with pytest.raises(InputError, match=r"huge\.csv:2: found no CSV \(field larger than field limit"):
        read(path)


def test_more_names_than_any_log_has(tmp_path: Path) -> None:
    lines = [f'{{"step": {n}, "loss": 1, "m{n}": 1}}' for n in range(MAX_METRICS)]
    path = log(tmp_path, "many.jsonl", "\n".join(lines))
    with pytest.raises(InputError, match=rf"many\.jsonl:{MAX_METRICS - 1}: found more than 10,000 columns"):
        read(path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "nope"}, "columns.loss: found nope; expected one of step, loss"),
        ({"step": "nope"}, "columns.step: found nope; expected one of"),
    ],
)
def test_a_mapping_that_does_not_fit(tmp_path: Path, given: dict[str, str], message: str) -> None:
    path = log(tmp_path, "log.jsonl", GOOD)
    with pytest.raises(ConfigError) as caught:
        resolve_columns(path, "jsonl", given)
    assert message.split(" one of")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("trainer_state.json", "trainer_state"),
        ("a.JSONL", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.csv", "csv"),
        ("events.out.tfevents.1767913200.host.1.0", "tensorboard"),
    ],
)
def test_a_form_by_its_name(tmp_path: Path, name: str, form: str) -> None:
    assert recognise(log(tmp_path, name, "")) == form


def test_what_has_no_form(tmp_path: Path) -> None:
    assert recognise(tmp_path) == "tensorboard"
    with pytest.raises(UsageError, match=r"metrics\.txt: can't tell its form"):
        recognise(log(tmp_path, "metrics.txt", ""))
    with pytest.raises(UsageError, match="there is no such file"):
        recognise(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("steps", "segments"),
    [
        ([1, 2, 3], [0, 0, 0]),
        ([10, 20, 30, 20, 30, 40], [0, 0, 0, 1, 1, 1]),
        ([10, 20, 20, 30], [0, 0, 1, 1]),
        ([5, 4, 3], [0, 1, 2]),
        ([-1, 0], [0, 0]),
    ],
)
def test_a_step_that_does_not_go_forward_begins_a_segment(
    tmp_path: Path, steps: list[int], segments: list[int]
) -> None:
    rows: list[dict[str, Any]] = [{"step": step, "loss": 1} for step in steps]
    path = log(tmp_path, "log.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert [point.segment for point in read(path)] == segments


def test_metrics_of_one_step_in_several_rows_are_one_segment(tmp_path: Path) -> None:
    rows = [{"step": 1, "loss": 1}, {"step": 1, "eval_loss": 2}, {"step": 2, "loss": 1}, {"step": 2, "eval_loss": 2}]
    path = log(tmp_path, "log.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert {point.segment for point in read(path)} == {0}


words = st.sampled_from([
    *(b'{"step": 1, "loss": 2}', b"\n", b"\r", b"\x00", b"\xff", b'"', b",", b"{", b"}", b"[", b"]", b":", b'"step"'),
    *(b'"loss"', b'"log_history"', b"step,loss", b"1", b"-7.5", b"1e400", b"NaN", b"null", b"true"),
    *(b"\xef\xbb\xbf", b" ", "\u2028".encode(), "\u0661".encode(), b'"\\ud800"', b"9" * 400),
])  # fmt: skip


NAMES = st.sampled_from(["x.jsonl", "x.csv", "x.json"])


@examples(300, HealthCheck.function_scoped_fixture)
@given(
    st.lists(words | st.binary(max_size=4), max_size=30).map(b"".join), st.sampled_from(["x.jsonl", "x.csv", "x.json"])
)
def test_bytes_of_any_kind_are_read_or_named(tmp_path: Path, content: bytes, name: str) -> None:
    path = log(tmp_path, name, content)
    points: list[MetricPoint] = []
    with suppress(InputError):  # and no other error
        points = read(path)
        assert points
    assert all(point.value is None or math.isfinite(point.value) for point in points)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for step in range(400_000):
            file.write(f'{{"step": {step}, "loss": {1 / (step + 1)}, "lr": 0.001, "time": {step / 10}}}\n')
    main = (
        "from benchbook.training import *; path = sys.argv[1]; columns = resolve_columns(path, 'jsonl'); "
        "n = sum(1 for _ in read_training_metrics(path, 'jsonl', columns)); assert n == 800_000"
    )
    code, peak = peak_memory_mb(main, [str(path)])
    assert code == 0
    assert peak < 120  # the file has 23 MB, its points as objects would take over 150
