"""Which of a judge's evaluations count, and why the others do not (SPEC P1 to P4).

    validity    validate -> Evaluation; Options; parse_line for the command line; identifiers, set, method
    reply       one strict JSON object, its scores and verdict (P3), every quote looked up (P4.1); who declines to judge
    findings    the flags and their details

The rule where SPEC is silent: a fault is said once, by the clause that names it. What is of another type is
UNPARSABLE_OUTPUT and nothing is concluded from its value. A null is a value that nobody gave. Keys beyond those of P2
are allowed everywhere but in `scores`, where they are added dimensions (R3.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Literal

from benchbook.errors import ConfigError
from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.protocol.findings import EDITION, Detail, Edition, Findings, Flag, SameModel, said
from benchbook.evaluators.protocol.reply import (
    ABSENT,
    Evidence,
    ReadReply,
    absent,
    check_evidence,
    check_scores,
    check_verdict,
    declines,
    json_type,
    read_reply,
    readable_scores,
    typed_field,
)
from benchbook.evaluators.protocol.spec import Protocol, Verdict, form, protocol_v1
from benchbook.evaluators.quotes import LocatedKind

# ── whether a reply is about what was asked ──────────────────────────────────────────────────────────────────

Cell = tuple[str, ...]  # question_id, prompt_variant, target_model, output_id: one sample (P1)

_MODELS = frozenset({"judge_model", "target_model"})
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


class EvaluationSet:
    """The samples to be judged. Build it once for many replies; a cell that is listed twice counts once."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], same_model: SameModel | None = None) -> None:
        """`rows` hold the four identifiers each. Raises: ConfigError naming the row that lacks one."""
        models = same_model or SameModel()
        self.cells: frozenset[Cell] = frozenset(_cell_of(row, at, models) for at, row in enumerate(rows))

    def holds(self, cell: Cell) -> bool:
        return cell in self.cells

    def may_hold(self, known: Mapping[int, str]) -> bool:
        """True if some cell has these identifiers at these places."""
        return any(all(cell[at] == value for at, value in known.items()) for cell in self.cells)


def _cell_of(row: Mapping[str, Any], at: int, models: SameModel) -> Cell:
    if not isinstance(row, Mapping):
        raise ConfigError(f"evaluation_set[{at}]", repr(row), "an object with the four identifiers")
    for name in form().identifiers:
        if not isinstance(row.get(name), str):
            raise ConfigError(f"evaluation_set[{at}].{name}", repr(row.get(name)), "a string")
    return tuple(_canonical(name, row[name], models) for name in form().identifiers)


def _canonical(name: str, value: str, models: SameModel) -> str:
    return models.name(value) if name in _MODELS else value


def _check_meta(
    reply: Mapping[str, Any],
    asked: Mapping[str, str],
    evaluation_set: EvaluationSet | None,
    models: SameModel,
    findings: Findings,
) -> dict[str, str]:
    """The strings that `meta` holds, under the names of P2; all that is wrong with them is added to `findings`.

    What is of another type is UNPARSABLE_OUTPUT alone: nothing more is concluded from it. Of `timestamp` it is asked
    that it be a date, not which: when the reply came is the runner's to say, not the judge's.
    """
    if absent(reply.get("meta", ABSENT)):
        for name in form().identifiers:
            findings.add("identifier_missing", f"meta.{name}", f"{name} is missing")
    meta = typed_field(reply, "meta", dict, "meta", findings)
    if meta is None:
        return {}
    given = {
        name: value
        for name in form().meta
        if (value := typed_field(meta, name, str, f"meta.{name}", findings)) is not None
    }
    _check_identifiers(meta, given, evaluation_set, models, findings)
    if "judge_model" not in asked and not given.get("judge_model", "unread").strip():
        # The source's list of identifiers leaves the judge out, for whoever asked knows it. Here nobody does.
        findings.add("identifier_empty", "meta.judge_model", "judge_model is empty")
    _check_as_asked(given, asked, models, findings)
    _check_method(given, models, findings)
    if findings.edition >= 2 and "timestamp" in given and not is_calendar_date(given["timestamp"]):
        found = f"found {said(given['timestamp'])}; expected a date of the calendar, YYYY-MM-DD"
        findings.add("timestamp_no_date", "meta.timestamp", found)
    return given


