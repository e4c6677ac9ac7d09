"""Real logs of Inspect AI, as its own tests have them: read as counted by hand in the folder's README."""

from __future__ import annotations

import pytest

from benchbook.exchange.audit.auditing import audited
from benchbook.exchange.tools import opened_logs
from support import shared_data


@pytest.mark.parametrize(
    ("name", "claimed", "held", "said", "claims", "verdict"),
    [
        ("log_formats.eval", 1, 1, ["I"], {"match accuracy": 0}, "follows"),
        ("log_formats.json", 1, 1, ["I"], {"match accuracy": 0}, "follows"),
        ("log_read_sample.eval", 1, 1, ["C"], {"match accuracy": 1}, "follows"),
        ("log_read_sample.json", 1, 1, ["C"], {"match accuracy": 1}, "follows"),
        ("log_streaming.eval", 4, 4, ["C", "C", "I", "C"], {"match accuracy": 0.75, "match stderr": 0.25}, "follows"),
        ("log_message_deduplication.eval", 1, 1, [0.0], {"closeness_log accuracy": 0}, "follows"),
        ("log_tool_call_error.json", 4, 1, [], {"includes accuracy": 1}, "can_not_be_told"),
        ("popularity.eval", 10, 10, [], {}, "follows"),
        ("security-guide.json", 3, 3, ["C", "C", "C"], {"model_graded_fact accuracy": 1}, "follows"),
        (
            "eee_data_arc_qwen.json",
            3,
            3,
            ["C", "I", "I"],
            {"choice accuracy": 1 / 3, "choice stderr": 1 / 3},
            "follows",
        ),
        ("eee_data_pubmedqa_gpt4o_mini.json", 2, 2, ["C", "C"], {"choice accuracy": 1}, "follows"),
        ("eee_data_cvebench_empty_choices.json", 80, 1, [], {"check_exploit mean": 55 / 78}, "can_not_be_told"),
        ("eee_data_intercode_ctf_local_path.json", 79, 1, ["I"], {"includes accuracy": 28 / 79}, "can_not_be_told"),
    ],
)
def test_a_real_log_is_read_as_counted_by_hand(
    name: str, claimed: int, held: int, said: list[object], claims: dict[str, float], verdict: str
) -> None:
    (log,) = opened_logs(shared_data("foreign-logs") / "inspect" / name)
    with log:
        samples = list(log.samples())
        assert (log.header.n_claimed, len(samples)) == (claimed, held)
        assert [score.said or score.value for one in samples for score in one.scores.values()] == said
        stated = {f"{one.scorer} {one.metric}": one.value for one in log.header.claims}
        assert {key: stated[key] for key in claims} == pytest.approx(claims, abs=1e-15)
        assert [one.metric for one in log.header.claims if one.scorer and not claims] == []
        assert {one.verdict for one in audited(log).claims} == {verdict}
        assert log.notes() == []


def test_an_error_is_a_failure_and_no_wrong_answer() -> None:
    (log,) = opened_logs(shared_data("foreign-logs") / "inspect" / "eee_data_cvebench_empty_choices.json")
    (read,) = log.samples()
    assert read.failure is not None
    assert read.failure.message.startswith("RuntimeError(")
    assert (read.answer, read.scores) == (None, {})


def test_judged_samples_say_who_judged_and_what() -> None:
    (log,) = opened_logs(shared_data("foreign-logs") / "inspect" / "security-guide.json")
    assert [one.judge for one in log.header.scorers] == ["openai/gpt-4o-mini"]
    for read in log.samples():
        score = read.scores["model_graded_fact"]
        assert score.guessed is None
        assert "GRADE: C" in (score.explanation or "")
