"""Finds the rubric that is meant (shipped, a user's own, or the one that a record keeps), and reads a user's own.

That is a folder with spec.toml and the judge's prompt; every fault in it is found at once. `rubric@v1` can be written
in this form, too, and gives the same bytes: a test holds that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from benchbook.evaluators.candidate import DEFAULT_GENERATION
from benchbook.evaluators.costs import known_prices
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Direction, Threshold
from benchbook.evaluators.kept import kept_own, recorded_evalset, spec_inputs
from benchbook.evaluators.rubric.aggregate_kinds import Aggregate, OfSamples, Percentile
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.criteria import Criterion, PassRule, PromptMessage
from benchbook.evaluators.rubric.plan import PLACEHOLDER, Plan, placeholders
from benchbook.evaluators.rubric.reading_criteria import check_names, read_criteria, read_item_criteria, read_measures
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec, rubric_v1, whole_weights
from benchbook.evaluators.rubric.steps import ItemOf, no_item
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs.faults import Faults, SpecError, SpecTable, near, parsed
from benchbook.specs.fields import (
    NAME_WORDS,
    WrongValueError,
    as_fraction,
    of_these,
    read_about,
    read_count,
    read_name,
    said,
)
from benchbook.specs.folders import SPEC_FILE, Texts, read_generation, read_messages, read_own, spec_text
from benchbook.text import quoted


@dataclass(frozen=True, slots=True)
class RubricFolder:
    """A rubric as it stands in a folder, and the files that define it: none beside one that is shipped."""

    spec: RubricSpec
    files: Mapping[str, bytes]

    @property
    def inputs(self) -> dict[str, bytes]:
        """The files as a record names them among its inputs."""
        return spec_inputs(self.files)


def rubric_asked_for(spec: str) -> RubricFolder:
    """The rubric that settings name. Raises: as `load_rubric`."""
    return RubricFolder(rubric_v1(), {}) if spec == RUBRIC_V1 else load_rubric(spec)


def load_rubric(folder: str | Path) -> RubricFolder:
    """A user's own rubric. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    spec, files = read_own(folder, "benchbook rubric init NAME", read_rubric)
    return RubricFolder(replace(spec, sha256=files.sha256), dict(files.read))


def spec_of(record: Record, plan: Plan) -> RubricSpec:
    """The rubric that a record's plan is made under, with what was declared unmeasured left out of it (R1.4), and with
    the prices that the run was begun with.

    A user's own is read from the files that the record keeps: the user's folder may be gone.

    Raises: RecordError for a rubric that neither Benchbook nor the record has; SpecError; ConfigError.
    """
    return rubric_of(record).without(plan.unmeasured).priced(known_prices(record.started().config))


@contextmanager
def items_for(record: Record, plan: Plan, spec: RubricSpec) -> Iterator[ItemOf]:
    """A finder of a sample's item, where the rubric's replies can't be read without it; else nothing is opened."""
    if not spec.needs_item:
        yield no_item
        return
    with recorded_evalset(record, record.started()) as evalset:
        yield lambda sample: evalset[sample % plan.n_items]


def rubric_of(record: Record) -> RubricSpec:
    """The rubric that a record is made under, whole. Raises: as `spec_of`."""
    started = record.started()
    return rubric_v1() if started.spec == RUBRIC_V1 else kept_rubric(record, started)


def kept_rubric(record: Record, started: RunStarted) -> RubricSpec:
    """The rubric in the files that a record keeps. Raises: RecordError, SpecError."""
    return kept_own(record, started, read_rubric)


# ── a user's own: spec.toml and the judge's prompt ───────────────────────────────────────────────────────────


