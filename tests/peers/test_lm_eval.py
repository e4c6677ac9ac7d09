"""lm-evaluation-harness itself: its logs are read and audited, and it takes what we write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.lm_eval.reading import opened
from benchbook.exchange.lm_eval.writing import written
from benchbook.exchange.log import ForeignLog
from peers.conftest import Peer

STRICT, LOOSE = "exact_match,strict-match", "exact_match,flexible-extract"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, peer: Peer) -> Path:
    """Folders of runs, by what is particular of each: all, limited, file, unscored."""
    folder = tmp_path_factory.mktemp("harness")
    peer("lm_eval_logs.py", folder)
    return folder


def _logs(folder: Path) -> dict[str, ForeignLog]:
    return {log.header.task: log for log in opened(folder)}


def test_every_number_follows_but_those_that_nobody_can_tell(runs: Path) -> None:
    found = {
        (audit.task, one.scorer, one.metric): (one.verdict, one.reason)
        for audit in audits_of(runs / "all")
        for one in audit.claims
    }
    assert {key for key, (verdict, _) in found.items() if verdict == "does_not_follow"} == set()
    open_ones = {key for key, (verdict, _) in found.items() if verdict == "can_not_be_told"}
    no_number = {key for key in open_ones if "no number" in (found[key][1] or "")}
    assert open_ones - no_number == {
        ("bb_bleu", "bleu,none", "bleu"), ("bb_bleu", "bleu,none", "bleu_stderr"),
        ("bb_perplexity", "perplexity,none", "perplexity_stderr"),
        ("bb_pairs", "f1,none", "f1_stderr"), ("bb_pairs", "mcc,none", "mcc_stderr"),
        ("bb_pairs", "brier_score,none", "brier_score"),
    }  # fmt: skip
    assert {key[2] for key in no_number} == {
        "word_perplexity_stderr", "byte_perplexity_stderr", "bits_per_byte_stderr", "brier_score_stderr",
        "acc_stderr", "acc_norm_stderr",
    }  # fmt: skip
    assert len(found) - len(open_ones) == 56


def test_what_was_asked_and_said_is_read(runs: Path) -> None:
    logs = _logs(runs / "all")
    sums = list(logs["bb_sums"].samples())
    assert len(sums) == 40
    # 3 x 1 mod 10 = 3 and 1 mod 7 = 1: the model knows it, and says it in the way that the strict filter takes.
    assert (sums[1].prompt, sums[1].answer, sums[1].references) == (
        "What is 3+1?\nAnswer:", "Let me think: 3 and 1.\n#### 4", ("4",),
    )  # fmt: skip
    assert {name: (one.value, one.answer) for name, one in sums[1].scores.items()} == {
        STRICT: (1.0, "4"), LOOSE: (1.0, "4"),
    }  # fmt: skip
    assert sums[3].scores[LOOSE].answer == "13"  # 9 + 3, one too many
    choice = list(logs["bb_choice_large"].samples())[3]
    assert (choice.choices, choice.answer, choice.references) == (("12", "13", "14"), "13", ("12",))
    vote = next(iter(logs["bb_votes"].samples()))
    assert (vote.answer, vote.metadata["responses"]) == ("It is 0", ["It is 0", "It is 5", "It is 0"])
    assert next(iter(logs["bb_rolling"].samples())).answer is None
    assert logs["bb_nested"].header.samples_of == ("bb_choice_large", "bb_choice_small", "bb_choice_tiny")
    assert "sk-not-to-be-kept" not in str([log.header for log in logs.values()])


def test_every_hash_that_the_harness_made_holds(runs: Path) -> None:
    for log in opened(runs / "all"):
        list(log.samples())
        assert {one.code for one in log.notes()} <= {"several_answers"}


def test_a_limit_is_noted(runs: Path) -> None:
    for log in opened(runs / "limited"):
        assert (log.header.n_claimed, len(list(log.samples()))) == (7, 7)
        assert [one.words for one in log.notes()] == ["only 7 of the 40 samples of its split were asked"]


def test_a_run_in_which_nothing_was_scored(runs: Path) -> None:
    (log,) = opened(runs / "unscored")
    assert (log.header.n_claimed, [one.scores for one in log.samples()]) == (None, [{}])


def test_results_with_a_name_of_the_user_s(runs: Path) -> None:
    (log,) = opened(runs / "file")
    assert (log.header.task, len(list(log.samples()))) == ("bb_choice_small", 11)


@pytest.mark.parametrize(
    ("change", "verdict", "codes"),
    [
        pytest.param(
            lambda row: row.update(exact_match=1.0 - row["exact_match"]), "does_not_follow", set(), id="a score"
        ),
        pytest.param(lambda row: row.update(target="99"), "follows", {"target_hash"}, id="a target"),
        pytest.param(lambda row: row.clear(), "can_not_be_told", {"task_hash", "missing_rows"}, id="a row"),
    ],
)
def test_what_was_changed_afterwards_is_seen(
    runs: Path, tmp_path: Path, change: Any, verdict: str, codes: set[str]
) -> None:
    (results,) = (runs / "all").glob("*/results_*.json")
    (samples,) = (runs / "all").glob("*/samples_bb_sums_*.jsonl")
    rows = [json.loads(line) for line in samples.read_bytes().splitlines()]
    change(rows[1])  # of the strict filter
    (tmp_path / results.name).write_bytes(results.read_bytes())
    changed = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row)
    (tmp_path / samples.name).write_text(changed, encoding="utf-8")
    (audit,) = audits_of(tmp_path / samples.name)
    verdicts = {name: {one.verdict for one in audit.claims if one.scorer == name} for name in ("", STRICT, LOOSE)}
    assert verdicts == {"": {"follows"}, STRICT: {verdict}, LOOSE: {"follows"}}
    assert {one.code for one in audit.findings} == codes


@pytest.mark.parametrize("task", ["bb_sums", "bb_choice_large"])
def test_the_harness_takes_what_we_write(runs: Path, tmp_path: Path, peer: Peer, task: str) -> None:
    log = _logs(runs / "all")[task]
    assert {one.n for one in written(log, tmp_path / "out")} <= {None, 40}
    (again,) = opened(tmp_path / "out")
    assert list(again.samples()) == list(log.samples())
    found = peer("lm_eval_reads.py", tmp_path / "out")
    assert (found["task"], found["hash"]) == (task, again.header.metadata["task_hash"])
    claims = {one.where: one.value for one in log.header.claims}
    for key in (STRICT, LOOSE) if task == "bb_sums" else ("acc,none",):
        assert found["means"][key] == pytest.approx(claims[f"results.{task}.{key}"], rel=1e-12)
        metric, _, filtered = key.partition(",")
        stderr = claims[f"results.{task}.{metric}_stderr,{filtered}"]
        assert found["errors"][key] == pytest.approx(stderr, rel=1e-12)  # Python 3.12 adds up more exactly
    assert all(found["docs"])
    assert found["n_rows"] == 80 if task == "bb_sums" else 40
    assert task in found["table"]
