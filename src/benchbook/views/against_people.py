"""A judge held against people: in the sentences that come first, and as data for pictures of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchbook.evaluators.document import Tone
from benchbook.evaluators.gates import Gate, Threshold
from benchbook.labels.calibration_results import Bias, CorrectedGate, SliceBias
from benchbook.statistics import Estimate
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.gates import gate_state, rule_words
from benchbook.views.judge_card_tables import gate_outcome, why_nothing
from benchbook.views.spans import SpanLine, Spans, axis_end
from benchbook.views.words import aggregate_word, listed

_SAID = 2  # criteria that have a sentence of their own; the others share one
_DRAWN = 12  # slices in a picture; the table has all


@dataclass(frozen=True, slots=True)
class Crossed:
    """One criterion: `counts[people][judge]`, both by `scores`, and the judge's scores minus people's, by slice."""

    title: str
    who: str  # the judge, or the evaluator
    says: str
    scores: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    differences: Spans


@dataclass(frozen=True, slots=True)
class OnTrial:
    """One criterion of a judge, or of another evaluator, on trial: what a judge's card and an answer card both have."""

    title: str
    who: str
    n: int
    confusion: Mapping[str, Mapping[str, int]]
    same: Estimate
    bias: Bias

    @property
    def points(self) -> int:
        """How many points lie between the lowest and the highest score."""
        scores = [int(score) for score in self.confusion]
        return max(scores) - min(scores)


# ── in sentences ─────────────────────────────────────────────────────────────────────────────────────────────


def agreement_sentences(trials: Sequence[OnTrial]) -> list[str]:
    """How far judge and people agree: first the criterion on which they do least, and of many the others as one."""
    known = sorted((one for one in trials if one.same.estimate is not None), key=lambda one: one.same.estimate or 0.0)
    found = [agreement_sentence(one) for one in known[:_SAID]]
    rest = [numbers.show("rate", one.same.estimate) for one in known[_SAID:]]
    if rest:
        span = rest[0] if rest[0] == rest[-1] else f"{rest[0]} to {rest[-1]}"
        found.append(f"On {plural(len(rest), 'other criterion', 'other criteria')} they agree on more: {span}.")
    if silent := [one.title for one in trials if one.same.estimate is None]:
        found.append(f"{listed(silent)}: nobody has labelled an answer that was scored.")
    return found


def agreement_sentence(one: OnTrial) -> str:
    """`Accuracy: the judge agrees with people on 84 of 100 answers (75.6 % to 89.9 %); it is too kind by …`."""
    same = sum(row[people] for people, row in one.confusion.items())
    whole = f"{one.title}: the {one.who} agrees with people on {same:,} of {plural(one.n, 'answer')}"
    low, high = one.same.low, one.same.high
    span = "" if low is None or high is None else f" ({numbers.bounds('rate', low, high)})"
    return f"{whole}{span}{_lean_words(one, same)}."


def _lean_words(one: OnTrial, same: int) -> str:
    found = one.bias.overall
    if found.estimate is None or same == one.n:
        return ""
    size = f"{numbers.show('grade', abs(found.estimate))} of {plural(one.points, 'point')}"
    if found.low is None or found.high is None:
        way = "more" if found.estimate > 0 else "less"
        return f"; it gives {size} {way} on average, and how sure that is can't be told"
    way = _lean(found)
    if way == "":
        span = _signed_bounds(found.low, found.high, one.points)
        return f"; whether it is kinder or stricter than people can't be told ({span} of {plural(one.points, 'point')})"
    nearer, farther = sorted(abs(_held(bound, one.points)) for bound in (found.low, found.high))
    return f"; it is too {way} by {size} ({numbers.bounds('grade', nearer, farther)})"


