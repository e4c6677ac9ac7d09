"""Hugging Face's evaluation results: one value of a benchmark, in YAML that every reader takes alike."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import UsageError
from benchbook.exchange.hf_eval_results.writing import written
from benchbook.exchange.log import Claim, LogScore, LogScorer
from benchbook.exchange.tools import opened_logs, tool_named
from exchange.every_eval_ever.test_writing import MadeLog, sample


def text_of(folder: Path, log: MadeLog) -> str:
    written(log, folder / "results.yaml")
    return (folder / "results.yaml").read_text("utf-8")


def test_a_log_is_one_value(tmp_path: Path) -> None:
    """Of 1, 0, 0 and one unscored: 1/3, whose error is sqrt(1/3) / sqrt(3) = 1/3."""
    samples = [sample("s1", 1.0), sample("s2", 0.0), sample("s3", 0.0), sample("s4", None)]
    log = MadeLog(samples, dataset="cais/hle", dataset_version="ab" * 20, metadata={"record_sha256": "cd" * 32})
    assert text_of(tmp_path, log) == (
        "- dataset:\n"
        '    id: "cais/hle"\n'
        '    task_id: "default"\n'
        f'    revision: "{"ab" * 20}"\n'
        "  value: 0.3333333333333333\n"
        '  date: "2026-01-02T03:04:05Z"\n'
        '  notes: "exact, mean of 3 samples, 1 unscored; from 0 to 1; standard error 0.3333; '
        f'Benchbook record {"cd" * 32}"\n'
    )


@pytest.mark.parametrize(
    ("dataset", "found"),
    [
        ("Idavidrein/gpqa:gpqa_diamond", ("Idavidrein/gpqa", "gpqa_diamond")),
        ("cais/hle", ("cais/hle", "default")),
        ("my set", ("my set", "default")),
        (None, ("capitals", "default")),
    ],
)
def test_the_task_may_stand_behind_the_dataset(tmp_path: Path, dataset: str | None, found: tuple[str, str]) -> None:
    text = text_of(tmp_path, MadeLog([sample()], dataset=dataset))
    assert text.splitlines()[1:3] == [f'    id: "{found[0]}"', f'    task_id: "{found[1]}"']


def test_the_first_scorer_that_scored_anything_is_the_value(tmp_path: Path) -> None:
    scores = {"a": LogScore(value=None, unscored="x"), "b": LogScore(value=3.0), "c": LogScore(value=4.0)}
    scorers = (LogScorer(name="a"), LogScorer(name="b", higher_is_better=False), LogScorer(name="c"))
    text = text_of(tmp_path, MadeLog([sample(scores=scores)], scorers=scorers))
    assert "  value: 3.0\n" in text
    assert '  notes: "b, mean of 1 sample; lower is better"\n' in text


def told(folder: Path, log: MadeLog) -> list[tuple[str, int | None]]:
    return [(one.what.split(":")[0], one.n) for one in written(log, folder / "told.yaml")]


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    scores = {"exact": LogScore(value=1.0), "b": LogScore(value=3.0)}
    claim = Claim(scorer="exact", metric="accuracy", value=1.0, where="x")
    log = MadeLog([sample(scores=scores)], dataset="my set", dataset_version="v2", claims=(claim,))
    assert told(tmp_path, log) == [
        ("the samples", 1),
        ("the means of b", 1),
        ("the numbers of the log's header", 1),
        ("`dataset.id` must be a benchmark's on the Hub, as `org/name`", None),
        ("`dataset.task_id` must be one of the benchmark's tasks", None),
        ("the version of the dataset", None),
        ("`source`, which must have an address", None),
    ]


def test_without_a_score_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no sample here has a score"):
        written(MadeLog([sample("s1", None)]), tmp_path / "results.yaml")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_over_and_nothing_read(tmp_path: Path) -> None:
    (tmp_path / "results.yaml").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError):
        written(MadeLog([sample()]), tmp_path / "results.yaml")
    assert tool_named("hf_eval_results").writes
    with pytest.raises(UsageError):
        list(opened_logs(tmp_path / "results.yaml"))


# Of each: the mean of one sample, as it must stand there. YAML 1.1 takes `1e-07` for a text.
NUMBERS = [(1e-07, "1.0e-07"), (1.5e-07, "1.5e-07"), (1e20, "1.0e+20"), (0.1, "0.1"), (3.0, "3.0"), (-2.5, "-2.5")]
TEXTS = [
    "a: b # c",
    "yes",
    "'\"\\",
    "\u2028\u0085\x7f\ufeff|",
    "\x1b[2J\0",
    "- x\n  y",
    "\U0001f600\ud83d",
    "{a: [b]}",
    "🦜",
]


@pytest.mark.parametrize(("value", "text"), NUMBERS)
def test_numbers_are_numbers_in_any_yaml(tmp_path: Path, value: float, text: str) -> None:
    found = text_of(tmp_path, MadeLog([sample(scores={"x": LogScore(value=value)})], scorers=()))
    assert f"  value: {text}\n" in found
    assert math.isclose(float(text), value)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_leaves_its_quotes(tmp_path: Path, text: str) -> None:
    changes: dict[str, Any] = {"dataset": text, "task": text, "scorers": (LogScorer(name=text),)}
    found = text_of(tmp_path, MadeLog([sample(scores={text: LogScore(value=1.0)})], **changes))
    assert [line.partition(":")[0].strip() for line in found.splitlines()] == [
        "- dataset", "id", "task_id", "value", "date", "notes",
    ]  # fmt: skip
    assert found.isprintable() or set(found) - set("\n") <= set(filter(str.isprintable, found))
