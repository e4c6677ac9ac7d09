"""The metric as a reward function: TRL's and Tunix's calls, written down here as their own sources have them.

Neither library is installed where these tests run. The calls are those of TRL's GRPO documentation ("Using a custom
reward function") and of Tunix's `SequenceRewardManager._compute_rewards`, as they stood in November 2026.
"""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import UsageError
from benchbook.integrations.reward import AnswerReward, completion_text
from own_scorers import near

# Keywords that a trainer passes beside the columns of the data set.
TRL_KEYWORDS = (
    "prompts",
    "completions",
    "completions_ids",
    "completion_ids",
    "trainer_state",
    "log_extra",
    "log_metric",
)
TUNIX_KEYWORDS = ("prompts", "completions", "mode")


@pytest.mark.parametrize("keywords", [TRL_KEYWORDS, TUNIX_KEYWORDS])
def test_the_call_of_a_trainer_binds(keywords: tuple[str, ...]) -> None:
    reward = AnswerReward()
    call: dict[str, Any] = dict.fromkeys(keywords, None)
    call |= {"prompts": ["1 + 1?"] * 3, "completions": [" 2\n", "3", ""], "expected_answer": ["2"] * 3}
    inspect.signature(reward).bind(**call)
    rewards = reward(**call)
    assert rewards == [1.0, 0.0, 0.0]
    assert all(type(one) is float for one in rewards)


def test_the_signature_is_the_documented_one() -> None:
    parameters = inspect.signature(AnswerReward()).parameters
    assert list(parameters) == ["prompts", "completions", "kwargs"]
    assert parameters["kwargs"].kind is inspect.Parameter.VAR_KEYWORD
    # TRL awaits coroutine functions, and both libraries log a reward under its __name__.
    assert not inspect.iscoroutinefunction(AnswerReward())
    assert AnswerReward().__name__ == "answer_correctness"


def test_it_can_be_sent_to_a_worker() -> None:
    reward = AnswerReward("answer", answer_format="answer_prefix")
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert again(prompts=["?"], completions=["So.\nAnswer: Paris"], answer=["paris"]) == [1.0]


def test_checks_are_rewards_too(tmp_path: Path) -> None:
    call: dict[str, Any] = {
        "prompts": ["?"] * 3,
        "completions": ["It is 2.", "two", None],
        "expected_answer": ["2"] * 3,
    }
    assert AnswerReward(spec="contains@v1")(**call) == [1.0, 0.0, 0.0]
    (tmp_path / "spec.toml").write_text(
        'name = "mine"\nversion = 1\nabout = "Of the row."\n[[checks]]\nname = "words"\nkind = "token_f1"\n'
        'expected = "{{item.key}}"\nat_least = 0.5\n',
        encoding="utf-8",
    )
    mine = pickle.loads(pickle.dumps(AnswerReward(spec=str(tmp_path))))
    assert mine.__name__ == "mine"
    assert mine(["?"] * 2, ["red fox", "fox"], key=["red fox", "red fox"]) == [1.0, 0.666666667]  # 2·1 / (1 + 2)
    with pytest.raises(UsageError, match="row 2 of the batch: key: found nothing"):
        mine(["?"] * 2, ["red fox", "fox"], key=["red fox", None])


def test_a_function_of_ones_own_is_a_reward() -> None:
    mine = pickle.loads(pickle.dumps(AnswerReward("right", spec=near)))
    assert mine == AnswerReward("right", spec=near)  # a worker imports the function, and gets the same
    assert mine.__name__ == "near"
    assert mine(["?"] * 3, ["1", "3", " "], right=["1", "2", "2"]) == [1.0, 0.5, 0.0]  # 1 / (1 + 1) for one off by 1
    with pytest.raises(UsageError, match=r"near@v1: item 0: ValueError: could not convert string to float: 'three'"):
        mine(["?"], ["three"], right=["1"])


def test_a_function_that_is_awaited_is_no_reward() -> None:
    @bb.scorer(name="slow")
    async def slow(item: Any, answer: str) -> bool:
        return True

    with pytest.raises(UsageError, match="slow@v1: is awaited; here an answer is scored at once"):
        AnswerReward(spec=slow)(["?"], ["1"])


CHATS: list[tuple[Any, str | None]] = [
    ("text", "text"),
    (None, None),
    ([{"role": "assistant", "content": "text"}], "text"),
    ([{"role": "assistant", "content": "a"}, {"role": "tool", "content": "7"}, {"content": "b"}], "b"),
    ([{"role": "assistant", "content": None, "tool_calls": []}], None),
    ([{"role": "tool", "content": "7"}], None),
    ([{"content": "no role"}], "no role"),
    ([], None),
    ([{"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]}], "ab"),
    ([{"role": "assistant", "content": [{"type": "image"}]}], None),
]  # fmt: skip


@pytest.mark.parametrize(("completion", "text"), CHATS)
def test_the_text_of_a_completion(completion: Any, text: str | None) -> None:
    assert completion_text(completion) == text


@pytest.mark.parametrize("completion", [7, b"text", [7], [{"role": "assistant", "content": 7}], {"content": "x"}])
def test_what_is_no_completion(completion: Any) -> None:
    with pytest.raises(UsageError, match="expected a text, or a list of"):
        completion_text(completion)


def test_the_format_of_each_row_goes_before_the_one_for_all() -> None:
    completions = ["x\nAnswer: 4", "x\nAnswer: 4", "4"]
    row_by_row = {"expected_answer": ["4"] * 3, "answer_format": ["answer_prefix", None, None]}
    assert AnswerReward()([], completions, **row_by_row) == [1.0, 0.0, 1.0]
    assert AnswerReward(answer_format="answer_prefix")([], completions, **row_by_row) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"answer": ["2"]}, "no column 'expected_answer' of expected answers; it has: answer"),
        ({}, "it has: none"),
        ({"expected_answer": ["2", "3"]}, "found 2 answers for 1 completions"),
        ({"expected_answer": [2]}, "found 2 in row 1 of the batch; expected a text"),
        ({"expected_answer": [" "]}, "found ' ' in row 1 of the batch; expected a text"),
        ({"expected_answer": [None]}, "found None in row 1"),
        (
            {"expected_answer": ["2"], "answer_format": ["last"]},
            "answer_format: found 'last'; expected answer_prefix or",
        ),
    ],
)
def test_what_a_reward_can_not_be_computed_from(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        AnswerReward()(["?"], ["2"], **columns)
    assert message in str(caught.value)
