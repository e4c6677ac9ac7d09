"""The frozen numbers and names of `judge_protocol@v1`, typed (SPEC P2 to P4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from benchbook.evaluators.quotes import LengthRule
from benchbook.specs import load_spec

__all__ = ["SPEC_ID", "Protocol", "protocol"]


SPEC_ID = "judge_protocol@v1"


@dataclass(frozen=True, slots=True)
class Protocol:
    """What `spec.toml` says; each name is explained there."""

    dimensions: tuple[str, ...]
    scores: frozenset[int]
    methods: frozenset[str]
    identifiers: tuple[str, ...]
    meta: tuple[str, ...]
    flags: tuple[str, ...]
    fail_at_most: int
    pass_at_least: int
    length: LengthRule
    max_quote_words: int
    max_evidence_items: int


@cache
def protocol() -> Protocol:
    """`judge_protocol@v1` out of its frozen files. Raises: SpecChangedError if they were changed."""
    settings = load_spec(SPEC_ID).settings
    reply, verdict, evidence = settings["reply"], settings["verdict"], settings["evidence"]
    return Protocol(
        dimensions=tuple(reply["dimensions"]),
        scores=frozenset(reply["scores"]),
        methods=frozenset(reply["methods"]),
        identifiers=tuple(reply["identifiers"]),
        meta=tuple(reply["meta"]),
        flags=tuple(reply["flags"]),
        fail_at_most=verdict["fail_at_most"],
        pass_at_least=verdict["pass_at_least"],
        length=LengthRule(evidence["min_fragment_length"], evidence["cjk_character_length"]),
        max_quote_words=evidence["max_quote_words"],
        max_evidence_items=evidence["max_items"],
    )
