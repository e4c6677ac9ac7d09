"""Views of models ranked by judges' verdicts on pairs of their answers, and of what those judges lean to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.evaluators.document import Block, Cell, Column, Document, Listed, Table
from benchbook.labels.pairs.ranking import Leaning, PairedModel, PairRanking
from benchbook.labels.pairs.verdicts import NAMELESS
from benchbook.statistics import Estimate
from benchbook.statistics.ground import REASONS, WARNINGS
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.terminal import table_lines
from benchbook.views.words import listed

_NAME = 60  # characters of a model's or a judge's name
_WIDTH = 160
_NAMED = 6  # models of a part that are named


def pairs_document(found: Sequence[PairRanking]) -> Document:
    """The rankings, with the same words as `pairs_lines`."""
    blocks: list[Block] = []
    for one in found:
        blocks += [models_table(one), leanings_table(one), Listed(tuple(_sentences(one)), quiet=True)]
    return Document("Models by verdicts on pairs", "pairs", blocks)


def pairs_lines(found: Sequence[PairRanking]) -> Iterator[str]:
    """For a terminal: of each ranking the models, what the judges lean to, and what it all rests on."""
    for one in found:
        yield from table_lines(models_table(one), _WIDTH)
        yield from table_lines(leanings_table(one), _WIDTH)
        yield from _sentences(one)
        if one is not found[-1]:
            yield ""


def models_table(found: PairRanking) -> Table:
    """A row for each model, the strongest first."""
    against = "the others" if found.anchor is None else shorten(found.anchor, _NAME)
    columns = (
        Column("Rank", "count"),
        Column("Model"),
        Column("Verdicts", "count"),
        Column("Win rate", "number"),
        Column(f"Against {against}", "number"),
        Column("Strength", "number"),
        Column(f"Rank, {numbers.limit('rate', found.confidence)} sure", "number"),
    )
    rows: tuple[Sequence[Cell], ...] = tuple(_model_row(one, found.anchor) for one in found.models)
    names = [one.judge for one in found.judges]
    by = shorten(names[0], _NAME) if len(names) == 1 and names[0] != NAMELESS else plural(len(names), "judge")
    n = f"{plural(found.n_pairs, 'pair')} of answers to {plural(found.n_items, 'item')}"
    return Table(f"{plural(len(found.models), 'model')} by verdicts of {by} on {n}", columns, rows)


def _model_row(one: PairedModel, anchor: str | None) -> Sequence[Cell]:
    is_anchor = one.model == anchor
    return (
        one.rank,
        shorten(one.model, _NAME),
        one.n,
        share(one.rate),
        None if is_anchor or one.win is None else share(one.win),
        None if is_anchor or one.strength is None else _strength(one.strength),
        None if one.rank_low is None else f"{one.rank_low:,} to {one.rank_high:,}",
    )


def leanings_table(found: PairRanking) -> Table:
    """A row for each judge: how often between equals the answer that is shown first wins, and the longer one."""
    rows = tuple(
        (shorten(one.judge, _NAME), one.n, *_leaning_cells(one.first), *_leaning_cells(one.length))
        for one in found.judges
        if one.first is not None or one.length is not None
    )
    longer = "Longer wins" if found.longer is None else f"{found.longer:.1f} times as long wins"
    columns = (
        Column("Judge"),
        Column("Verdicts", "count"),
        Column("Shown first wins", "number"),
        Column("p of no bias", "p"),
        Column(longer, "number"),
        Column("p of no bias", "p"),
    )
    return Table("Between equals, how often the answer wins that is shown first, and the longer one", columns, rows)


def _leaning_cells(found: Leaning | None) -> tuple[Cell, Cell]:
    return (None, None) if found is None else (share(found.win), found.p)


def share(found: Estimate) -> str | None:
    """`58.0 % [54.0, 62.0]`, or without bounds where there are none."""
    if found.estimate is None:
        return None
    if found.low is None or found.high is None:
        return f"{100 * found.estimate:.1f} %"
    return f"{100 * found.estimate:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def _strength(found: Estimate) -> str | None:
    if found.estimate is None:
        return None
    value = numbers.signed(found.estimate, "grade")
    if found.low is None or found.high is None:
        return value
    return f"{value} [{numbers.signed(found.low, 'grade')}, {numbers.signed(found.high, 'grade')}]"


# ── in words ─────────────────────────────────────────────────────────────────────────────────────────────────


def first_place(found: PairRanking) -> str | None:
    """A sentence on who is ahead of all others; None where ranks can't be told."""
    ahead = [shorten(one.model, _NAME) for one in found.models if one.rank_low == 1]
    if not ahead:
        return None
    sure = numbers.limit("rate", found.confidence)
    if len(ahead) == 1:
        return f"{ahead[0]} is ahead of all others ({sure} sure)."
    more = f" and {len(ahead) - _NAMED:,} more" if len(ahead) > _NAMED else ""
    names = ", ".join(ahead[:_NAMED]) if more else listed(ahead)
    return f"Who is ahead can't be told of {names}{more} ({sure} sure)."


