"""A judge protocol in words, for `benchbook protocol check`: dimensions, verdicts, evidence, and its prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.evalsets.conversations import as_messages
from benchbook.evaluators.protocol.folders import protocol_asked_for
from benchbook.evaluators.protocol.requests import render_prompt
from benchbook.evaluators.protocol.spec import OVERALL, MethodPrompt, Protocol, form


def described_protocol(folder: str, *, with_prompts: bool) -> dict[str, Any]:
    """The protocol of a folder, or the one that is shipped; with what judges are asked about an output, if wanted.

    Raises: SpecError with every fault of the folder; ConfigError for another evaluator.
    """
    found = protocol_asked_for(folder).protocol
    return _fields(found) | ({"asked": _asked(found)} if with_prompts else {})


def _fields(found: Protocol) -> dict[str, Any]:
    return {
        "spec": found.id,
        "sha256": found.sha256,
        "about": found.about,
        "dimensions": [
            {"name": one.name, "question": one.question, "scale": list(one.scores), "must_quote": one.must_quote}
            for one in found.dimensions
        ],
        OVERALL: [found.lowest, found.highest],
        "verdict": {"fail_at_most": found.fail_at_most, "pass_at_least": found.pass_at_least},
        "evidence": {
            "max_quote_words": found.max_quote_words,
            "min_quote_characters": found.length.min_length,
        },
        "generation": dict(found.generation),
        "prompts": [
            {"name": one.name, "methods": list(one.methods), "sha256": one.sha256, "fenced": _is_fenced(one)}
            for one in found.prompts
        ],
    }


def _is_fenced(prompt: MethodPrompt) -> bool:
    """True if the judged text stands between marks that nobody can have written into it."""
    return "{{fence}}" in prompt.text


def _asked(found: Protocol) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The messages by prompt that ask a judge about an output of which nothing is known."""
    cell = {name: f"({name})" for name in ("judge_model", *form().identifiers)}
    asked: dict[str, Sequence[Mapping[str, Any]]] = {}
    for prompt in found.prompts:
        about = cell | {"method": prompt.methods[0]}
        rendered = render_prompt(
            found, task="(the task)", output_text="(the judged text)", asked=about, date="2026-01-01"
        )
        asked[prompt.name] = as_messages(rendered)
    return asked
