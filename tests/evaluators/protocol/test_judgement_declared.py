"""What is declared of judges that were asked elsewhere, and what is not known of them (SPEC P4.3, P7)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.cli.summary import rows_of
from benchbook.errors import BenchbookError, ConfigError, UsageError
from benchbook.evalsets.output_sets import OutputSet
from benchbook.evaluators.protocol.config import Declarations, declarations_from, tools_of
from benchbook.evaluators.protocol.import_record import ImportConfig, ImportedRecord, record_judgements
from benchbook.evaluators.protocol.imported import ImportedJudgement
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.verify import verify
from benchbook.views.protocol.archive_model import Archive
from benchbook.views.protocol.report import archive_of, declared_prompts_of
from evaluators.protocol.test_judgement_record import judgement
from judging import make_set

PROMPT = "You judge. Schätze!\r\n"


def two_judges(outputs: OutputSet, *dates: str) -> list[ImportedJudgement]:
    """Judgements by z and y; the reply of each bears one of the dates."""
    found = []
    for number, day in enumerate(dates):
        one = judgement(outputs, number)
        found.append(
            judgement(outputs, number, judge_model="zy"[number % 2], reply=one.reply.replace("2026-01-01", day))
        )
    return found


def recorded(folder: Path, judges: Declarations, *dates: str, **more: Any) -> tuple[ImportedRecord, Archive]:
    outputs = make_set(folder)
    config = ImportConfig(runs=str(folder / "runs"), run_id="a", judges=judges, **more)
    made = record_judgements(outputs, two_judges(outputs, *dates), config)
    archive = archive_of(
        made.derived.manifest, made.derived.aggregates, rows_of(made.record)(), protocol_v1(),
        declared_prompts=declared_prompts_of(made.record),
    )  # fmt: skip
    return made, archive


def settings(folder: Path, text: str) -> str:
    (folder / "prompt.txt").write_bytes(PROMPT.encode())
    path = folder / "judges.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_nobody_declares_is_not_known(tmp_path: Path) -> None:
    made, archive = recorded(tmp_path, Declarations(), "2026-03-15", "2026-03-14")
    unknown = {"model_version": None, "params": None, "tools": None, "web_access": None}
    assert {name: used.items() >= unknown.items() for name, used in made.derived.manifest.judges.items()} == {
        "y": True, "z": True,
    }  # fmt: skip
    assert {(one.version, one.params, one.tools, one.web_access) for one in archive.run_log.judges} == {(None,) * 4}
    assert archive.prompts == []


def test_what_is_declared_stands_in_manifest_and_run_log(tmp_path: Path) -> None:
    file = settings(
        tmp_path,
        '[judges.z]\nversion = "z-2026"\nparams = {temperature = 0}\ntools = []\nweb_access = false\n'
        'prompt = "prompt.txt"\n'
        '[judges.y]\nversion = "y-2025"\n',
    )
    judges = declarations_from({"version": "any", "web_access": True, "tools": ("search",)}, file)
    made, archive = recorded(tmp_path, judges, "2026-03-15", "2026-03-14", "2026-03-16")
    y, z = archive.run_log.judges
    assert (y.judge_model, y.version, y.params, y.tools, y.web_access) == ("y", "y-2025", None, ("search",), True)
    assert (z.judge_model, z.version, z.params, z.tools, z.web_access) == ("z", "z-2026", {"temperature": 0}, (), False)
    (prompt,) = archive.prompts
    assert (prompt.text, prompt.sha256) == (PROMPT, hashlib.sha256(PROMPT.encode()).hexdigest())
    assert {(row.judge_model, row.prompt_sha256) for row in archive.rows} == {("y", None), ("z", prompt.sha256)}
    assert made.derived.manifest.judges["z"]["web_access"] is False
    assert verify(made.record).holds


@pytest.mark.parametrize(
    ("dates", "first", "last"),
    [
        (["2026-03-15", "2026-03-14", "2026-03-16"], "2026-03-14", "2026-03-16"),
        (["yesterday", "2026-02-30"], None, None),
        (["yesterday", "2026-03-14"], "2026-03-14", "2026-03-14"),
    ],
    ids=["all", "none", "one"],
)
def test_the_time_range_is_that_of_the_evaluations(
    tmp_path: Path, dates: list[str], first: str | None, last: str | None
) -> None:
    made, archive = recorded(tmp_path, Declarations(), *dates)
    log = archive.run_log
    assert (log.started_utc, log.ended_utc) == (first, last)
    assert log.imported_utc == made.derived.manifest.timestamp_utc
    assert (made.derived.manifest.evaluated_from, made.derived.manifest.evaluated_to) == (first, last)


@pytest.mark.parametrize(("prompts", "task"), [(None, "unknown"), ("prompts.jsonl", "known")])
def test_a_set_without_prompts_is_said(tmp_path: Path, prompts: str | None, task: str) -> None:  # P4.3
    path = None if prompts is None else str(tmp_path / prompts)
    made, archive = recorded(tmp_path, Declarations(), "2026-03-15", prompts=path)
    assert made.derived.aggregates.task == made.derived.manifest.task == archive.run_log.task == task
    said = [warning for warning in made.derived.aggregates.warnings if "asked is not known" in warning]
    assert len(said) == (task == "unknown")
    assert verify(made.record).holds


def test_prompts_that_lack_one_are_refused(tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text(json.dumps({"question_id": "q0", "prompt": "When?"}), encoding="utf-8")
    with pytest.raises(ConfigError, match="none for question 'q1' under variant 'base', and 1 more"):
        recorded(tmp_path, Declarations(), "2026-03-15", prompts=str(tmp_path / "few.jsonl"))
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            "[judges.x]\nversion = '1'\n", "judges.'x': found no judgement by it; expected 'y' or 'z'", id="who"
        ),
        pytest.param("[judges.z]\nverson = '1'\n", "verson", id="misspelt"),
        pytest.param("[judges.z]\nweb_access = 'no'\n", "web_access", id="no-boolean"),
        pytest.param("[judges.z]\nparams = {top_p = nan}\n", "params: found nan", id="no-json"),
        pytest.param("[judges.z]\nprompt = 'absent.txt'\n", "absent.txt: can't be read", id="no-file"),
        pytest.param("[judges.z]\nprompt = 'judges.bin'\n", "expected UTF-8", id="no-text"),
        pytest.param("judges = 3\n", "judges", id="no-table"),
        pytest.param("[judge.z]\n", "judge", id="another-name"),
        pytest.param("[judges", "no TOML", id="no-toml"),
    ],
)
def test_a_declaration_that_is_none_is_told_and_nothing_is_recorded(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "judges.bin").write_bytes(b"\xff")
    with pytest.raises(BenchbookError) as error:
        recorded(tmp_path, declarations_from({}, settings(tmp_path, text)), "2026-03-15", "2026-03-14")
    assert isinstance(error.value, UsageError)
    assert says in str(error.value)
    assert not (tmp_path / "runs").exists()


def test_no_tools_are_said_so() -> None:
    assert (tools_of(["none"]), tools_of(["search", "python"])) == ((), ("search", "python"))
    with pytest.raises(ConfigError, match="none beside others"):
        tools_of(["none", "search"])
