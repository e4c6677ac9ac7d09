"""The one prompt of `judge_protocol@v1`, with the judged text fenced off (issue 5)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from itertools import count

from benchbook.scorers.judge_protocol_spec import SPEC_ID
from benchbook.specs import Template, load_spec

__all__ = ["fence_for", "prompt_values", "render_prompt"]


def fence_for(*texts: str) -> str:
    """A mark that stands in none of `texts`, and is the same whenever it is made for the same texts (C6).

    It is a hash of what it fences, so whoever wrote a text can not have written its mark into it: that changes the
    mark.
    """
    whole = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "big") + data)
    seed = whole.digest()
    marks = (hashlib.sha256(seed + attempt.to_bytes(8, "big")).hexdigest()[:32] for attempt in count())
    return next(mark for mark in marks if not any(mark in text for text in texts))


def prompt_values(*, task: str, output_text: str, asked: Mapping[str, str], date: str) -> dict[str, object]:
    """What the template's placeholders stand for.

    `task` is the prompt that the target was given; `asked` the judge, the method and the four identifiers (P2);
    `date` the day of the judgement, `YYYY-MM-DD` in UTC: a recorded fact, so that the prompt can be made again.
    """
    return {
        "task": task,
        "output_text": output_text,
        "meta": {**asked, "timestamp": date},  # inserted as JSON, so that an odd file name stays one string
        "fence": fence_for(task, output_text),
    }


def render_prompt(*, task: str, output_text: str, asked: Mapping[str, str], date: str) -> str:
    """The prompt for one evaluation: one user message (R2.3), byte for byte the same for the same values."""
    return _template().render(prompt_values(task=task, output_text=output_text, asked=asked, date=date))


@cache
def _template() -> Template:
    return Template(load_spec(SPEC_ID).text("prompt.txt"))
