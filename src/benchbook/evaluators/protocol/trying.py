"""The question by which a judge is tried before an experiment: about the first output, read as that reads it."""

from __future__ import annotations

from benchbook.ask.probing import Trial
from benchbook.evaluators.protocol.plan import ProtocolSamples
from benchbook.evaluators.protocol.requests import ProtocolRequests
from benchbook.evaluators.protocol.spec import Protocol, reply_schema
from benchbook.evaluators.protocol.validity import Options, validate


def trial_of(samples: ProtocolSamples, judge: int, protocol: Protocol) -> Trial:
    """The trial of one judge. A quote that is not found costs one evaluation; what is no JSON would cost them all."""
    sample = samples[judge]  # the first output, which every judge is asked about in turn
    options = Options(reasoning_tags=samples.plan.judges[judge].role.reasoning_tags, protocol=protocol)
    text, asked = samples.text_of(sample).text, sample.asked.meta()

    def fault_of(reply: str) -> str | None:
        found = validate(reply, output_text=text, asked=asked, evaluation_set=None, options=options)
        unreadable = (one.message for one in found.details if one.flag == "UNPARSABLE_OUTPUT")
        return next(unreadable, None)

    return Trial(ProtocolRequests(samples).prompt(sample), reply_schema(protocol), fault_of)
