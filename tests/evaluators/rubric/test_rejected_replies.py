"""A judge that can't be read ends the run early, and the setting that mends it is named (SPEC R3.5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.requests import RolePlan
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.steps import SampleHistory, read_history
from benchbook.evaluators.rubric.warnings import RejectedReplies
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from labelled import judged_run
from rubric_v1 import V1
from running import run
from scripted_server import GOOD_VERDICT, OK_JUDGE, always_good, running

VERDICT = json.dumps(GOOD_VERDICT)
FENCED = f"```json\n{VERDICT}\n```"


def plan(n_judges: int = 1, **judge: Any) -> Plan:
    def role(model: str, **more: Any) -> RolePlan:
        return RolePlan(
            model_id=f"openai/{model}@1", provider="openai", name=model, params={"max_tokens": 1024}, **more
        )

    panel = {} if n_judges == 1 else {
        "panel": Panel(names=("a", "b")[:n_judges], others=tuple(role("b") for _ in range(n_judges - 1)), rule="worst")
    }  # fmt: skip
    return Plan(
        spec="rubric@v1", spec_sha256="", evalset_sha256="", n_items=99, repeats=1, prompt_template_id="",
        prompt_template_sha256="", candidate=role("m"), judge=role("j", **judge), **panel,
    )  # fmt: skip


def judged(plan: Plan, *replies: tuple[int, str | None], **more: Any) -> SampleHistory:
    """An answer, and each of these judges' replies twice."""
    facts = [Reply(sample=0, role="candidate", text="Seven.")]
    for judge, text in replies:
        facts += [Reply(sample=0, role="judge", judge=judge, attempt=one, text=text, **more) for one in (1, 2)]
    return read_history(facts, plan, V1)


@pytest.mark.parametrize(
    ("of", "text", "more", "says"),
    [
        pytest.param(plan(), FENCED, {}, ["a Markdown fence", "judge_json_schema = true"], id="fenced"),
        pytest.param(plan(), f"Here you are:\n{FENCED}", {}, ["a Markdown fence"], id="fenced-behind-words"),
        pytest.param(plan(), f"Sure! {VERDICT}", {}, ["text around its JSON", "judge_json_schema"], id="words"),
        pytest.param(plan(json_schema=True), FENCED, {}, ["another judge"], id="fenced-in-spite-of-a-schema"),
        pytest.param(
            plan(), '{"accuracy_score": 2,', {"finish_reason": "length"},
            ["cut by max_tokens", "judge_params = {max_tokens = 2048}"], id="cut",
        ),
        pytest.param(
            plan(), "", {"finish_reason": "length"}, ["cut by max_tokens before any text", "2048"], id="cut-and-empty"
        ),
        pytest.param(
            plan(), f"<think>Hm.</think>{VERDICT}", {},
            ["its thoughts", 'judge_reasoning_tags = ["think"]'], id="thoughts",
        ),
        pytest.param(
            plan(), None, {"reasoning_characters": 7}, ["without text and thoughts apart"], id="all-in-its-thoughts"
        ),
        pytest.param(plan(), '{"accuracy_score": 2}', {}, ["missing_key", "judge_json_schema"], id="a-missing-key"),
        pytest.param(plan(), '{"accuracy_score": "2", "faithfulness_score": 2, "rationale": "x"}', {},
                     ["bad_score_type"], id="a-score-as-text"),
        pytest.param(plan(2), FENCED, {}, ["judges[0].json_schema = true"], id="of-a-panel"),
    ],
)  # fmt: skip
def test_ten_in_a_row_stop_the_run_and_name_the_setting(
    of: Plan, text: str | None, more: dict[str, Any], says: list[str]
) -> None:
    watched = RejectedReplies(("judge", "judge b")[: len(of.judges)], of.judges)
    history = judged(of, (0, text), **more)
    assert [watched.note(history) for _ in range(9)] == [None] * 9
    reason = watched.note(history) or ""
    assert all(part in reason for part in [*says, "10 answers in a row", "new run"])


def test_a_reply_that_is_read_or_another_reason_begins_the_count_again() -> None:
    of = plan()
    fenced, short, good = (judged(of, (0, text)) for text in (FENCED, '{"accuracy_score": 2}', VERDICT))
    for between in (good, short):
        watched = RejectedReplies(["judge"], of.judges)
        assert [watched.note(one) for one in [fenced] * 9 + [between] + [fenced] * 9] == [None] * 19
    watched = RejectedReplies(["judge"], of.judges)
    no_reply = read_history([Reply(sample=0, role="candidate", text=None)], of, V1)
    assert watched.note(no_reply) is None
    assert [watched.note(fenced) is None for _ in range(10)] == [True] * 9 + [False]
    assert watched.note(no_reply) is None


def test_each_judge_of_a_panel_is_counted_for_itself() -> None:
    of = plan(2)
    watched = RejectedReplies(["judge a", "judge b"], of.judges)
    both = judged(of, (0, VERDICT), (1, FENCED))
    found = [watched.note(both) for _ in range(10)]
    assert found[:9] == [None] * 9
    assert "replies of the judge b" in (found[9] or "")
    assert "judges[1].json_schema" in (found[9] or "")


def fencing(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return OK_JUDGE | {"content": FENCED} if role == "judge" else always_good(role, n, request)


def test_a_run_with_a_judge_that_fences_stops_after_ten(tmp_path: Path) -> None:
    with running(fencing) as server:
        result = run(tmp_path, server, 200, max_connections=2)
    assert "judge_json_schema = true" in (result.stop.reason or "")
    assert result.stop.usage
    assert 10 <= result.derived.aggregates.ledger.n_unscored <= 12
    assert verify(result.record).holds


@pytest.mark.parametrize("provider", ["scripted", "recorded"])
def test_replies_that_are_played_back_stop_nothing(provider: str) -> None:
    """Nobody is asked for them: to go on costs nothing, and no setting changes what a script says."""
    of = plan(2)
    played = msgspec.structs.replace(of.judge, provider=provider)
    of = msgspec.structs.replace(of, judge=played)
    watched = RejectedReplies(["judge a", "judge b"], of.judges)
    assert [watched.note(judged(of, (0, FENCED), (1, VERDICT))) for _ in range(30)] == [None] * 30
    found = [watched.note(judged(of, (0, FENCED), (1, FENCED))) for _ in range(10)]
    assert found[:9] == [None] * 9
    assert "replies of the judge b" in (found[9] or "")  # who is asked is held to ten beside it


def test_a_run_with_a_scripted_judge_that_no_one_can_read_goes_to_its_end(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [None] * 12 + [(2, 2)] * 3)
    counted = verify(record)
    assert (counted.holds, counted.state) == (True, "complete")
    ledger = json.loads(record.aggregates.read_bytes())["ledger"]
    assert (ledger["n_attempted"], ledger["n_unscored"]) == (15, 12)


def test_a_whole_run_says_what_was_wrong_with_the_judge(tmp_path: Path) -> None:
    with running(fencing) as server:
        result = run(tmp_path, server, 3)
    assert result.stop.reason is None
    assert (
        "Of 3 answers no reply of the judge could be read: its JSON stands in a Markdown fence. What may mend it, in a "
        "new run: judge_json_schema = true, where its server takes it."
    ) in result.derived.aggregates.warnings