def _lean(found: Estimate) -> str:
    """`kind` or `strict` where the whole interval lies on one side of 0; else nothing."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return ""
    return "kind" if found.low > 0 else "strict"


def gate_sentences(frozen: Sequence[Gate], gates: Sequence[CorrectedGate]) -> list[str]:
    """The gates that come out otherwise as people would judge, or that none does, in a sentence.

    `frozen` are those of the run's own decision. A gate that holds for sure comes out otherwise where it only may.
    """
    by_name = {gate.aggregate: gate for gate in frozen}
    judged = [gate for gate in gates if gate.source != "run"]
    changed = [gate for gate in judged if _is_changed(by_name[gate.aggregate], gate)]
    if not judged:
        return []
    if len(changed) == 1:
        return [_changed(changed[0])]
    if changed:
        names = listed([f"“{aggregate_word(gate.aggregate).label}”" for gate in changed])
        return [f"{len(changed)} gates come out otherwise as people would judge: {names}."]
    which = "the gate in which the judge has a say comes"
    if len(judged) > 1:
        which = f"{'both' if len(judged) == 2 else f'all {len(judged)}'} gates in which the judge has a say come"
    return [f"As people would judge, {which} out the same."]


def _is_changed(frozen: Gate, gate: CorrectedGate) -> bool:
    return frozen.holds != gate.holds or gate_state(frozen).tone != _gate_tone(gate)


def _changed(gate: CorrectedGate) -> str:
    word = aggregate_word(gate.aggregate)
    frozen, value = (
        numbers.show(word.kind, one, apart_from=gate.limit, unknown=why_nothing(gate.reason))
        for one in (gate.frozen, gate.value)
    )
    people = "" if gate.value is None else f", at {value}, it"
    rule = rule_words(gate.direction, word.kind, gate.limit)
    as_judged = f"The gate “{word.label}” ({rule}) {_as_judged(gate)} at {frozen} as judged"
    return f"{as_judged}; as people would judge{people} {gate_outcome(gate)}."


def _as_judged(gate: CorrectedGate) -> str:
    rule = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
    return "holds" if rule.holds(gate.frozen) else "does not hold"


def unmoved_gates(gates: Sequence[CorrectedGate]) -> str:
    """The gates in which no judge has a say, in a sentence; empty where there are none."""
    labels = [aggregate_word(gate.aggregate).label for gate in gates if gate.source == "run"]
    return f"Whoever judges has no say in: {'; '.join(labels)}." if labels else ""


# ── as pictures ──────────────────────────────────────────────────────────────────────────────────────────────


def crossed(one: OnTrial, confidence: float) -> Crossed:
    """One criterion as two pictures: scores against scores, and differences by slice."""
    return Crossed(
        title=one.title,
        who=one.who,
        says=agreement_sentence(one) if one.n else f"{one.title}: nobody has labelled an answer that was scored.",
        scores=tuple(one.confusion),
        counts=tuple(tuple(row.values()) for row in one.confusion.values()),
        differences=_differences(one, confidence),
    )


def _differences(one: OnTrial, confidence: float) -> Spans:
    """The judge's scores minus people's: over all answers, then by slice, those that differ most."""
    widest = sorted(one.bias.slices, key=lambda part: -abs(part.difference.estimate or 0.0))[:_DRAWN]
    slices = [part for part in one.bias.slices if part in widest]
    found = [one.bias.overall, *(part.difference for part in slices)]
    end = axis_end([bound for part in found for bound in (part.estimate, part.low, part.high)], float(one.points))
    return Spans(
        title=f"{one.who.capitalize()} minus people",
        about=_differences_about(one.who, confidence, len(one.bias.slices) - len(slices)),
        kind="grade",
        lowest=-end,
        highest=end,
        lines=(
            _difference("all answers", one.bias.overall, _lean(one.bias.overall), one.points),
            *(
                _difference(f"{part.slice}: {part.value}", part.difference, _slice_lean(part, confidence), one.points)
                for part in slices
            ),
        ),
        mark=0.0,
        signed=True,
    )


def _differences_about(who: str, confidence: float, n_left_out: int) -> str:
    found = (
        f"Right of 0 the {who} is kinder than people, left of it stricter. A slice is called so where its p, adjusted "
        f"for all slices, is at most {numbers.limit('rate', round(1 - confidence, 9))}."
    )
    return f"{found} {plural(n_left_out, 'slice')} that differ less stand in the table alone." if n_left_out else found


def _slice_lean(part: SliceBias, confidence: float) -> str:
    """A slice is one of several: its p, adjusted for them, has the say."""
    found = part.difference.estimate
    if found is None or not found or part.p_holm is None or part.p_holm > round(1 - confidence, 9):
        return ""
    return "kind" if found > 0 else "strict"


def _difference(name: str, found: Estimate, way: str, points: int) -> SpanLine:
    """A difference of mean scores, kept on the scale's `points`: an approximation may reach beyond."""
    low, high = (None if bound is None else _held(bound, points) for bound in (found.low, found.high))
    tone: Tone = "bad" if way else "none"
    state = f"too {way}" if way else ""
    return SpanLine(name, found.estimate, low, high, f"{_signed(found, points)}, n = {found.n:,}", tone, state)


