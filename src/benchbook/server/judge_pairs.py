"""The API's answers about runs that a judge compared in pairs: those that there are, and how their models rank."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

import msgspec

from benchbook.errors import RecordError, UsageError
from benchbook.exchange.pairs.reading import read_pairs
from benchbook.labels.pairs.folder import PAIRS, PairsFolder, is_pairs, open_pairs, pairs_in
from benchbook.labels.pairs.ranking import PairRanking, rank_by_pairs
from benchbook.labels.pairs.verdicts import Swap
from benchbook.record.folder import RUN_ID
from benchbook.server.operations import Request, file_stamp
from benchbook.server.problems import ProblemError
from benchbook.server.questions import PairsRankedAsked
from benchbook.server.services import Services
from benchbook.text import shorten
from benchbook.views.pairs_page import RankingWords, ranking_words


class ListedPairs(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that are compared in pairs, under the names that they have in rankings; `lacks` names the first record that
    is not complete."""

    pairs: str
    runs: dict[str, str]  # each model's run
    baseline: str | None  # the model that the others are held against; null: each against each
    lacks: str | None


class PairsList(msgspec.Struct, frozen=True, kw_only=True):
    """By name, the latest first."""

    pairs: tuple[ListedPairs, ...]


class PairsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Rankings by the verdicts of both orders, of each judge one where there are several; and the same in words."""

    pairs: str
    runs: dict[str, str]
    rankings: tuple[PairRanking, ...]
    words: tuple[RankingWords, ...]


_ABOUT_BYTES = 1 << 17  # of an answer in memory


def list_pairs(call: Request) -> PairsList:
    """All runs in pairs beside the folder of records."""
    return PairsList(pairs=tuple(_listed(one) for one in reversed(pairs_in(_folder(call.services)))))


def _listed(folder: PairsFolder) -> ListedPairs:
    plan = folder.plan
    return ListedPairs(
        pairs=folder.path.name,
        runs=_runs(folder),
        baseline=None if plan.baseline is None else plan.sources[plan.baseline].model,
        lacks=folder.lacking(),
    )


def _runs(folder: PairsFolder) -> dict[str, str]:
    return {one.model: one.run_id for one in folder.plan.sources}


def get_pairs(call: Request) -> PairsAnswer:
    """How the models of some runs rank, computed from the records. Raises: ProblemError (404, 409)."""
    name, asked = call.path["pairs"], call.query
    assert isinstance(asked, PairsRankedAsked)  # noqa: S101 - the operation says so
    path = _folder(call.services) / name
    if not RUN_ID.fullmatch(name) or not is_pairs(path):
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there are no runs in pairs {shorten(name, 100)!r}")
    folder = open_pairs(path)
    call.is_of(asked.swap, *(file_stamp(one.manifest) for one in folder.asked()))
    return call.services.kept.get(
        ("pairs", name, call.etag), lambda: _answer(folder, asked.swap), lambda _: _ABOUT_BYTES
    )


def _answer(folder: PairsFolder, swap: Swap) -> PairsAnswer:
    if (lacking := folder.lacking()) is not None:
        raise ProblemError(HTTPStatus.CONFLICT, f"pairs {folder.path.name!r} are not complete: {lacking} is not")
    try:
        verdicts = read_pairs([folder.path])
        several = len({one.judge for one in verdicts}) > 1
        found = rank_by_pairs(verdicts, by_judge=several, swap=swap)
    except (UsageError, RecordError) as error:
        detail = str(error).replace(f"{folder.path.parent}/", "")  # where the folders are is nobody's business
        raise ProblemError(HTTPStatus.CONFLICT, detail) from None
    return PairsAnswer(pairs=folder.path.name, runs=_runs(folder), rankings=tuple(found), words=ranking_words(found))


def _folder(services: Services) -> Path:
    return services.settings.runs.parent / PAIRS
