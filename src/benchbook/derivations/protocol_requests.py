"""Renders every request of a `judge_protocol@v1` plan again: while judging, and to verify."""

from __future__ import annotations

from functools import cached_property

import msgspec

from benchbook.derivations.protocol_samples import ProtocolSample, ProtocolSamples
from benchbook.derivations.requests import body_of, generation_of
from benchbook.providers.calls import Generation
from benchbook.scorers.judge_protocol_prompt import render_prompt
from benchbook.specs import load_spec

__all__ = ["ProtocolRequests"]


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
