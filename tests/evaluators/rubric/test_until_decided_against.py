"""Runs that end once they are shown better or worse than another: resumable, and derived from their own record."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.requests import plan_sha256
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError, RecordDamagedError, UsageError
from benchbook.evaluators.registry import evaluator_of, resume_run
from benchbook.evaluators.rubric.asking import samples_in_order
from benchbook.evaluators.rubric.plan import UntilDecided, plan_of
from benchbook.evaluators.rubric.rows import EarlyStop, PairedStop
from benchbook.evaluators.rubric.tables import derive
from benchbook.evaluators.settings import read_config_file
from benchbook.evaluators.verify import verify
from benchbook.labels.labels import give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.library.comparing import compare_records, regression_gate
from benchbook.record.facts import Interrupted, Reply, RunEnded
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.views.comparison_tables import first_line, notices
from running import benchbook_here, options, run, write_items
from scripted_server import GOOD_VERDICT, OK_JUDGE, ScriptedServer, always_good, running

ITEMS = 90


def a_third_wrong(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Items 0, 3, 6, … are judged wrong, whenever they are asked."""
    found = re.search(r"What is (\d+) \+ 1", request["messages"][-1]["content"])
    if role == "judge" and found is not None and int(found[1]) % 3 == 0:
        return OK_JUDGE | {"content": json.dumps(GOOD_VERDICT | {"accuracy_score": 0})}
    return always_good(role, n, request)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Runs to be held against, of the same items: `weak` fails a third of them, `strong` none."""
    folder = tmp_path_factory.mktemp("bases")
    for name, replies in (("weak", a_third_wrong), ("strong", always_good)):
        with running(replies) as server:
            run(folder, server, ITEMS, run_id=name)
    return folder


@pytest.fixture
def folder(bases: Path, tmp_path: Path) -> Path:
    shutil.copytree(bases, tmp_path, dirs_exist_ok=True)
    return tmp_path


def held(folder: Path, server: ScriptedServer, against: str, **settings: Any) -> RunResult:
    values = {"until_decided": True, "against": against, "max_connections": 1} | settings
    return run(folder, server, ITEMS, **values)


def early(result: RunResult) -> tuple[EarlyStop, PairedStop]:
    found = result.derived.aggregates.early_stop
    assert isinstance(found, EarlyStop)
    assert isinstance(found.against, PairedStop)
    return found, found.against


def facts(result: RunResult) -> list[Any]:
    return [line.fact for line in read_journal(result.record.journal)]


def base(folder: Path, name: str) -> Record:
    return Record(folder / "runs" / name)


def test_a_better_model_ends_once_that_is_shown(folder: Path) -> None:
    with running(always_good) as server:
        result = held(folder, server, "weak")
        asked = len(server.asked["candidate"])
    found, pairs = early(result)
    assert result.stop.reason is None
    assert isinstance(facts(result)[-1], RunEnded)
    assert result.derived.manifest.state == "complete"
    assert (found.after_items, found.n_samples_counted, found.n_samples_not_asked) == (asked, asked, ITEMS - asked)
    assert (found.decision, found.gates, found.method) == (None, (), "paired_betting")
    assert (pairs.run_id, pairs.verdict, pairs.n_lost, pairs.n_open) == ("weak", "better", 0, 0)
    assert pairs.journal_sha256 == verify(base(folder, "weak")).sha256
    order = list(samples_in_order(plan_of(result.record.started())))
    assert pairs.n_won == sum(item % 3 == 0 for item in order[:asked])
    assert [one.sample for one in facts(result) if isinstance(one, Reply) and one.role == "candidate"] == order[:asked]
    shutil.rmtree(folder / "runs" / "weak")  # its record alone is enough
    assert verify(result.record).findings == ()


def test_its_gates_are_not_decided_by_a_part_that_a_comparison_chose(folder: Path) -> None:
    with running(always_good) as server:
        result = held(folder, server, "weak")
    decision, (found, _) = result.derived.decision, early(result)
    assert decision is not None
    assert (decision.decision, decision.release_ready, decision.caps) == ("INCONCLUSIVE", True, ("part_of_items",))
    assert decision.reasons[0] == (
        f"decided after {found.after_items} of 90 items: better than weak; the run ended there, and whether it is "
        "ready was not asked"
    )
    (elsewhere := folder / "elsewhere").mkdir()
    with pytest.raises(UsageError, match="it stopped early"):
        derive(result.record, elsewhere, confidence=0.95)


def test_a_worse_model_and_one_that_nothing_is_shown_of(folder: Path) -> None:
    with running(a_third_wrong) as server:
        worse, alike = held(folder, server, "strong"), held(folder, server, "weak", run_id="alike")
    assert early(worse)[1].verdict == "worse"
    assert worse.derived.decision is not None
    assert worse.derived.decision.decision == "INCONCLUSIVE"
    assert "items: worse than strong; the run ended there" in worse.derived.decision.reasons[0]
    found, pairs = early(alike)
    assert (found.after_items, found.n_samples_not_asked) == (None, 0)
    assert (pairs.verdict, pairs.n_won) == (None, None)
    assert alike.derived.decision is not None
    assert alike.derived.decision.decision == "NOT_READY"  # by the bounds of all items, as any run
    assert not verify(alike.record).findings


def test_it_resumes_to_the_same_item_and_is_rescored_to_the_same_bytes(folder: Path) -> None:
    with running(always_good) as server:
        whole = held(folder, server, "weak")
        prices = {"max_cost_usd": Decimal("0.002"), "model_input_price": Decimal(10), "run_id": "parts"}
        part = held(folder, server, "weak", **prices)
        assert isinstance(facts(part)[-1], Interrupted)
        assert early(part)[1].verdict is None
        resumed = run_async(resume_run(part.record, {"max_cost_usd": Decimal(1)}))
    assert early(resumed) == early(whole)
    before = {path.name: path.read_bytes() for path in resumed.record.path.iterdir() if path.is_file()}
    evaluator_of(resumed.record).derive(resumed.record, resumed.record.path)
    assert {name: (resumed.record.path / name).read_bytes() for name in before} == before
    assert not verify(resumed.record).findings


@pytest.mark.parametrize("cut", [10, 25, -1])
def test_a_journal_that_was_cut_by_a_kill_goes_on_to_the_same_item(folder: Path, cut: int) -> None:
    with running(always_good) as server:
        whole = held(folder, server, "weak")
        found, journal = early(whole), whole.record.journal / "000001.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        torn = b"" if cut == -1 else lines[cut][:20]
        journal.write_bytes(b"".join(lines[:cut]) + torn)
        for name in ("manifest.json", "aggregates.json", "decision.json", "samples.parquet"):
            (whole.record.path / name).unlink()
        shutil.rmtree(folder / "runs" / "weak")  # what it needs of that is in its own first fact
        resumed = run_async(resume_run(whole.record))
    assert early(resumed) == found
    assert not verify(resumed.record).findings


def test_other_numbers_of_repeats_are_held_against_one_another(folder: Path) -> None:
    with running(always_good) as server:
        result = held(folder, server, "weak", repeats=2)
    found, pairs = early(result)
    assert pairs.verdict == "better"
    assert found.after_items is not None
    assert found.n_samples_counted == 2 * found.after_items
    assert not verify(result.record).findings


def test_a_plan_without_it_has_the_hash_it_always_had(folder: Path) -> None:
    with running(always_good) as server:
        plans = [
            plan_of(run(folder, server, ITEMS, run_id=f"r{n}", max_connections=1, **settings).record.started())
            for n, settings in enumerate(({"until_decided": True}, {"until_decided": True, "against": "weak"}))
        ]
    rule = plans[0].until_decided
    assert isinstance(rule, UntilDecided)
    assert msgspec.to_builtins(rule) == {"error": 0.05, "seed": 0, "method": "betting_without_replacement"}
    assert plan_sha256(plans[0]) != plan_sha256(plans[1])


# ── comparisons of what ended early ──────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_comparison_pairs_what_was_counted_and_says_so(folder: Path) -> None:
    with running(always_good) as server:
        result = held(folder, server, "weak")
    n = early(result)[0].after_items
    pair = compare_records([base(folder, "weak"), result.record]).pairs[0]
    assert first_line(pair) == f"{n} items compared, {ITEMS - n} left out ({ITEMS - n} not asked in B)."
    assert notices(pair)[0] == (
        f"Run B ended early, after {n} of 90 items, once it was shown better than weak. That was a test that holds "
        "whenever one looks, of the items' passes, with an error of at most 5 %. What is compared here are the items "
        "that it counted; intervals and p take their number as fixed before, which it was not: they are too sure."
    )
    other = compare_records([base(folder, "strong"), result.record]).pairs[0]
    assert "That was a test" not in notices(other)[0]
    assert first_line(other) == first_line(pair)


@pytest.mark.slow
def test_the_gate_takes_the_answer_that_the_run_ended_with(folder: Path) -> None:
    with running(always_good) as server:
        better = held(folder, server, "weak").record
    with running(a_third_wrong) as server:
        worse = held(folder, server, "strong", run_id="worse").record
    weak, strong = base(folder, "weak"), base(folder, "strong")
    found = regression_gate(better, weak)
    assert (found.exit_code, found.check.missing) == (0, ())
    assert found.check.shown is not None
    assert found.check.shown.endswith("shown better than weak: by its passes, with an error of at most 5 %")
    found = regression_gate(worse, strong)
    assert found.exit_code == 1
    assert found.check.reasons[0].endswith("once it was shown worse than strong")
    for gate in (regression_gate(better, strong), regression_gate(better, weak, max_regressions=3)):
        assert (gate.exit_code, gate.check.outcome, len(gate.check.reasons)) == (4, "undecided", 1)
    assert "a run that asks all items tells" in regression_gate(better, strong).check.reasons[0]


@pytest.mark.slow
def test_labels_do_not_take_the_answer_that_a_judge_ended_the_run_with(folder: Path) -> None:
    """It ended by the judge's passes: of people's nothing was looked at on the way."""
    with running(always_good) as server:
        better = held(folder, server, "weak").record
    weak, books = base(folder, "weak"), []
    for record in (weak, better):
        book = sample_labels(record, folder / f"labels-{record.run_id}", n=5, stratify=[], seed=0)
        given = [Given(sample, "ann", name, 2) for sample in book.started.samples for name in FIELDS]
        books.append(give_labels(book, given))
    found = regression_gate(better, weak, labels=books)
    assert (found.check.outcome, found.outcome, found.exit_code) == ("holds", "undecided", 4)
    assert found.people is not None
    (why,) = found.people.check.reasons
    assert why.endswith(", as judged: what people would judge, a run that asks all tells")
    assert found.people.check.shown is None


# ── what it can't be held against ────────────────────────────────────────────────────────────────────────────


def _interrupted(folder: Path, server: ScriptedServer) -> str:
    prices = {"max_cost_usd": Decimal("0.002"), "model_input_price": Decimal(10), "max_connections": 1}
    return run(folder, server, ITEMS, run_id="part", **prices).record.run_id


def _early(folder: Path, server: ScriptedServer) -> str:
    return held(folder, server, "weak", run_id="early").record.run_id


def _other_items(folder: Path, server: ScriptedServer) -> str:
    other = write_items(folder / "others.jsonl", ITEMS, section="s")
    return run(folder, server, ITEMS, run_id="others", evalset=str(other)).record.run_id


def _a_part(folder: Path, server: ScriptedServer) -> str:
    return run(folder, server, ITEMS, run_id="a-part", limit=20).record.run_id


def _other_judge(folder: Path, server: ScriptedServer) -> str:
    return run(folder, server, ITEMS, run_id="judged", judge_params={"temperature": 0.5}).record.run_id


@pytest.mark.parametrize(
    ("against", "says"),
    [
        pytest.param(_interrupted, "part, which is not complete: it is interrupted", id="interrupted"),
        pytest.param(
            _early, r"early, which ended early \(decided after \d+ of 90 items: better than weak\)", id="early"
        ),
        pytest.param(_other_items, r"the eval set differs \(evalset: dataset_version_or_hash\[0\]\)", id="eval-set"),
        pytest.param(_a_part, r"a-part, of which not the same was measured: the eval set differs", id="a-part"),
        pytest.param(_other_judge, r"the judge differs \(judge: .*params\.temperature\)", id="judge"),
    ],
)
def test_it_is_held_against_a_whole_run_of_the_same_measure_alone(folder: Path, against: Any, says: str) -> None:
    with running(always_good) as server:
        name = against(folder, server)
        with pytest.raises(ConfigError, match=says):
            held(folder, server, name)
    assert not base(folder, "run").path.exists()


def test_what_is_asked_of_the_model_may_be_what_is_tried_out(folder: Path) -> None:
    (folder / "prompt.txt").write_text("{{prompt}} Think first.\n{{context}}", encoding="utf-8")
    with running(always_good) as server:
        changes = {"prompt_template": str(folder / "prompt.txt"), "model_params": {"temperature": 0.7}}
        result = held(folder, server, "weak", **changes)
    assert early(result)[1].verdict == "better"
    noticed = notices(compare_records([base(folder, "weak"), result.record]).pairs[0])
    assert any("the prompt template differs" in one for one in noticed)


def test_no_record_a_damaged_one_and_groups_are_refused(folder: Path) -> None:
    with running(always_good) as server:
        with pytest.raises(UsageError, match="nowhere: not a record"):
            held(folder, server, "nowhere")
        with pytest.raises(ConfigError, match="against: found weak; expected until_decided with it"):
            run(folder, server, ITEMS, against="weak")
        grouped = write_items(folder / "grouped.jsonl", ITEMS, group="g")
        with pytest.raises(ConfigError, match="items have a group"):
            held(folder, server, "weak", evalset=str(grouped))
        (base(folder, "weak").journal / "000001.jsonl").write_bytes(b"")
        with pytest.raises(RecordDamagedError):
            held(folder, server, "weak")


def test_a_run_that_is_resumed_can_not_be_held_against_another(folder: Path) -> None:
    with running(always_good) as server:
        prices = {"max_cost_usd": Decimal("0.002"), "model_input_price": Decimal(10)}
        part = held(folder, server, "weak", **prices)
        with pytest.raises(UsageError, match="against is part of the plan"):
            run_async(resume_run(part.record, {"against": "strong"}))


def test_in_a_config_file_an_id_is_an_id_and_a_folder_lies_beside_the_file(tmp_path: Path) -> None:
    for value, expected in (("weak", "weak"), ("old/weak", str(tmp_path / "old" / "weak"))):
        (tmp_path / "run.toml").write_text(f'against = "{value}"\n', encoding="utf-8")
        assert read_config_file(tmp_path / "run.toml")["against"] == expected


def test_the_command_line_says_it_before_and_after(folder: Path) -> None:
    with running(always_good) as server:
        words = options(folder, server, reports=folder / "reports")
        asks = ("run", *words, "--until-decided", "--against", "weak")
        before = benchbook_here(*asks, "--dry-run").stdout.decode()
        refused = benchbook_here(*asks, "--gate")
        found = benchbook_here(*asks)
    shown = " ".join(found.stdout.decode().split())
    assert "stops  once better or worse than weak is shown, with an error of at most 0.05" in before
    assert "after 90 items at most, in an order drawn by chance" in before
    assert refused.returncode == 2
    assert b"--gate asks whether the run is READY" in refused.stderr
    assert found.returncode == 0, found.stderr
    assert re.search(r"decided after \d+ of 90 items: better than weak", shown)
    assert re.search(r"This run ended once it was shown better than weak, after \d+ of 90 items", shown)
    report = (folder / "reports" / "run" / "report.md").read_text(encoding="utf-8")
    assert "Shown | better: of these items' passes 0 lost," in report.replace("\\", "")
