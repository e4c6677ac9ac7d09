"""The parts of an archive besides its evaluations: the prompts, the run log, the probes (SPEC P5, P7)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.analysis import analyse
from benchbook.evaluators.protocol.evaluation_rows import CoverageGap, EvaluationRow, sha256_of
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.rows import Analysis, LeagueRules, Minimums, Task
from benchbook.evaluators.protocol.spec import Protocol


@dataclass(frozen=True, slots=True)
class UsedPrompt:
    """A judge prompt's template, as it was used."""

    name: str  # judge_protocol@v1, or what an import calls it
    text: str

    @property
    def sha256(self) -> str:
        """The hash by which a row's `prompt_sha256` names it."""
        return sha256_of(self.text)


class JudgeUsed(msgspec.Struct, frozen=True, kw_only=True):
    """One judge as it was run. A null is what nobody knows, which is common for judgements made elsewhere."""

    judge_model: str
    version: str | None = None
    params: dict[str, Any] | None = None  # decoding parameters: temperature, top_p, max_tokens, seed
    tools: Sequence[str] | None = None  # empty: it had none
    web_access: bool | None = None


class RunLog(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of P7, with what the analysis was declared to ask."""

    experiment: str
    spec: str
    spec_sha256: str
    evidence: str  # must_be_found or report (P4.1)
    judges: list[JudgeUsed]
    n_samples: int  # cells of the evaluation set
    started_utc: str | None = None
    ended_utc: str | None = None
    journal_sha256: str | None = None
    gaps: list[CoverageGap] = []
    minimums: Minimums = Minimums()
    rules: LeagueRules = LeagueRules()
    # Since derivation 3; archives of older records have none of these.
    derivation: int | msgspec.UnsetType = msgspec.UNSET
    task: Task | msgspec.UnsetType = msgspec.UNSET  # whether what the targets were asked is known (P4.3)
    imported_utc: str | msgspec.UnsetType = msgspec.UNSET  # began and ended are then the evaluations' own dates
    n_unanswered: int | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class Archive:
    """All that an archive's files hold; `rows` in the one order of rows."""

    rows: list[EvaluationRow]
    prompts: list[UsedPrompt]
    run_log: RunLog
    protocol: Protocol
    probes: list[ProbeResult] = field(default_factory=list)
    derivation: int = DERIVATION  # the record's: by it go the intervals of the analysis

    def analysis(self) -> Analysis:
        """The analysis of its evaluations."""
        log = self.run_log
        return analyse(
            self.rows,
            self.protocol,
            gaps=log.gaps,
            probes=self.probes,
            minimums=log.minimums,
            rules=log.rules,
            derivation=self.derivation,
        )


MAX_LENGTH = 54  # four names, a repeat and two endings fit the 255 bytes that file systems allow
_FEWEST_DIGITS = 12
_LEGIBLE = 32
# No `__` and no `_` at either end: names are joined by `__`, and must come apart again.
_PLAIN = re.compile(r"(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9-])?")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_ILLEGIBLE = re.compile(r"[^A-Za-z0-9]+")


def safe_names(ids: Iterable[str]) -> dict[str, str]:
    """A name for each id: unlike every other one, on file systems that fold case and normal forms too.

    Names are ASCII, at most `MAX_LENGTH` long, and depend on the set of ids alone.
    """
    wanted = sorted(set(ids))
    folded = Counter(one.lower() for one in wanted if _is_plain(one))
    hashed = [one for one in wanted if not _is_plain(one) or folded[one.lower()] > 1]
    names = {one: one for one in wanted} | _hashed_names(hashed)
    return {one: names[one] for one in wanted}


def _is_plain(one: str) -> bool:
    return len(one) <= MAX_LENGTH and _PLAIN.fullmatch(one) is not None and not _DEVICE.fullmatch(one)


def _hashed_names(ids: Collection[str]) -> dict[str, str]:
    """Names with enough digits of the hash to tell them apart: nobody gains by searching for a short collision."""
    digests = {one: hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest() for one in ids}
    digits = _FEWEST_DIGITS
    while len({digest[:digits] for digest in digests.values()}) < len(digests):
        digits += 4
    return {one: (_legible(one, digits) or "id") + "~" + digest[:digits] for one, digest in digests.items()}


def _legible(one: str, digits: int) -> str:
    room = max(min(_LEGIBLE, MAX_LENGTH - 1 - digits), 0)
    return _ILLEGIBLE.sub("-", one[: 4 * _LEGIBLE]).strip("-")[:room].rstrip("-")


VALID, INVALID, PROMPTS = "valid_evaluations", "invalid_evaluations", "used_prompts"
MANIFEST, RUN_LOG = "used_prompt_manifest.md", "run_log.json"
PROBES, ANALYSIS = "judge_probes.json", "results_analysis.md"
SPEC = "used_spec"  # the files of a protocol of the user's own
FOLDERS = (VALID, INVALID, SPEC, PROMPTS)
PARTS = frozenset({*FOLDERS, MANIFEST, RUN_LOG, PROBES, ANALYSIS})
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
        """The path of the judge's raw reply, beside its invalid evaluation."""
        return self.path(row).removesuffix(".json") + REPLY
