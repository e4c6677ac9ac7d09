"""A judge protocol, compiled: what judges score, what they must quote, and which verdict follows (SPEC P2 to P4).

Everything in this room reads its dimensions, scales, thresholds and prompts here and nowhere else. `judge_protocol@v1`
is one protocol among others: its frozen files are of a form of their own, which `protocol_v1` compiles. What all
protocols share, the form of a reply about an output, is `form`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

from benchbook.evaluators.quotes import LengthRule
from benchbook.specs import load_spec

SPEC_ID = "judge_protocol@v1"
# The names that a prompt's messages may have between double braces: four are of a request, four of the protocol itself.
PLACEHOLDERS = ("task", "output_text", "meta", "fence", "dimensions", "verdict", "evidence", "reply")
OVERALL = "overall_score"
Method = Literal["cross_judge", "self_judge"]
Verdict = Literal["PASS", "PARTIAL", "FAIL"]
VERDICTS: tuple[Verdict, ...] = ("PASS", "PARTIAL", "FAIL")


@dataclass(frozen=True, slots=True)
class Form:
    """The names of a reply and of the output that it is about, under every protocol; `spec.toml` explains each."""

    methods: tuple[Method, ...]
    identifiers: tuple[str, ...]
    meta: tuple[str, ...]
    flags: tuple[str, ...]


@cache
def form() -> Form:
    """The form in the frozen files. Raises: SpecChangedError if they were changed."""
    reply = load_spec(SPEC_ID).settings["reply"]
    return Form(*(tuple(reply[name]) for name in ("methods", "identifiers", "meta", "flags")))


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that a judge scores: an integer from `lowest` to `highest`."""

    name: str  # in replies, and of the column of a row
    question: str
    lowest: int
    highest: int
    must_quote: bool = True  # an evaluation without evidence for it does not count

    @property
    def scores(self) -> range:
        return range(self.lowest, self.highest + 1)


@dataclass(frozen=True, slots=True)
class MethodPrompt:
    """The prompt of one method, or of both: its messages, whose placeholders are replaced (R2.2)."""

    name: str
    methods: tuple[Method, ...]
    messages: tuple[tuple[str, str], ...]  # role, text

    @property
    def text(self) -> str:
        """One message of the user's as it stands; several with their roles between them."""
        if [role for role, _ in self.messages] == ["user"]:
            return self.messages[0][1]
        return "".join(f"--- {role}\n{text.rstrip()}\n" for role, text in self.messages)

    @property
    def sha256(self) -> str:
        """The hash by which rows name it."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Protocol:
    """All that decides what a judge is asked, and what its reply is worth, under one protocol."""

    id: str
    sha256: str
    about: str
    dimensions: tuple[Dimension, ...]
    fail_at_most: int  # sums of the dimensions' scores: FAIL goes first, what is neither FAIL nor PASS is PARTIAL
    pass_at_least: int
    length: LengthRule
    max_quote_words: int
    max_evidence_items: int
    prompts: tuple[MethodPrompt, ...]
    # The parameters that judges are asked with, unless others are given (R2.3).
    generation: Mapping[str, Any] = field(hash=False)
    # Of probes whose answer is known: the dimension that is at its lowest where nothing is there, and that of a text
    # about another question. None: the verdict alone is looked at.
    if_empty: str | None = None
    if_off_the_task: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict, compare=False)  # a user's own, as they stand

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The dimensions' names."""
        return tuple(one.name for one in self.dimensions)

    @cached_property
    def scores(self) -> Mapping[str, range]:
        """The possible scores by dimension."""
        return {one.name: one.scores for one in self.dimensions}

    @property
    def lowest(self) -> int:
        """The lowest sum."""
        return sum(one.lowest for one in self.dimensions)

    @property
    def highest(self) -> int:
        return sum(one.highest for one in self.dimensions)

    @property
    def span(self) -> int:
        """How many points lie between the lowest sum and the highest."""
        return self.highest - self.lowest

    @cached_property
    def one_scale(self) -> range | None:
        """The scale of all dimensions; None where they have several."""
        scales = {(one.lowest, one.highest) for one in self.dimensions}
        return self.dimensions[0].scores if len(scales) == 1 else None

    def verdict_for(self, total: int) -> Verdict:
        """P3. FAIL goes first. Under `judge_protocol@v1` a sum of 7 leaves no dimension at 0, so the source's condition
        on D1 and D2 says no more."""
        if total <= self.fail_at_most:
            return "FAIL"
        return "PASS" if total >= self.pass_at_least else "PARTIAL"

    def verdict(self, scores: Sequence[int]) -> Verdict:
        """FAIL, PASS or PARTIAL from the dimensions' scores, in their order (SPEC P3).

        Raises: ValueError for other scores: nothing is known of a sum that holds a 3 where 2 is the most.
        """
        if len(scores) != len(self.dimensions) or not all(
            score in one.scores for score, one in zip(scores, self.dimensions, strict=True)
        ):
            raise ValueError(f"found {tuple(scores)}; expected {len(self.dimensions)} scores of {self.scale_words}")
        return self.verdict_for(sum(scores))

    @property
    def scale_words(self) -> str:
        """`0, 1 or 2`, where all dimensions have one scale."""
        return "each dimension's scale" if self.one_scale is None else scores_words(self.one_scale)

    def prompt_of(self, method: str) -> MethodPrompt:
        """The prompt of this method."""
        return next(one for one in self.prompts if method in one.methods)

    @cached_property
    def prompt_sha256(self) -> str:
        """The hash of all prompts: of one alone, that of its text."""
        if len(self.prompts) == 1:
            return self.prompts[0].sha256
        parts = "".join(f"{one.name}\0{one.sha256}\n" for one in self.prompts)
        return hashlib.sha256(parts.encode()).hexdigest()


