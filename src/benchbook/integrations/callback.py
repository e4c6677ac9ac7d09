"""A Hugging Face `TrainerCallback` that evaluates each checkpoint when it has been saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchbook.errors import UsageError
from benchbook.integrations.checkpoint_evaluation import CheckpointEvaluation

# The model that is trained, and prompts, to outputs; None where it gave none.
ModelGenerate = Callable[[Any, list[str]], Sequence[str | None]]


class CheckpointHooks:
    """The callback's handlers of the events of a `Trainer`; the parameters are those of `TrainerCallback`."""

    def __init__(self, evaluation: CheckpointEvaluation, generate: ModelGenerate) -> None:
        self._evaluation = evaluation
        self._generate = generate

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Evaluate, in the process that also writes the logs."""
        del args, control
        if state.is_world_process_zero:
            model = kwargs["model"]
            self._evaluation.evaluate(state.global_step, lambda prompts: self._generate(model, prompts))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Close the files."""
        del args, state, control, kwargs
        self._evaluation.close()


def checkpoint_callback(evaluation: CheckpointEvaluation, generate: ModelGenerate) -> Any:
    """The callback, for `Trainer(…, callbacks=[…])` and TRL's trainers.

    `generate(model, prompts)` gives an output for each prompt; how (chat template, decoding, batches, evaluation mode)
    is the caller's. What it raises ends the training, as an error in the trainer's own evaluation does.

    Raises: UsageError where transformers is not installed.
    """
    try:
        from transformers import TrainerCallback  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise UsageError("the callback needs Hugging Face's trainer: pip install transformers") from None
    return type("BenchbookCallback", (CheckpointHooks, TrainerCallback), {})(evaluation, generate)
