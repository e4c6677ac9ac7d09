"""Runs compared in pairs by a judge that is asked: `bb.judge_pairs` begins, `bb.resume_pairs` goes on; both rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack

from benchbook.ask.work import ProgressHandler
from benchbook.ask.work import run_async as run_in_loop
from benchbook.exchange.asking_pairs import PairsAsked, go_on, prepared_pairs
from benchbook.exchange.pairs.reading import read_pairs
from benchbook.exchange.verifying_pairs import verify_pairs
from benchbook.labels.pairs.folder import PAIRS, PairsFolder, pairs_named
from benchbook.labels.pairs.ranking import rank_by_pairs
from benchbook.library.asking import as_settings
from benchbook.library.keywords import AuditSittingKeywords, PairsKeywords, check_names
from benchbook.library.objects import AnyRun, record_of
from benchbook.library.pairs import PairRankings
from benchbook.library.verified import Verified
from benchbook.views.progress import progress_asked

_ASKED = frozenset(one.name for one in fields(PairsAsked))


class JudgedPairs(PairRankings):
    """The rankings of runs in pairs, of each judge one where there are several. The records are in `path`; `stopped`
    says why it ended early, if it did: nothing is ranked then (`bb.resume_pairs`).
    """

    def __init__(self, folder: PairsFolder, stopped: str | None) -> None:
        verdicts = [] if stopped is not None else read_pairs([folder.path])
        several = len({one.judge for one in verdicts}) > 1
        super().__init__(rank_by_pairs(verdicts, by_judge=several))
        self._folder, self.stopped = folder, stopped

    @property
    def path(self) -> Path:
        """The folder, which `bb.rank_pairs` ranks in other ways."""
        return self._folder.path

    def verify(self, *, expect: str | None = None) -> Verified:
        """All of it held against itself, offline: the records, and the pairs of answers that each judged."""
        return Verified.of(verify_pairs(self._folder, expect=expect))


def judge_pairs(
    *run: AnyRun,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[PairsKeywords],
) -> JudgedPairs:
    """Ask a judge which of two runs' answers is better, item by item, in both orders, and rank the models.

    As `benchbook judge pairs RUN RUN --judge MODEL`; `judge` may be a function. With `baseline`, the place of a run
    from 0, the others are held against that one alone. Each order of each pair is a record in pairs/PAIRS_ID.

    Raises: UsageError and its kin before anything is asked; RecordError. What stops early returns: see
    `JudgedPairs.stopped`.
    """
    return run_in_loop(judge_pairs_async(*run, runs=runs, on_progress=on_progress, progress=progress, **settings))


async def judge_pairs_async(
    *run: AnyRun,
    runs: str | Path = "runs",
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[PairsKeywords],
) -> JudgedPairs:
    """As `judge_pairs`, inside an event loop."""
    check_names(settings, PairsKeywords, judge_pairs_async)
    own: dict[str, Any] = {name: value for name, value in settings.items() if name in _ASKED}
    own["pairs"] = str(own.get("pairs", PAIRS))
    with as_settings({name: value for name, value in settings.items() if name not in _ASKED}) as given:
        prepared = prepared_pairs([record_of(one, runs) for one in run], given, PairsAsked(**own))
        return await _asked(prepared.begin(), {}, on_progress, progress)


def resume_pairs(
    pairs_id: str | Path,
    *,
    pairs: str | Path = PAIRS,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditSittingKeywords],
) -> JudgedPairs:
    """Go on with runs in pairs where it ended: a folder, or an id in `pairs`. `settings` may hold limits and addresses.

    Raises: as `judge_pairs`.
    """
    return run_in_loop(
        resume_pairs_async(pairs_id, pairs=pairs, on_progress=on_progress, progress=progress, **settings)
    )


async def resume_pairs_async(
    pairs_id: str | Path,
    *,
    pairs: str | Path = PAIRS,
    on_progress: ProgressHandler | None = None,
    progress: bool | None = None,
    **settings: Unpack[AuditSittingKeywords],
) -> JudgedPairs:
    """As `resume_pairs`, inside an event loop."""
    check_names(settings, AuditSittingKeywords, resume_pairs_async)
    with as_settings(settings) as given:
        return await _asked(pairs_named(str(pairs_id), pairs), given, on_progress, progress)


async def _asked(
    folder: PairsFolder, changes: Mapping[str, Any], on_progress: ProgressHandler | None, progress: bool | None
) -> JudgedPairs:
    with progress_asked(progress, on_progress) as told:
        stop = await go_on(folder, changes, told)
    return JudgedPairs(folder, stop.reason)