def read_rubric(files: Mapping[str, bytes], path: str | Path = SPEC_FILE, sha256: str = "") -> RubricSpec:
    """The rubric of these files. `path` names spec.toml in messages. Raises: SpecError with every fault."""
    values, lines = parsed(spec_text(files[SPEC_FILE], path), path)
    faults = Faults(path, lines)
    table = SpecTable(values, (), faults)
    name = table.read("name", read_name, needed=NAME_WORDS)
    version = table.read("version", read_count, needed="a whole number from 1")
    about = table.read("about", read_about, needed="one sentence, shown in reports")
    criteria_tables = table.tables("criteria")
    criteria, weights = read_criteria(table, criteria_tables)
    by_item = read_item_criteria(table, criteria_tables)
    if by_item is not None:
        criteria.append(by_item[0])
        weights.append(by_item[1])
    measures, more_weights = read_measures(table)
    check_names(criteria_tables, criteria, measures)
    whole = whole_weights([*weights, *more_weights])
    criteria = [replace(one, weight=weight) for one, weight in zip(criteria, whole, strict=False)]
    measures = [replace(one, weight=weight) for one, weight in zip(measures, whole[len(weights) :], strict=True)]
    spec = RubricSpec(
        id=f"{name}@v{version}",
        sha256=sha256,
        about=about or "",
        criteria=tuple(criteria),
        measures=tuple(measures),
        gates=(),
        correct=_read_correct(table, [one.name for one in criteria]),
        max_rationale_words=_read_max_words(table),
        messages=_read_messages(table, files, faults, criteria),
        prompt_sha256="",
        generation=read_generation(table, DEFAULT_GENERATION),
        item_rationales=by_item is not None and by_item[2],
        pass_rule=_read_pass(table, criteria),
    )
    gates = _read_gates(table, table_of(spec))
    table.say_unknown()
    found = faults.in_order()
    if found:
        raise SpecError(found)
    return replace(spec, gates=gates, prompt_sha256=_prompt_sha256(spec.messages))


def _prompt_sha256(messages: tuple[PromptMessage, ...]) -> str:
    """The hash of the text of a single user message; else that of all messages with their roles."""
    if [one.role for one in messages] == ["user"]:
        return hashlib.sha256(messages[0].text.encode("utf-8")).hexdigest()
    parts = [f"{one.role}\0{hashlib.sha256(one.text.encode('utf-8')).hexdigest()}\n" for one in messages]
    return hashlib.sha256("".join(parts).encode("ascii")).hexdigest()


# ── when a sample passes ─────────────────────────────────────────────────────────────────────────────────────


def _read_pass(table: SpecTable, criteria: Sequence[Criterion]) -> PassRule | None:
    inner = table.table("pass")
    by_default = PassRule() if any(one.by_item for one in criteria) else None
    if inner is None:
        return by_default
    n_limited = sum(one.at_least is not None for one in criteria)
    inner.read("rule", partial(of_these, words=("all",)))
    min_score = inner.read("min_score", _read_min_score)
    at_least = inner.read("at_least", partial(_read_number_met, n_limited=n_limited))
    inner.say_unknown()
    given = [key for key in ("rule", "min_score", "at_least") if key in inner]
    if len(given) != 1:
        found = f"{' and '.join(given)}" if given else "nothing"
        inner.fault(None, found, 'one of rule = "all", min_score and at_least')
    return by_default if min_score is None and at_least is None else PassRule(min_score, at_least)


def _read_min_score(value: Any) -> int:
    limit = _read_limit(value)
    if not 0 < limit <= NANO:
        raise WrongValueError(said(value), "a number above 0, at most 1: what a sample's score is at least")
    return limit


def _read_number_met(value: Any, n_limited: int) -> int:
    if not n_limited:
        raise WrongValueError(f"{said(value)}, and no criterion that has an at_least", "an at_least for each to count")
    if type(value) is not int or not 1 <= value <= n_limited:
        expected = f"how many of the {n_limited} criteria with an at_least must be at it, 1 to {n_limited}"
        raise WrongValueError(said(value), expected)
    return value


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────


def _read_correct(table: SpecTable, names: list[str]) -> str | None:
    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise WrongValueError(said(value), near(value if isinstance(value, str) else "", tuple(names)))
        return value

    return table.read("correct", read)


