"""Renders every request of a `judge_protocol@v1` plan again: while judging, and to verify."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import count

import msgspec

from benchbook.ask.providers.calls import Generation
from benchbook.ask.requests import body_of, generation_of
from benchbook.evaluators.protocol.samples import ProtocolSample, ProtocolSamples
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.specs import Template, load_spec

__all__ = ["ProtocolRequests", "fence_for", "prompt_values", "render_prompt"]


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


class ProtocolRequests:
    """The bytes of each request that a plan leads to."""

    def __init__(self, samples: ProtocolSamples) -> None:
        self._samples = samples

    def body(self, sample: ProtocolSample) -> bytes:
        """The request to the sample's judge. Raises: ValueError for one that judged elsewhere."""
        if sample.judge is None:
            raise ValueError("a judgement that was made elsewhere is not asked for")
        plan = self._samples.plan
        prompt = render_prompt(
            task=self._samples.task_of(sample),
            output_text=self._samples.text_of(sample).text,
            asked=sample.asked.meta(),
            date=plan.date,
        )
        return body_of(plan.judges[sample.judge].role, prompt, self._generations[sample.judge])

    @cached_property
    def _generations(self) -> tuple[Generation, ...]:
        plan = self._samples.plan
        schema = msgspec.json.decode(load_spec(plan.spec).files["reply.schema.json"])
        return tuple(generation_of(judge.role, schema) for judge in plan.judges)
