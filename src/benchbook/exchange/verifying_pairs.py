"""Runs in pairs held against themselves: each record, and that it judged the answers of the runs that it should."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.evaluators.verify import Verification
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.exchange.paired_answers import paired_answers
from benchbook.exchange.verifying_folders import CopiedRun, check_judged, verify_folder
from benchbook.labels.pairs.folder import SOURCES, PairsFolder
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import is_record

_DIFFERS = "its {name} are not the pairs of answers that the two runs make"


def verify_pairs(
    folder: PairsFolder, *, expect: str | None = None, on_progress: VerifyHandler | None = None
) -> Verification:
    """Check all records, the copies of the runs among them, and that each judged pairs of these runs' answers.

    Its hash is that of the plan and of all records' hashes; with `expect`, it must be that one.
    Raises: LaterRecordError.
    """
    sources = zip(folder.sources, folder.plan.sources, strict=True)
    return verify_folder(
        folder.plan,
        {f"{SOURCES}/{record.path.name}": CopiedRun(record, one.run_id, one.run_sha256) for record, one in sources},
        folder.asked(),
        lambda _: _follow(folder),
        is_complete=lambda: folder.lacking() is None,
        expect=expect,
        on_progress=on_progress,
    )


def _follow(folder: PairsFolder) -> Iterator[Discrepancy]:
    """The records that did not judge what follows from the plan and the copies of the runs, which are whole."""
    plan = folder.plan
    with paired_answers(folder.sources, n=plan.n, seed=plan.seed) as answers:
        for order in plan.orders:
            record = folder.order(*order)
            if is_record(record.path):
                made = answers.settings(*order, {**plan.settings, "spec": folder.spec})
                yield from check_judged(record, made, _DIFFERS)
