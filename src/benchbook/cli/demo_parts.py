"""The parts of `benchbook demo`, each as data: a run, a changed byte, two prompts, quotes that are looked up."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.ask.installed import small_model_is_here
from benchbook.ask.providers.local import SMALL_MODEL
from benchbook.errors import RunStoppedError
from benchbook.evaluators.settings import RunConfig
from benchbook.record.folder import Record

if TYPE_CHECKING:
    from benchbook.ask.starting import RunResult
    from benchbook.ask.work import ProgressHandler
    from benchbook.views.comparison_data import ComparisonReport

_SET = "@support_v1"
_ASSISTANT = "scripted/shop-assistant@1"
_JUDGE = "scripted/shop-judge@1"
_STORY = files("benchbook.cli").joinpath("demo_story")
_QUOTED_ITEMS = ("returns-unanswerable", "shipping-unanswerable")  # the answers that the last part's judge quotes


@dataclass(frozen=True, slots=True)
class Cast:
    """Who answers and who judges in the first part: the packaged model where it is installed, else two scripts."""

    model: str
    judge: str
    is_real: bool

    @classmethod
    def here(cls, *, scripted: bool = False) -> Cast:
        name = f"local/{SMALL_MODEL}"
        return cls(name, name, True) if small_model_is_here() and not scripted else cls(_ASSISTANT, _JUDGE, False)


def run_config(cast: Cast, *, runs: str, reports: str | None, repeats: int = 1) -> RunConfig:
    """The settings of the first part."""
    return RunConfig(
        evalset=_SET,
        model=cast.model,
        judge=cast.judge,
        repeats=repeats,
        model_params={"max_tokens": 64},  # a small model rambles, and two minutes are to do
        judge_params={"max_tokens": 256},
        runs=runs,
        reports=reports,
        timeout_ms=180_000,  # the model is slow on a busy machine, and the demo is to show its answers judged
    )


def played(config: RunConfig, on_progress: ProgressHandler | None) -> RunResult[Any]:
    """A run, begun and ended."""
    from benchbook.ask.work import run_async
    from benchbook.evaluators import registry

    return run_async(registry.start_run(config, on_progress))


# ── a changed byte ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ByteChanged:
    """A record held against its facts; and a copy of it, in which `changed` says which byte is another."""

    holds: bool
    sha256: str | None
    n_facts: int
    changed: str
    findings: list[str]


def verified(record: Record) -> ByteChanged:
    """The record verified, and a copy of it with one changed byte."""
    from benchbook.evaluators.verify import verify

    whole = verify(record)
    with tempfile.TemporaryDirectory(prefix="benchbook-demo-") as folder:
        copy = Path(folder) / "a-copy" / record.run_id
        shutil.copytree(record.path, copy)
        place = _change_one_byte(copy)
        findings = [str(finding) for finding in verify(Record(copy)).findings]
    return ByteChanged(whole.holds, whole.sha256, whole.n_facts, place, findings)


def _change_one_byte(folder: Path) -> str:
    path = folder / "journal" / "000001.jsonl"
    data = bytearray(path.read_bytes())
    at = random.Random(len(data)).randrange(len(data) // 4, len(data) // 2)  # noqa: S311 - any byte will do
    data[at] ^= 1
    path.write_bytes(bytes(data))
    return f"byte {at + 1} of {path.relative_to(folder)}"


# ── two prompts ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class TwoPrompts:
    """The records of one model under two prompts, and what changed between them."""

    before: Record
    after: Record
    report: ComparisonReport
    prompt: str  # the second's first line

    @property
    def items(self) -> list[dict[str, Any]]:
        """The items with a change, as `benchbook compare --json` has them."""
        from benchbook.views.comparison_data import comparison_json

        items: list[dict[str, Any]] = comparison_json(self.report)["comparisons"][0]["items"]
        return items


def two_prompts(runs: str) -> TwoPrompts:
    """The shop's assistant, a script, under the prompt that Benchbook ships, and under one that is to be friendly."""
    from benchbook.library.comparing import compare_records

    config = run_config(Cast.here(scripted=True), runs=runs, reports=None)
    with tempfile.TemporaryDirectory(prefix="benchbook-demo-") as folder:
        template = Path(folder) / "friendly.txt"
        template.write_bytes(_STORY.joinpath("friendly.txt").read_bytes())
        before = whole(played(config, None))
        after = whole(played(msgspec.structs.replace(config, prompt_template=str(template)), None))
        prompt = template.read_text(encoding="utf-8").partition("\n")[0]
    return TwoPrompts(before, after, compare_records([before, after]).report, prompt)


# ── quotes ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """One judge's evaluation of one answer: what it quotes, and what is wrong with that."""

    item_id: str
    answer: str
    quotes: list[dict[str, str]]  # quote and located
    valid: bool
    details: list[str]


def judged_quotes(items: list[dict[str, Any]], runs: str) -> tuple[Record, list[QuotedAnswer]]:
    """Two answers under the second prompt, judged by a script: it quotes one right, and puts words into the other."""
    from benchbook.ask.settings import read_toml
    from benchbook.ask.starting import start
    from benchbook.ask.work import run_async
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.registry import settings_asked_for

    texts = {item["item_id"]: item for item in items if item["item_id"] in _QUOTED_ITEMS}
    with _judging_files(texts) as folder:
        values = read_toml(folder / "judging.toml")
        values["judges"][0]["path"] = str(folder / "judge.json")
        values |= {"set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "runs": runs}
        evaluator, config = settings_asked_for(values, "demo")
        record = whole(run_async(start(evaluator, config)))
    return record, [_judged(row, texts[row.question_id]["text_b"]) for row in rows_of(record)()]


def _judged(row: Any, answer: str) -> QuotedAnswer:
    quotes = [{"quote": one.quote, "located": one.located} for one in row.evidence]
    return QuotedAnswer(row.question_id, answer, quotes, row.valid, [one.message for one in row.details])


@contextmanager
def _judging_files(texts: dict[str, dict[str, Any]]) -> Iterator[Path]:
    """A folder with a judge's settings and script, the set of these answers, and what was asked."""
    from benchbook.evalsets.output_set_sources import find_in_table
    from benchbook.evalsets.output_sets import write_output_set

    with tempfile.TemporaryDirectory(prefix="benchbook-demo-") as name:
        folder = Path(name)
        for file in ("judging.toml", "judge.json"):
            (folder / file).write_bytes(_STORY.joinpath(file).read_bytes())
        common = {"prompt_variant": "friendly", "target_model": "shop-assistant", "output_id": "1"}
        outputs = [{"question_id": key, **common, "text": item["text_b"]} for key, item in texts.items()]
        prompts = [{"question_id": key, "prompt": item["prompt"]} for key, item in texts.items()]
        for stem, rows in (("outputs", outputs), ("prompts", prompts)):
            (folder / f"{stem}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        write_output_set(find_in_table(str(folder / "outputs.jsonl"), None).candidates, str(folder / "set"))
        yield folder


def whole(result: RunResult[Any]) -> Record:
    """The record of a run that came to its end. Raises: RunStoppedError for one that was stopped."""
    from benchbook.cli.sitting import resumable

    if result.stop.reason is not None:
        raise RunStoppedError(resumable(result, "run"))
    return result.record