def scores_words(scale: range) -> str:
    """`0, 1 or 2`; a longer scale by its ends."""
    if len(scale) > 5:
        return f"{scale[0]} to {scale[-1]}"
    return f"{', '.join(map(str, scale[:-1]))} or {scale[-1]}"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def all_dimensions(n: int) -> str:
    """`the four dimensions`."""
    return "the dimension" if n == 1 else f"the {count_words(n)} dimensions"


def count_words(n: int) -> str:
    """A number in words, up to ten in letters."""
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def reply_schema(protocol: Protocol) -> dict[str, Any]:
    """The JSON Schema of a judge's reply, as it is asked for where a server takes one (R2.3)."""
    known = form()
    texts = {name: {"type": "string"} for name in known.meta}
    overall = range(protocol.lowest, protocol.highest + 1)
    scales = {name: _integers(scale) for name, scale in {**protocol.scores, OVERALL: overall}.items()}
    evidence = {
        "dimension": _one_of(protocol.names),
        "quote": {"type": "string"},
        "reason": {"type": "string"},
    }
    return _object(
        {
            "meta": _object(texts | {"method": _one_of(known.methods)}),
            "scores": _object(scales),
            "verdict": _one_of(VERDICTS),
            "flags": {"type": "array", "items": _one_of(known.flags)},
            "evidence": {"type": "array", "items": _object(evidence)},
            "notes": {"type": "string"},
        }
    )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def _integers(scale: range) -> dict[str, Any]:
    return {"type": "integer", "enum": list(scale)}


# ── judge_protocol@v1 ────────────────────────────────────────────────────────────────────────────────────────

_QUESTIONS = {
    "FORMAT_COMPLIANCE": "Has the text the structure that the task asks for?",
    "INSTRUCTION_COMPLIANCE": "Are the task's constraints kept?",
    "SEMANTIC_FIDELITY": "Does the text do what the task means?",
    "COMPLETENESS": "Is every required part there?",
}


@cache
def protocol_v1() -> Protocol:
    """`judge_protocol@v1` out of its frozen files, whose form is older than that of a protocol as data.

    Raises: SpecChangedError if they were changed.
    """
    frozen = load_spec(SPEC_ID)
    settings = frozen.settings
    reply, verdict, evidence = settings["reply"], settings["verdict"], settings["evidence"]
    lowest, highest = reply["scores"][0], reply["scores"][-1]
    return Protocol(
        id=frozen.id,
        sha256=frozen.sha256,
        about=settings["title"],
        dimensions=tuple(Dimension(name, _QUESTIONS[name], lowest, highest) for name in reply["dimensions"]),
        fail_at_most=verdict["fail_at_most"],
        pass_at_least=verdict["pass_at_least"],
        length=LengthRule(evidence["min_fragment_length"], evidence["cjk_character_length"]),
        max_quote_words=evidence["max_quote_words"],
        max_evidence_items=evidence["max_items"],
        prompts=(MethodPrompt("prompt", form().methods, (("user", frozen.text(settings["template"])),)),),
        generation=settings["generation"],
        if_empty="COMPLETENESS",
        if_off_the_task="SEMANTIC_FIDELITY",
    )
