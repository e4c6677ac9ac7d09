"""Which of a judge's evaluations count, and why the others do not (SPEC P2 to P4).

    validity    validate -> Evaluation; Options; parse_line for the command line
    reply       one strict JSON object and its typed fields; who declines to judge
    scores      scores and verdict (P3)          identity    identifiers, set, method
    evidence    every quote looked up (P4.1)     findings    the flags and their details

The rule where SPEC is silent: a fault is said once, by the clause that names it. What is of another type is
UNPARSABLE_OUTPUT and nothing is concluded from its value. A null is a value that nobody gave. Keys beyond those of P2
are allowed everywhere but in `scores`, where they are added dimensions (R3.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from benchbook.errors import ConfigError
from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.protocol.evidence import Evidence, check_evidence
from benchbook.evaluators.protocol.findings import EDITION, Detail, Edition, Findings, Flag, SameModel, said
from benchbook.evaluators.protocol.identity import EvaluationSet, check_meta
from benchbook.evaluators.protocol.reply import ReadReply, declines, json_type, read_reply, typed_field
from benchbook.evaluators.protocol.scores import check_scores, check_verdict, readable_scores
from benchbook.evaluators.protocol.spec import Protocol, Verdict, form, protocol_v1
from benchbook.evaluators.quotes import LocatedKind

__all__ = ["Evaluation", "EvidenceRule", "Options", "parse_line", "validate"]


EvidenceRule = Literal["must_be_found", "report"]
_EVIDENCE_RULES: tuple[EvidenceRule, ...] = ("must_be_found", "report")
_EDITIONS: tuple[Edition, ...] = (1, 2)
_OPTIONS = ("evidence", "reasoning_tags", "same_model", "edition")


@dataclass(frozen=True, slots=True)
class Options:
    """What an experiment declares before its first call; part of its frozen hash."""

    evidence: EvidenceRule = "must_be_found"  # report: a quote not found is counted, and invalidates nothing (P4.1)
    reasoning_tags: tuple[str, ...] = ()  # R3.7
    same_model: SameModel = field(default_factory=SameModel)
    edition: Edition = EDITION  # 1: the rules before derivation 3, which old records keep
    protocol: Protocol = field(default_factory=protocol_v1)

    @classmethod
    def read(cls, options: Mapping[str, Any], protocol: Protocol) -> Options:
        """Options as a file gives them: `evidence`, `reasoning_tags`, `same_model` (alias -> model), `edition`.

        Raises: ConfigError for an unknown name or value. An option with a typing error must not be the default.
        """
        for name in options:
            if name not in _OPTIONS:
                raise ConfigError(f"options.{name}", said(options[name]), f"one of {', '.join(_OPTIONS)}")
        rule = options.get("evidence", "must_be_found")
        if rule not in _EVIDENCE_RULES:
            raise ConfigError("options.evidence", said(rule), " or ".join(_EVIDENCE_RULES))
        tags = options.get("reasoning_tags", ())
        if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
            raise ConfigError("options.reasoning_tags", said(tags), "a list of strings")
        given = options.get("edition", EDITION)
        edition = next((one for one in _EDITIONS if type(given) is int and one == given), None)
        if edition is None:
            raise ConfigError("options.edition", said(given), " or ".join(map(str, _EDITIONS)))
        return cls(rule, tuple(tags), SameModel(options.get("same_model")), edition, protocol)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one reply is worth. `valid` is not about quality: a FAIL may be valid, a PASS invalid (P4.2)."""

    flags: tuple[Flag, ...]  # all that apply, in the spec's order
    details: tuple[Detail, ...]  # a bounded number; `n_faults` counts all
    n_faults: int
    scores: Mapping[str, int] | None  # by dimension; None unless each is of its scale
    verdict: Verdict | None  # from the scores, by P3; None where there are none
    meta: Mapping[str, str]  # the strings that the reply gave: the judge's text, to be escaped wherever it goes
    evidence: tuple[Evidence, ...]
    reasoning: str | None  # what a declared tag held (R3.7)
    body: str  # what was read: the reply without it

    @property
    def valid(self) -> bool:
        return not self.flags

    @property
    def located(self) -> tuple[LocatedKind | None, ...]:
        """How each quote was found, in the reply's order; None for an item without a quote."""
        return tuple(item.located.kind if item.located else None for item in self.evidence)

    @property
    def overall_score(self) -> int | None:
        """The sum of the dimensions' scores. In a valid evaluation the judge's own is the same."""
        return None if self.scores is None else sum(self.scores.values())