def _signed(found: Estimate, points: int) -> str:
    """`+0.120 (+0.034 to +0.206)`, or why there is none."""
    if found.estimate is None:
        return numbers.nothing(why_nothing(found.reason))
    value = numbers.signed(found.estimate, "grade")
    if found.low is None or found.high is None:
        return f"{value} (no interval: {why_nothing(found.reason) or 'not known'})"
    return f"{value} ({_signed_bounds(found.low, found.high, points)})"


def _signed_bounds(low: float, high: float, points: int) -> str:
    return " to ".join(numbers.signed(_held(bound, points), "grade") for bound in (low, high))


def _held(bound: float, points: int) -> float:
    return min(max(bound, -points), points)


def gate_spans(
    frozen: Sequence[Gate], gates: Sequence[CorrectedGate], scales: Mapping[str, tuple[int, int]]
) -> list[Spans]:
    """Each gate in which the judge has a say: as judged, and below it as people would judge.

    `scales` has the lowest and the highest number of each aggregate.
    """
    by_name = {gate.aggregate: gate for gate in frozen}
    return [
        _gate_spans(by_name[gate.aggregate], gate, scales.get(gate.aggregate, (0, 1)))
        for gate in gates
        if gate.source != "run"
    ]


def _gate_spans(frozen: Gate, gate: CorrectedGate, scale: tuple[int, int]) -> Spans:
    word = aggregate_word(gate.aggregate)
    state = gate_state(frozen)
    low, high = (None, None) if frozen.interval is None else (frozen.interval.low, frozen.interval.high)
    worst, best = (
        sorted((gate.worst, gate.best), key=lambda one: one or 0.0) if gate.worst is not None else (None, None)
    )
    as_judged, as_people = _gate_words(gate, gate.frozen, low, high), _gate_words(gate, gate.value, worst, best)
    lines = (
        SpanLine("As judged", gate.frozen, low, high, as_judged, state.tone, state.words),
        SpanLine(
            "As people would judge",
            gate.value,
            worst,
            best,
            as_people,
            _gate_tone(gate),
            gate_outcome(gate).capitalize(),
        ),
    )
    lowest, highest = map(float, scale)
    if gate.direction == "at_most":  # a low limit would stand at the edge of the whole scale
        highest = axis_end([2 * gate.limit, gate.frozen, gate.value, low, high, worst, best], highest)
    return Spans(
        title=word.label,
        about=rule_words(gate.direction, word.kind, gate.limit),
        kind=word.kind,
        lowest=lowest,
        highest=highest,
        lines=lines,
        mark=gate.limit,
        good_from=gate.limit if gate.direction == "at_least" else lowest,
        good_to=highest if gate.direction == "at_least" else gate.limit,
    )


def _gate_words(gate: CorrectedGate, value: float | None, low: float | None, high: float | None) -> str:
    kind = aggregate_word(gate.aggregate).kind
    shown = numbers.show(kind, value, apart_from=gate.limit, unknown=why_nothing(gate.reason))
    if value is None or (low is None and high is None):
        return shown
    return f"{shown} ({numbers.bounds(kind, low, high)})"


def _gate_tone(gate: CorrectedGate) -> Tone:
    if gate.holds_for_sure:
        return "good"
    return "doubt" if gate.can_hold else "bad"