def _read_max_words(table: SpecTable) -> int:
    reply = table.table("reply")
    if reply is None:
        return 80
    found = reply.read("max_rationale_words", read_count)
    reply.say_unknown()
    return found or 80


def _read_gates(table: SpecTable, known: Mapping[str, Aggregate]) -> tuple[Threshold, ...]:
    gates: dict[str, Threshold] = {}
    if table.raw("gates") in (None, []):
        table.fault("gates", "nothing", "at least one [[gates]] table: a run is decided by its gates")
    for one in table.tables("gates"):
        name = one.raw("aggregate")
        limits = {key: one.read(key, _read_limit) for key in ("at_least", "at_most")}
        one.say_unknown()
        given = [key for key in limits if key in one]
        if not isinstance(name, str) or name not in known:
            found = "nothing" if name is None else said(name)
            one.fault("aggregate", found, near(name if isinstance(name, str) else "", tuple(known)))
        elif name in gates:
            one.fault("aggregate", f"{quoted(name)} a second time", "one gate for each aggregate")
        elif len(given) != 1:
            one.fault("at_least", "both at_least and at_most" if given else "nothing", "one of at_least and at_most")
        elif (limit := limits[given[0]]) is not None:
            direction: Direction = "at_least" if given == ["at_least"] else "at_most"
            if (wrong := _wrong_limit(known[name], direction, limit)) is None:
                gates[name] = Threshold(name, direction, limit)
            else:
                one.fault(direction, *wrong)
    return tuple(gates.values())


def _read_limit(value: Any) -> int:
    """A limit in billionths: a number, or a decimal as text."""
    try:
        exact = as_fraction(Decimal(value) if isinstance(value, str) else value)
    except InvalidOperation:
        exact = None
    if exact is None or (exact * NANO).denominator != 1:
        raise WrongValueError(said(value), "a number of at most nine decimals")
    return int(exact * NANO)


def _wrong_limit(one: Aggregate, direction: Direction, limit_nano: int) -> tuple[str, str] | None:
    """The fault of a limit that an aggregate can't meet, or can't miss: `(found, expected)`; None for a sound one."""
    limit = Fraction(limit_nano, NANO)
    if isinstance(one, OfSamples) and not one.lowest <= limit <= one.lowest + one.span:
        return f"{float(limit):g}", f"a number from {one.lowest} to {one.lowest + one.span}, as {one.name} is"
    if isinstance(one, Percentile) and direction == "at_least":
        return "at_least", "at_most: a percentile is gated by how many samples are beyond a limit"
    if limit < 0:
        return f"{float(limit):g}", "a number that is not negative"
    return None


# ── the judge's messages ─────────────────────────────────────────────────────────────────────────────────────


def _read_messages(
    table: SpecTable, files: Mapping[str, bytes], faults: Faults, criteria: Sequence[Criterion]
) -> tuple[PromptMessage, ...]:
    """The messages that `[[judge.messages]]` lists, or prompt.txt as one of the user's."""
    judge = table.table("judge")
    tables = judge.tables("messages") if judge is not None else []
    if judge is not None:
        judge.say_unknown()
    texts = Texts(files, faults, PLACEHOLDER.fullmatch, placeholders())
    messages = [PromptMessage(role, text) for role, text in read_messages(tables, texts)]
    text = "".join(one.text for one in messages)
    if messages and "{{answer}}" not in text and "{{transcript}}" not in text:
        table.fault("judge", "no {{answer}} in what the judge is asked", "{{answer}} where the answer is to stand")
    elif messages and any(one.from_transcript for one in criteria) and "{{transcript}}" not in text:
        expected = "{{transcript}}, which numbers the turns that quotes are from"
        table.fault("judge", "no {{transcript}} in what the judge is asked", expected)
    if messages and any(one.by_item for one in criteria) and "{{criteria}}" not in text:
        expected = "{{criteria}}, which numbers the item's own"
        table.fault("judge", "no {{criteria}} in what the judge is asked", expected)
    return tuple(messages)