def validate(
    reply: str,
    *,
    output_text: str | NormalisedText,
    asked: Mapping[str, str] | None = None,
    evaluation_set: EvaluationSet | Iterable[Mapping[str, Any]] | None = None,
    options: Options | None = None,
) -> Evaluation:
    """Read one judge's reply and find every rule of P4 that it breaks.

    `output_text` is the text that the judge saw; for several replies about it make one `NormalisedText`. `asked` holds
    the judge, the method and the four identifiers that it was asked about; names that are not in it are not compared.
    `evaluation_set` likewise: for many replies make one `EvaluationSet`, with the options' `same_model`; None where
    there is no set to be in.
    """
    options = options or Options()
    text = output_text if isinstance(output_text, NormalisedText) else NormalisedText(output_text)
    if evaluation_set is not None and not isinstance(evaluation_set, EvaluationSet):
        evaluation_set = EvaluationSet(evaluation_set, options.same_model)
    findings, protocol = Findings(options.edition), options.protocol
    read = read_reply(reply, protocol.names, options.reasoning_tags, findings)
    if read.value is None:
        return _evaluation(findings, protocol, None, {}, (), read)
    meta = check_meta(read.value, asked or {}, evaluation_set, options.same_model, findings)
    scores = check_scores(read.value, protocol, findings)
    check_verdict(read.value, scores, protocol, findings)
    _check_own_flags(read.value, findings)
    must_be_found = options.evidence == "must_be_found"
    evidence = check_evidence(read.value, text, protocol, must_be_found=must_be_found, findings=findings)
    _check_notes(read.value, findings)
    return _evaluation(findings, protocol, scores, meta, evidence, read)


def _evaluation(
    findings: Findings,
    protocol: Protocol,
    scores: dict[str, int] | None,
    meta: dict[str, str],
    evidence: tuple[Evidence, ...],
    read: ReadReply,
) -> Evaluation:
    readable = readable_scores(scores, protocol)
    return Evaluation(
        flags=tuple(flag for flag in form().flags if flag in findings.flags),
        details=tuple(findings.details),
        n_faults=findings.counts.total(),
        scores=readable,
        verdict=protocol.verdict(tuple(readable.values())) if readable else None,
        meta=meta,
        evidence=evidence,
        reasoning=read.reasoning,
        body=read.body,
    )


def _check_own_flags(reply: Mapping[str, Any], findings: Findings) -> None:
    """P4: an unknown flag breaks the protocol; a known one contradicts the scores beside it."""
    flags = typed_field(reply, "flags", list, "flags", findings)
    for at, flag in enumerate(flags or ()):
        if not isinstance(flag, str):
            findings.add("wrong_type", f"flags[{at}]", f"flags[{at}] is {json_type(flag)}, not string")
        elif flag in form().flags:
            findings.add("self_flagged", f"flags[{at}]", f"the judge flags its own reply {flag}")
        else:
            findings.add("flag_unknown", f"flags[{at}]", f"{said(flag)} is no flag of the protocol")


def _check_notes(reply: Mapping[str, Any], findings: Findings) -> None:
    """P2: optional, and a string. P4: a judge that scores and says that it does not judge declines all the same."""
    if "notes" not in reply:
        return
    notes = typed_field(reply, "notes", str, "notes", findings)
    if notes is not None and declines(notes):
        findings.add("declined", "notes", "the notes decline to judge")


def parse_line(case: Mapping[str, Any], protocol: Protocol) -> dict[str, Any]:
    """One line of `benchbook parse SPEC` under a protocol: a reply with all that it is held against.

    Reads `id`, `reply`, `output_text`, `asked`, `evaluation_set`, `options`; the last three may be missing. `verdict`
    is the one that follows from the scores, null where they can't be read; `located` has one word a quote; `details`
    say of each flag what was found, and in which field of the reply.

    Raises: ConfigError naming the field that is missing or of another type.
    """
    asked = {name: value for name, value in _member(case, "asked", dict, {}).items() if value is not None}
    for name, value in asked.items():
        if not isinstance(value, str):
            raise ConfigError(f"asked.{name}", json_type(value), "a JSON string")
    evaluation = validate(
        _member(case, "reply", str),
        output_text=_member(case, "output_text", str),
        asked=asked,
        evaluation_set=_member(case, "evaluation_set", list, None),
        options=Options.read(_member(case, "options", dict, {}), protocol),
    )
    return {
        "id": case.get("id"),
        "valid": evaluation.valid,
        "flags": list(evaluation.flags),
        "verdict": evaluation.verdict,
        "located": list(evaluation.located),
        "details": [asdict(detail) for detail in evaluation.details],
    }


_REQUIRED = object()


def _member(case: Mapping[str, Any], name: str, kind: type, default: Any = _REQUIRED) -> Any:
    value = case.get(name)
    if value is None and default is not _REQUIRED:
        return default
    if not isinstance(value, kind):
        raise ConfigError(name, "nothing" if value is None else json_type(value), f"a JSON {json_type(kind())}")
    return value
