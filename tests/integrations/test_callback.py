"""A checkpoint evaluated while a model is trained: predictions on disk, and TensorBoard through its real package.

transformers is not among what the tests need. Where it is installed, the callback is run by its own CallbackHandler;
everywhere, it is held against the parameters that transformers 5.24 documents, written down here.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.predictions import read_predictions
from benchbook.integrations.callback import CheckpointHooks, checkpoint_callback
from benchbook.integrations.checkpoint_evaluation import CheckpointEvaluation, ScalarLog
from benchbook.training import read_training_metrics, resolve_columns

# transformers.TrainerCallback, 5.24; the keywords are those that its CallbackHandler.call_event passes.
EVENT_PARAMETERS = ["self", "args", "state", "control", "kwargs"]
EVENT_KEYWORDS = ("model", "processing_class", "optimizer", "lr_scheduler", "train_dataloader", "eval_dataloader")

ITEMS = [
    {"id": "a", "prompt": "1 + 1?", "expected_answer": "2", "section": "core"},
    {"id": "b", "prompt": "Capital of France?", "expected_answer": "Paris", "answer_format": "answer_prefix"},
    {"id": "c", "prompt": "Say nothing.", "expected_answer": "x"},
    {"id": "d", "prompt": "2 + 2?", "expected_answer": "4"},
    {"id": "e", "prompt": "What is odd?", "expected_answer": "this"},
]
ANSWERS = {"1 + 1?": "2 ", "Capital of France?": "Well.\nAnswer: PARIS", "Say nothing.": None, "2 + 2?": "It is 4."}


def generate(prompts: list[str]) -> Sequence[str | None]:
    return [ANSWERS.get(prompt, "\ud800") for prompt in prompts]


@pytest.fixture
def evalset(tmp_path: Path) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")
    return path


def scalars(folder: Path) -> dict[str, list[tuple[int, float | None]]]:
    columns = resolve_columns(folder, "tensorboard")
    found: dict[str, list[tuple[int, float | None]]] = {}
    for point in read_training_metrics(folder, "tensorboard", columns):
        found.setdefault(point.name, []).append((point.step, point.value))
    return found


def test_a_checkpoint_under_checks(tmp_path: Path, evalset: Path) -> None:
    folder = tmp_path / "tb"
    with CheckpointEvaluation(evalset, tmp_path / "out", spec="contains@v1", tensorboard=folder) as evaluation:
        card = evaluation.evaluate(7, generate)
    # a, b and d hold what is expected; nothing came for c, and for e only half a character.
    assert (card.primary_score, card.n_scored, card.misses) == (0.6, 4, {"no_prediction": 1, "not_inside": 1})
    rows = [json.loads(line) for line in (tmp_path / "out" / "step-7.jsonl").read_bytes().splitlines()]
    assert [row["score"] for row in rows] == [1.0, 1.0, 0.0, 1.0, 0.0]
    assert [row["contains_reason"] for row in rows] == [None, None, "no_prediction", None, "not_inside"]
    assert scalars(folder)["benchbook/contains"] == [(7, pytest.approx(0.6))]


def test_predictions_scorecard_and_tensorboard(tmp_path: Path, evalset: Path) -> None:
    sizes: list[int] = []

    def in_batches(prompts: list[str]) -> Sequence[str | None]:
        sizes.append(len(prompts))
        return generate(prompts)

    with CheckpointEvaluation(evalset, tmp_path / "out", tensorboard=tmp_path / "tb", batch_size=2) as evaluation:
        card = evaluation.evaluate(100, in_batches)
        evaluation.evaluate(200, generate)
    assert sizes == [2, 2, 1]
    assert (card.n_items, card.n_scored, card.primary_score) == (5, 4, 0.4)
    path = tmp_path / "out" / "step-100.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(row["item_id"], row["correctness"]) for row in rows] == [
        ("a", 1.0), ("b", 1.0), ("c", 0.0), ("d", 0.0), ("e", 0.0),
    ]  # fmt: skip
    assert rows[1] == {"item_id": "b", "expected": "Paris", "predicted": "Well.\nAnswer: PARIS", "correctness": 1.0}
    assert rows[4]["predicted"] == "\ud800"
    assert scalars(tmp_path / "tb") == {
        "benchbook/answer_correctness": [(100, pytest.approx(0.4)), (200, pytest.approx(0.4))],
        "benchbook/n_scored": [(100, 4.0), (200, 4.0)],
        "benchbook/misses/no_prediction": [(100, 1.0), (200, 1.0)],
        "benchbook/misses/expected_inside_longer_text": [(100, 1.0), (200, 1.0)],
        "benchbook/misses/numerically_equal": [(100, 0.0), (200, 0.0)],
        "benchbook/misses/different": [(100, 1.0), (200, 1.0)],
    }


def test_predictions_are_read_back_as_any_others(tmp_path: Path, evalset: Path) -> None:
    with CheckpointEvaluation(evalset, tmp_path) as evaluation:
        evaluation.evaluate(1, lambda prompts: ["2"] * len(prompts))
    frame = read_predictions(tmp_path / "step-1.jsonl").frame
    assert frame["item_id"].to_list() == ["a", "b", "c", "d", "e"]
    assert frame["predicted"].to_list() == ["2"] * 5


def test_a_step_that_comes_again_replaces_nothing(tmp_path: Path, evalset: Path) -> None:
    with CheckpointEvaluation(evalset, tmp_path / "out") as evaluation:
        for _ in range(3):
            evaluation.evaluate(7, generate)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "step-7.2.jsonl",
        "step-7.3.jsonl",
        "step-7.jsonl",
    ]


class ModelBrokeError(Exception):
    pass


def broken(prompts: list[str]) -> Sequence[str | None]:
    if "2 + 2?" in prompts:
        raise ModelBrokeError("out of memory")
    return generate(prompts)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (broken, ModelBrokeError, "out of memory"),
        (lambda prompts: ["2"], UsageError, "generate gave 1 outputs for 2 prompts; expected one for each, in order"),
        (lambda prompts: [7] * len(prompts), UsageError, "generate gave int for item 'a'; expected a text, or None"),
    ],
)
def test_a_failure_leaves_nothing(
    tmp_path: Path, evalset: Path, bad: Any, error: type[Exception], message: str
) -> None:
    with (
        CheckpointEvaluation(evalset, tmp_path / "out", tensorboard=tmp_path / "tb", batch_size=2) as evaluation,
        pytest.raises(error, match=message),
    ):
        evaluation.evaluate(1, bad)
    assert list((tmp_path / "out").iterdir()) == []
    assert not (tmp_path / "tb").exists()


def test_an_eval_set_without_answers_is_refused_before_training(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"id": "a", "prompt": "?"}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"set\.jsonl:1: expected_answer: found nothing"):
        CheckpointEvaluation(path, tmp_path)


def test_what_is_missing_is_named(tmp_path: Path, evalset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer", None)
    with pytest.raises(UsageError, match=r"pip install 'benchbook\[tensorboard\]'"):
        ScalarLog(tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with (
        CheckpointEvaluation(evalset, tmp_path) as evaluation,
        pytest.raises(UsageError, match="pip install transformers"),
    ):
        checkpoint_callback(evaluation, lambda model, prompts: prompts)


@pytest.mark.parametrize("event", ["on_save", "on_train_end"])
def test_events_have_the_documented_parameters(event: str) -> None:
    parameters = inspect.signature(getattr(CheckpointHooks, event)).parameters
    assert list(parameters) == EVENT_PARAMETERS
    assert parameters["kwargs"].kind is inspect.Parameter.VAR_KEYWORD


def asked(model: Any, prompts: list[str]) -> Sequence[str | None]:
    assert model == "the model"
    return generate(prompts)


def test_only_the_first_process_evaluates(tmp_path: Path, evalset: Path) -> None:
    hooks = CheckpointHooks(CheckpointEvaluation(evalset, tmp_path / "out"), asked)
    keywords = dict.fromkeys(EVENT_KEYWORDS) | {"model": "the model"}
    hooks.on_save(None, types.SimpleNamespace(is_world_process_zero=False, global_step=10), None, **keywords)
    assert not (tmp_path / "out").exists()
    hooks.on_save(None, types.SimpleNamespace(is_world_process_zero=True, global_step=20), None, **keywords)
    hooks.on_train_end(None, None, None, **keywords)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["step-20.jsonl"]


@pytest.mark.slow
def test_in_the_hands_of_the_real_trainer(tmp_path: Path, evalset: Path) -> None:
    handler = pytest.importorskip("transformers.trainer_callback", reason="transformers is not installed")
    evaluation = CheckpointEvaluation(evalset, tmp_path / "out", tensorboard=tmp_path / "tb")
    callback = checkpoint_callback(evaluation, asked)
    assert isinstance(callback, handler.TrainerCallback)
    for event in ("on_save", "on_train_end"):
        assert list(inspect.signature(getattr(handler.TrainerCallback, event)).parameters) == EVENT_PARAMETERS
    flow = handler.DefaultFlowCallback()
    caller = handler.CallbackHandler([flow, callback], "the model", None, None, None)
    state = handler.TrainerState(global_step=30, is_world_process_zero=True)
    control = handler.TrainerControl(should_save=True)
    assert not caller.on_save(None, state, control).should_save
    caller.on_train_end(None, state, control)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["step-30.jsonl"]
    assert scalars(tmp_path / "tb")["benchbook/n_scored"] == [(30, 4.0)]
