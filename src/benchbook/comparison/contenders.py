"""Runs as far as a ranking needs them, so that thousands can be held at once; and the items that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchbook.comparison.items import ComparedRun
from benchbook.evaluators.exact import as_float

if TYPE_CHECKING:
    import polars

ASKED = ("item_id", "prompt", "expected", "context")


@dataclass(frozen=True, slots=True)
class Contender:
    """`asked` has a row for each item with a score, what was asked and its `group`; `score_nano` its score.

    `why_apart` says why the run has no place among the others; `note` what must be known of it where it has one.
    """

    name: str
    measured: tuple[str, str, str]
    model: str | None
    evalset: str | None
    score: float | None
    why_apart: str | None
    note: str | None
    n_unanswered: int
    asked: polars.DataFrame
    score_nano: Any

    @property
    def n_bytes(self) -> int:
        """Its size without what was asked, which runs share."""
        return int(self.score_nano.nbytes) + 1_000


class AskedTables:
    """Tables of what was asked, each kept once: of runs over one eval set they are all alike."""

    def __init__(self) -> None:
        self._known: dict[int, polars.DataFrame] = {}

    def shared(self, table: polars.DataFrame) -> polars.DataFrame:
        """The table that was given first of those like this one."""
        known = self._known.setdefault(hash(table.hash_rows().to_numpy().tobytes()), table)
        return known if known is table or known.equals(table) else table


def measured_by(run: ComparedRun) -> tuple[str, str, str]:
    """The identity of a leaderboard: the scorer's version, the hash of its files, and that of the eval set."""
    return run.spec, str(run.manifest.get("spec_sha256")), str(run.manifest.get("dataset_version_or_hash"))


def contenders(runs: Iterable[ComparedRun]) -> Iterator[Contender]:
    """Each run as a contender: of one that is opened only when its turn comes, nothing else stays."""
    tables = AskedTables()
    return (contender(run, tables) for run in runs)


def contender(run: ComparedRun, tables: AskedTables) -> Contender:
    """The run as a contender, with what it was asked out of `tables` where another was asked the same."""
    import polars as pl

    scored = run.items.filter(pl.col("n_scored") > 0)
    lacking = run.unanswered
    return Contender(
        name=run.name,
        measured=measured_by(run),
        model=run.manifest.get("model_id"),
        evalset=run.manifest.get("dataset_id"),
        score=as_float(score_nano := run.score_nano),
        why_apart=_why_apart(run, lacking.why if lacking.n_items else (), is_scored=score_nano is not None),
        note="; ".join(_notes(run, lacking.n_items, lacking.why, is_floor=score_nano == 0)) or None,
        n_unanswered=lacking.n_items,
        asked=tables.shared(scored.select(*ASKED, "group")),
        score_nano=scored["score_nano"].to_numpy(),
    )


def _why_apart(run: ComparedRun, unanswered_why: Sequence[str], *, is_scored: bool) -> str | None:
    """Why a run has no place among the others; None where it has one."""
    if run.why_failed is not None:
        return f"the run itself failed: {run.why_failed}"
    if run.manifest.get("dry_run"):
        return "a dry run: its answers are made up"
    if run.not_complete is not None:
        return f"not complete: {run.not_complete}"
    if is_scored:
        return None
    return f"nothing was answered ({', '.join(unanswered_why)})" if unanswered_why else "no item has a score"


def _notes(run: ComparedRun, n_unanswered: int, why: Sequence[str], *, is_floor: bool) -> Iterator[str]:
    if n_unanswered:
        yield f"{n_unanswered:,} of {len(run.items):,} items not answered ({', '.join(why)})"
    if is_floor:
        yield "no item scores above 0"


def rows_in_common(tables: Sequence[polars.DataFrame]) -> tuple[list[polars.Series], int]:
    """The rows, in each table, of the items that all have, asked alike, in the first one's order; and the number of
    items that not all have. Tables that are one object are looked at once.
    """
    import polars as pl

    distinct = {id(table): table.select(ASKED).with_row_index("row") for table in tables}
    first, *others = distinct.values()
    common = first.drop("row")
    for other in others:
        common = common.join(other.drop("row"), on=ASKED, how="inner", nulls_equal=True, maintain_order="left")
    rows = {
        key: common.join(table, on=ASKED, how="inner", nulls_equal=True, maintain_order="left")["row"]
        for key, table in distinct.items()
    }
    every = pl.concat([table.select(ASKED) for table in distinct.values()]).n_unique() if others else len(first)
    return [rows[id(table)] for table in tables], every - len(common)
