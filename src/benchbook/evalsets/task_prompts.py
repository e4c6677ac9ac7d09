"""What the targets were asked: the prompt of each question under each variant, as judges have to see it (SPEC P1)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import InputError
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
        for name in ("question_id", "prompt"):
            if not isinstance(row.get(name), str) or not row[name].strip():
                raise InputError(path, line=line, field=name, found=repr(row.get(name))[:80], expected="a text")
        variant = row.get("prompt_variant")
        if variant is not None and not isinstance(variant, str):
            raise InputError(path, line=line, field="prompt_variant", found=repr(variant)[:80], expected="a text")
        key = (row["question_id"], variant)
        if key in prompts:
            raise InputError(path, line=line, field="question_id", found="the prompt again", expected="one each")
        prompts[key] = row["prompt"]
    return TaskPrompts(prompts)