def _sentences(found: PairRanking) -> Iterator[str]:
    """Who is ahead, and all that is to be known beside it."""
    if (first := first_place(found)) is not None:
        yield first
    yield from pairs_notes(found)


def pairs_notes(found: PairRanking) -> Iterator[str]:
    """How verdicts were counted, what strengths hold equal, and why something is missing."""
    yield from _counted(found)
    yield from _missing(found)
    if found.reason is not None:
        yield _why_not(found)
    if found.models and found.reason is None:
        yield f"Strengths by Bradley and Terry, spread by item{_held(found)}. Ranks by all pairs of models, p by Holm."
    warnings = {warning for one in found.models for warning in (one.strength or one.rate).warnings}
    yield from (f"Beware: {WARNINGS.get(warning, warning)}." for warning in sorted(warnings))
    yield from _by_place_alone(found)
    for judge in found.judges:
        for to, one in (("the answer shown first", judge.first), ("the longer answer", judge.length)):
            reason = None if one is None or one.win.low is not None else one.effect.reason
            if reason not in (None, found.reason):
                why = REASONS.get(reason or "", reason)
                yield f"Whether {shorten(judge.judge, _NAME)} leans to {to} can't be told: {why}."


def _by_place_alone(found: PairRanking) -> Iterator[str]:
    """The judges whose every verdict went by the place."""
    for judge in found.judges:
        win = None if judge.first is None else judge.first.win.estimate
        if win in (0.0, 1.0):
            place = "first" if win else "second"
            name = shorten(judge.judge, _NAME)
            yield f"Beware: {name} took the answer shown {place} every time: its verdicts say nothing of the answers."


def _counted(found: PairRanking) -> Iterator[str]:
    if found.n_both_orders:
        counted = "each order counts half" if found.swap == "half" else "a win that does not survive counts as a tie"
        yield (
            f"{plural(found.n_both_orders, 'pair')} judged in both orders: {found.n_changed:,} changed with the order; "
            f"{counted}."
        )
    if found.n_tied:
        bad = f", {found.n_both_bad:,} of them with both bad" if found.n_both_bad else ""
        yield f"{plural(found.n_tied, 'tie')}{bad}: half a win for each."

    if found.n_strong:
        both = ", if said in both orders" if found.swap == "tie" and found.n_both_orders else ""
        yield f"{plural(found.n_strong, 'verdict')} of a much better answer: each counts {found.strong:,}{both}."


def _missing(found: PairRanking) -> Iterator[str]:
    if found.n_missing:
        where = " in one of its orders" if found.swap == "tie" and found.n_both_orders else ""
        yield f"{plural(found.n_missing, 'pair')} without a verdict{where}, left out."
    if found.n_itself:
        yield f"{plural(found.n_itself, 'verdict')} on a model against itself, left out."
    if 0 < found.n_without_length < found.n_pairs:
        yield f"{plural(found.n_without_length, 'pair')} without the answers' lengths, so length is not held equal."


def _held(found: PairRanking) -> str:
    words = {"first": "equal chances to be shown first", "length": "answers of one length"}
    held = " and ".join(words[one] for one in found.held_equal)
    return f", at {held}" if held else ""


def _why_not(found: PairRanking) -> str:
    why = REASONS.get(found.reason or "", found.reason or "")
    parts = "; ".join(_part(part) for part in found.parts[:_NAMED])
    more = f"; and {len(found.parts) - _NAMED:,} more" if len(found.parts) > _NAMED else ""
    told = "spread" if found.models and found.models[0].strength is not None else "strengths"
    return f"No {told}: {why}{f' ({parts}{more})' if parts else ''}."


def _part(names: tuple[str, ...]) -> str:
    shown = ", ".join(shorten(name, _NAME) for name in names[:_NAMED])
    return one_line(f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown)
