"""An offline run of W&B's: files in a folder, which `wandb sync` uploads once somebody wants that.

Nothing is sent from here, no key is needed, and nothing is kept of the machine: neither its name, nor its load, nor the
command, nor the repository around it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchbook.errors import UsageError
from benchbook.integrations.trackers.kinds import environment
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.integrations.trackers.sending import items_table, run_facts, run_metrics, written_report
from benchbook.text import plural

_PROJECT = "benchbook"
_DEFAULTS = {"WANDB_ERROR_REPORTING": "false"}  # nobody is told of anything


def opened(endpoint: str | None, *, texts: bool) -> WandbTracker:
    """A tracker that writes into a folder: `endpoint`, WANDB_DIR, or here. Raises: ImportError; UsageError."""
    if endpoint is not None and "://" in endpoint:
        raise UsageError("endpoint: found an address; expected a folder: W&B's files are written, then `wandb sync`")
    return WandbTracker(endpoint or os.environ.get("WANDB_DIR") or ".", texts=texts)


class WandbTracker:
    """Writes an offline run. The project is WANDB_PROJECT's, by default `benchbook`."""

    def __init__(self, folder: str | Path, *, texts: bool = False) -> None:
        with environment(**_DEFAULTS):
            import wandb

        self._wandb = wandb
        self._folder = Path(folder)
        self._texts = texts

    def send(self, results: RecordResults, samples: Iterable[SampleResult]) -> str:
        uid = results.run.uid("wandb", self._texts)
        table = items_table(samples, texts=self._texts)
        there = sorted((self._folder / "wandb").glob(f"offline-run-*-{uid}"))
        if there:
            return f"{there[0]} has it already; remove that folder to have it written anew"
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = str(self._folder.resolve() / "wandb")  # tables, until they are uploaded
        with environment(**_DEFAULTS, WANDB_DATA_DIR=kept):
            folder = self._written(results, uid, table.columns, table.rows)
        n_metrics = plural(len(run_metrics(results.run)), "metric")
        return f"{folder}: {n_metrics}, a table of items{table.words}; `wandb sync {folder}` uploads it"

    def _written(self, results: RecordResults, uid: str, columns: list[str], rows: list[list[Any]]) -> Path:
        run = results.run
        settings = self._wandb.Settings(
            silent=True,
            console="off",
            host=_PROJECT,  # in the place of the machine's name
            save_code=False,
            disable_git=True,
            x_disable_meta=True,
            x_disable_machine_info=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        written = self._wandb.init(
            mode="offline",
            dir=str(self._folder),
            project=os.environ.get("WANDB_PROJECT") or _PROJECT,
            id=uid,
            name=run.run_id,
            group=run.eval_set,
            job_type="evaluation",
            tags=[run.evaluator[:64]],
            config=run_facts(run) | dict(run.settings),
            settings=settings,
            reinit="create_new",  # whoever calls may have a run of their own
        )
        try:
            report = Path(written.dir) / "report"
            report.mkdir()
            for path in written_report(results, report, texts=self._texts):
                written.save(str(path), base_path=written.dir, policy="end")
            written.log({"items": self._wandb.Table(columns=columns, data=rows, allow_mixed_types=True)})
            written.summary.update(run_metrics(run) | {"decision": run.decision, "reasons": list(run.reasons)})
        finally:
            written.finish()
        return Path(written.settings.sync_dir)