def is_calendar_date(text: str) -> bool:
    """True for `YYYY-MM-DD`, and a day that there is (P2)."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_identifiers(
    meta: Mapping[str, Any],
    given: Mapping[str, str],
    evaluation_set: EvaluationSet | None,
    models: SameModel,
    findings: Findings,
) -> None:
    known: dict[int, str] = {}
    for at, name in enumerate(form().identifiers):
        if absent(meta.get(name, ABSENT)):
            findings.add("identifier_missing", f"meta.{name}", f"{name} is missing")
        elif name in given and not given[name].strip():
            findings.add("identifier_empty", f"meta.{name}", f"{name} is empty")
        elif name in given:
            known[at] = _canonical(name, given[name], models)
    if evaluation_set is not None and not _in_set(known, evaluation_set):
        # The four together name a sample (P1). Four names of which each is in the set, but no cell has them all, are
        # not in the set: such an evaluation would belong nowhere.
        names = ", ".join(f"{form().identifiers[at]} {said(value)}" for at, value in known.items())
        findings.add("not_in_evaluation_set", "meta", f"no cell of the evaluation set has {names}")


def _in_set(known: Mapping[int, str], evaluation_set: EvaluationSet) -> bool:
    if len(known) == len(form().identifiers):
        return evaluation_set.holds(tuple(known.values()))
    # What could not be read is flagged already; the rest must still fit some cell.
    return not known or evaluation_set.may_hold(known)


def _check_as_asked(given: Mapping[str, str], asked: Mapping[str, str], models: SameModel, findings: Findings) -> None:
    """P4: identifiers differ from the ones asked about.

    What is missing or of another type differs from nothing, and an unknown method is just that. An empty identifier
    does differ.
    """
    for name in ("judge_model", *form().identifiers, "method"):
        if name not in given or name not in asked or (name == "method" and given[name] not in form().methods):
            continue
        if _canonical(name, given[name], models) != _canonical(name, asked[name], models):
            message = f"found {said(given[name])}; asked about {said(asked[name])}"
            findings.add("not_as_asked", f"meta.{name}", message)


def _check_method(given: Mapping[str, str], models: SameModel, findings: Findings) -> None:
    method = given.get("method")
    if method is None:
        return
    if method not in form().methods:
        expected = ", ".join(sorted(form().methods))
        findings.add("method_unknown", "meta.method", f"found {said(method)}; expected {expected}")
        return
    judge, target = given.get("judge_model"), given.get("target_model")
    if judge is None or target is None:
        return
    fitting = "self_judge" if models.are_same(judge, target) else "cross_judge"
    if method != fitting:
        message = f"found {method}; {said(judge)} judging {said(target)} is {fitting}"
        findings.add("method_contradicts_models", "meta.method", message)


# ── which evaluations count ──────────────────────────────────────────────────────────────────────────────────

EvidenceRule = Literal["must_be_found", "report"]
_EVIDENCE_RULES: tuple[EvidenceRule, ...] = ("must_be_found", "report")
_EDITIONS: tuple[Edition, ...] = (1, 2)
_OPTIONS = ("evidence", "reasoning_tags", "same_model", "edition")


@dataclass(frozen=True, slots=True)
class Options:
    """An experiment's declarations before its first call; part of its frozen hash."""

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
    """The worth of one reply. `valid` is not about quality: a FAIL may be valid, a PASS invalid (P4.2)."""

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
    meta = _check_meta(read.value, asked or {}, evaluation_set, options.same_model, findings)
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
