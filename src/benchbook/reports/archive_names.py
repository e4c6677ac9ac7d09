"""How an archive's files are named, and where in it an evaluation lies (SPEC P5)."""

from __future__ import annotations

from collections.abc import Iterable

from benchbook.derivations.evaluation_rows import EvaluationRow
from benchbook.reports.safe_names import safe_names

__all__ = [
    "ANALYSIS",
    "INVALID",
    "MANIFEST",
    "PARTS",
    "PROBES",
    "PROMPTS",
    "README",
    "REPLY",
    "RUN_LOG",
    "VALID",
    "ArchiveNames",
]

VALID, INVALID, PROMPTS = "valid_evaluations", "invalid_evaluations", "used_prompts"
MANIFEST, RUN_LOG = "used_prompt_manifest.md", "run_log.json"
PROBES, ANALYSIS = "judge_probes.json", "results_analysis.md"
PARTS = frozenset({VALID, INVALID, PROMPTS, MANIFEST, RUN_LOG, PROBES, ANALYSIS})
README = "README.md"  # in each of the two folders
REPLY = ".reply.txt"  # how the file with a raw reply ends
_IDS = ("method", "judge_model", "question_id", "prompt_variant", "target_model", "output_id")


class ArchiveNames:
    """The paths of an archive's evaluations, from the ids of all of them."""

    def __init__(self, rows: Iterable[EvaluationRow]) -> None:
        ids: dict[str, set[str]] = {name: set() for name in _IDS}
        for row in rows:
            for name, known in ids.items():
                known.add(getattr(row, name))
        self._names = {name: safe_names(known) for name, known in ids.items()}

    def path(self, row: EvaluationRow) -> str:
        """`valid_evaluations/cross_judge/<judge>/<question>__<variant>__<target>__<output>.json`, with `/`.

        A repeat after the first has its number behind the output: `__repeat-2`.
        """
        method, judge, *parts = (self._names[name][getattr(row, name)] for name in _IDS)
        if row.repeat:
            parts.append(f"repeat-{row.repeat + 1}")
        return f"{VALID if row.valid else INVALID}/{method}/{judge}/{'__'.join(parts)}.json"

    def reply_path(self, row: EvaluationRow) -> str:
        """Beside an invalid evaluation: the judge's raw reply."""
        return self.path(row).removesuffix(".json") + REPLY
