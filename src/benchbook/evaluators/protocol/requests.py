"""Renders every request of a protocol's plan again: while judging, and to verify."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from itertools import count
from typing import Any

from benchbook.ask.requests import body_of, schema_asked
from benchbook.evalsets.conversations import Message
from benchbook.evaluators.protocol.plan import ProtocolSample, ProtocolSamples
from benchbook.evaluators.protocol.spec import OVERALL, VERDICTS, MethodPrompt, Protocol, reply_schema, scores_words
from benchbook.specs import Template


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
    """The values of the placeholders in one request.

    `task` is the prompt that the target was given; `asked` the judge, the method and the four identifiers (P2);
    `date` the day of the judgement, `YYYY-MM-DD` in UTC: a recorded fact, so that the prompt can be made again.
    """
    return {
        "task": task,
        "output_text": output_text,
        "meta": {**asked, "timestamp": date},  # inserted as JSON, so that an odd file name stays one string
        "fence": fence_for(task, output_text),
    }


# ── what a protocol says of itself ───────────────────────────────────────────────────────────────────────────


def dimensions_text(protocol: Protocol) -> str:
    """The text for `{{dimensions}}`: each with its scale and its question."""
    return "\n".join(f"- {one.name} ({scores_words(one.scores)}): {one.question}" for one in protocol.dimensions)


def verdict_text(protocol: Protocol) -> str:
    """The text for `{{verdict}}`."""
    return (
        f"{OVERALL} is the sum of the scores ({protocol.lowest} to {protocol.highest}).\n"
        f"- FAIL if {OVERALL} <= {protocol.fail_at_most}\n"
        f"- PASS if {OVERALL} >= {protocol.pass_at_least}\n"
        "- PARTIAL otherwise"
    )


def evidence_text(protocol: Protocol) -> str:
    """The text for `{{evidence}}`: what must be quoted, and how long a quote may be."""
    quoted = ", ".join(one.name for one in protocol.dimensions if one.must_quote)
    needed = f"Give at least one item for each of: {quoted}." if quoted else "Evidence may be empty."
    return (
        f"{needed} An item has dimension, quote and reason.\n"
        "- quote: copied from the judged text character by character, in its own language, "
        f"1 to {protocol.max_quote_words} words. Every quote is looked up in the judged text.\n"
        '- To quote two places, join them with " ... " in the order in which they stand in the text, each at least '
        f"{protocol.length.min_length} characters long.\n"
        "- Where something is missing, quote what stands where it should have been. Never leave a quote empty.\n"
        "- reason: one short sentence saying why the quote supports the score."
    )


def reply_text(protocol: Protocol) -> str:
    """The text for `{{reply}}`: the form of the JSON object that the judge is to answer with."""
    scores = [f'    "{one.name}": {"|".join(map(str, one.scores))},' for one in protocol.dimensions]
    items = [f'    {{"dimension": "{name}", "quote": "...", "reason": "..."}}' for name in _shown_in_evidence(protocol)]
    verdicts = "|".join(f'"{one}"' for one in VERDICTS)
    return "\n".join(
        [
            "{",
            '  "meta": META,',
            '  "scores": {',
            *scores,
            f'    "{OVERALL}": {protocol.lowest} to {protocol.highest}',
            "  },",
            f'  "verdict": {verdicts},',
            '  "flags": [],',
            '  "evidence": [',
            ",\n".join(items),
            "  ],",
            '  "notes": "one sentence, or an empty string"',
            "}",
        ]
    )


def _shown_in_evidence(protocol: Protocol) -> tuple[str, ...]:
    return tuple(one.name for one in protocol.dimensions if one.must_quote) or protocol.names


# ── a request ────────────────────────────────────────────────────────────────────────────────────────────────


class RenderedPrompt:
    """A prompt's messages, split once, so that a value's own braces are never read (R2.2)."""

    def __init__(self, prompt: MethodPrompt, protocol: Protocol) -> None:
        self._messages = [(role, Template(text)) for role, text in prompt.messages]
        self._of_protocol: dict[str, Any] = {
            "dimensions": dimensions_text(protocol),
            "verdict": verdict_text(protocol),
            "evidence": evidence_text(protocol),
            "reply": reply_text(protocol),
        }

    def render(self, values: Mapping[str, object]) -> str | list[Message]:
        """The text of a message of the user's that stands alone; else all messages."""
        whole = {**self._of_protocol, **values}
        if [role for role, _ in self._messages] == ["user"]:
            return self._messages[0][1].render(whole)
        return [{"role": role, "content": template.render(whole)} for role, template in self._messages]


def render_prompt(
    protocol: Protocol, *, task: str, output_text: str, asked: Mapping[str, str], date: str
) -> str | list[Message]:
    """One judge's prompt, byte for byte the same for the same values; `asked` names the method (P2)."""
    prompt = RenderedPrompt(protocol.prompt_of(asked["method"]), protocol)
    return prompt.render(prompt_values(task=task, output_text=output_text, asked=asked, date=date))


class ProtocolRequests:
    """The bytes of each request that a plan leads to."""

    def __init__(self, samples: ProtocolSamples) -> None:
        self._samples = samples
        protocol = samples.protocol
        self._prompts: dict[str, RenderedPrompt] = {
            method: RenderedPrompt(prompt, protocol) for prompt in protocol.prompts for method in prompt.methods
        }

    def body(self, sample: ProtocolSample) -> bytes:
        """The request to the sample's judge. Raises: ValueError for one that judged elsewhere."""
        if sample.judge is None:
            raise ValueError("a judgement that was made elsewhere is not asked for")
        role = self._samples.plan.judges[sample.judge].role
        return body_of(role, self.prompt(sample), self._schemas[sample.judge])

    def prompt(self, sample: ProtocolSample) -> str | list[Message]:
        """The question to the sample's judge."""
        values = prompt_values(
            task=self._samples.task_of(sample),
            output_text=self._samples.text_of(sample).text,
            asked=sample.asked.meta(),
            date=self._samples.plan.date,
        )
        return self._prompts[sample.asked.method].render(values)

    @cached_property
    def _schemas(self) -> tuple[Mapping[str, Any] | None, ...]:
        schema = reply_schema(self._samples.protocol)
        return tuple(schema_asked(judge.role, schema) for judge in self._samples.plan.judges)
