"""What the targets were asked: the prompt of each question under each variant, as judges have to see it (SPEC P1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import InputError
from benchbook.evalsets.table_values import id_at, is_missing, text_at
from benchbook.evalsets.tabular import TableForm, read_table

__all__ = ["TaskPrompts", "read_task_prompts"]


class TaskPrompts:
    """Prompts by question and variant. One that was given without a variant holds for all variants of its question."""

    def __init__(self, prompts: Mapping[tuple[str, str | None], str]) -> None:
        self._prompts = prompts

    def of(self, question_id: str, prompt_variant: str) -> str | None:
        """The prompt, or None where there is none."""
        return self._prompts.get((question_id, prompt_variant), self._prompts.get((question_id, None)))


def read_task_prompts(path: str | Path, form: TableForm | None = None) -> TaskPrompts:
    """A table (JSONL, CSV, Parquet) with `question_id`, `prompt` and, where it differs, `prompt_variant`.

    Raises: InputError naming the line and the field; UsageError where the file can't be read.
    """
    prompts: dict[tuple[str, str | None], str] = {}
    for line, row in read_table(path, form):
        question_id = id_at(path, line, "question_id", row.get("question_id"))
        prompt = text_at(path, line, "prompt", row.get("prompt"))
        variant = row.get("prompt_variant")
        key = (question_id, None if is_missing(variant) else id_at(path, line, "prompt_variant", variant))
        if key in prompts:
            raise InputError(path, line=line, field="question_id", found="the prompt again", expected="one each")
        prompts[key] = prompt
    return TaskPrompts(prompts)
