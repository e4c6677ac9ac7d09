"""Records of checks: recorded, stopped and resumed, verified, rescored; a user's own spec, whose folder is gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.comparison.compared import compare
from benchbook.comparison.records import compared_run, rows_of_items
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evaluators.answers.tables import DERIVED_FILES
from benchbook.evaluators.registry import evaluator_named, evaluator_of, resume_run, start_run
from benchbook.evaluators.settings import read_config_file
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.specs import FROZEN
from running import write_items
from scored import scored, write_lines
from scripted_server import ScriptedServer, running

ITEMS = [
    {"id": name, "prompt": f"{name}?", "expected_answer": "red fox", "key": "B", "options": ["x", "y"]}
    for name in "abcd"
]
PREDICTIONS = [
    {"item_id": "a", "predicted": "red fox"},  # f1 1, no JSON, no option
    {"item_id": "b", "predicted": "fox B"},  # f1 2·1 / (2 + 2) = 0.5, no JSON, the option
    {"item_id": "c", "predicted": "{}"},  # f1 0, JSON, no option
]
OWN = """
name = "mine"
version = 3
about = "Words, form, and the option."

[[checks]]
name = "words"
kind = "token_f1"
at_least = 0.5

[[checks]]
name = "form"
kind = "json"
schema = "any.json"
must_pass = false
weight = 0.5

[[checks]]
name = "option"
kind = "choice"
expected = "{{item.key}}"
options = "{{item.options}}"
must_pass = false
"""


def own_spec(folder: Path, text: str = OWN) -> Path:
    """A user's own spec in a folder, with a schema, and a file that it does not name."""
    path = folder / "mine@v3"
    path.mkdir()
    (path / "spec.toml").write_text(text, encoding="utf-8")
    (path / "any.json").write_text('{"type": "object"}', encoding="utf-8")
    (path / "notes.txt").write_text("mine", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A record under a user's own spec, whose folder is gone."""
    folder = tmp_path_factory.mktemp("mine")
    spec = own_spec(folder)
    found: RunResult[Any] = scored(folder, PREDICTIONS, ITEMS, spec=str(spec))
    shutil.rmtree(spec)
    return found.record


@pytest.fixture
def mine(made: Record, tmp_path: Path) -> Record:
    """A copy of it, which may be changed."""
    shutil.copytree(made.path, tmp_path / "run")
    return Record(tmp_path / "run")


# ── what is recorded ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_aggregates_are_those_that_a_hand_works_out(mine: Record) -> None:
    """Weights 1, 0.5 and 1: items (1 + 0 + 0) / 2.5 = 0.4, (0.5 + 0 + 1) / 2.5 = 0.6, (0 + 0.5 + 0) / 2.5 = 0.2, 0."""
    file = bb.load(mine.path).aggregates
    assert (file.primary_score, file.pass_rate, file.no_prediction_rate) == (0.3, 0.5, 0.25)
    assert (file.n_items, file.n_scored, file.n_skipped, file.n_unanswered, file.n_passed) == (4, 3, 1, 0, 2)
    assert file.stddev == 0.25819889  # sqrt((0.1² + 0.3² + 0.1² + 0.3²) / 3)
    assert file.metrics == {"mine": 0.3, "words_mean": 0.375, "form_mean": 0.25, "option_mean": 0.25}
    assert file.misses == {"no_prediction": 1, "no_words_shared": 1}  # of the check that must pass
    assert file.checks["words"].misses == {"no_prediction": 1, "no_words_shared": 1, "some_words_shared": 1}
    assert file.checks["form"].misses == {"no_prediction": 1, "malformed_json": 2}
    assert sorted(file.intervals) == [
        "form_mean", "no_prediction_rate", "option_mean", "pass_rate", "primary_score", "words_mean"
    ]  # fmt: skip
    # A share of 2 of 4 is Wilson's: 0.5 ± 1.96 · sqrt(1 / 16 + 1.96² / 64) / (1 + 1.96² / 4).
    assert (file.intervals["pass_rate"].low, file.intervals["pass_rate"].high) == (0.150038989, 0.849961011)
    assert (file.intervals["pass_rate"].method, file.intervals["primary_score"].method) == ("wilson", "jeffreys")


def test_the_rows_have_three_columns_a_check(mine: Record) -> None:
    rows = pl.read_parquet(mine.samples)
    assert rows["score"].to_list() == [0.4, 0.6, 0.2, 0.0]
    assert rows["passed"].to_list() == [True, True, False, False]
    assert rows["miss_reason"].to_list() == [None, None, "no_words_shared", "no_prediction"]
    assert rows["words"].to_list() == [1.0, 0.5, 0.0, 0.0]
    assert rows["words_reason"].to_list() == [None, "some_words_shared", "no_words_shared", "no_prediction"]
    assert rows["option_found"].to_list()[1] == "B"
    lines = [json.loads(line) for line in (mine.path / "samples.jsonl").read_bytes().splitlines()]
    assert lines == rows.to_dicts()


def test_the_spec_s_files_are_inputs_and_others_are_not(mine: Record) -> None:
    started = mine.started()
    assert sorted(started.inputs) == ["evalset", "predictions", "spec/any.json", "spec/spec.toml"]
    assert (started.spec, started.identity["evaluator"]) == ("mine@v3", "checks")
    assert evaluator_of(mine).spec_sha256 == started.spec_sha256 == started.identity["plan"]["spec_sha256"]


@pytest.mark.parametrize("spec", ["choice@v1", "contains@v1", "number@v1"])
def test_a_shipped_one_is_named_with_its_frozen_hash(spec: str, tmp_path: Path) -> None:
    items = [{"id": "a", "prompt": "1?", "expected_answer": "1" if spec == "number@v1" else "A"}]
    made: RunResult[Any] = scored(tmp_path, [{"item_id": "a", "predicted": "(A) 1"}], items, spec=spec)
    started = made.record.started()
    assert (started.spec, started.spec_sha256) == (spec, FROZEN[spec])
    assert sorted(started.inputs) == ["evalset", "predictions"]
    assert made.derived.aggregates.primary_score == 1.0
    assert made.derived.aggregates.intervals["primary_score"].method == "wilson"  # of a score that is 0 or 1
    assert verify(made.record).holds


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_fields_of_the_user_s_own_are_read_from_tables_too(ending: str, tmp_path: Path) -> None:
    text = OWN[: OWN.index("[[checks]]")] + '[[checks]]\nname = "key"\nkind = "contains"\nexpected = "{{item.key}}"\n'
    rows = [{name: row[name] for name in ("id", "prompt", "key")} for row in ITEMS[:2]]
    path = tmp_path / f"set.{ending}"
    frame = pl.DataFrame(rows)
    {"jsonl": frame.write_ndjson, "csv": frame.write_csv, "parquet": frame.write_parquet}[ending](path)
    predictions = write_lines(tmp_path / "p.jsonl", PREDICTIONS[:2])
    run = bb.score(path, predictions, spec=own_spec(tmp_path, text), runs=tmp_path / "runs", run_id="r")
    assert run.samples["passed"].to_list() == [False, True]
    assert run.samples["expected"].to_list() == [None, None]  # no check asks for it
    assert run.verify().holds


# ── verified, rescored ───────────────────────────────────────────────────────────────────────────────────────


def test_a_record_needs_nothing_else(mine: Record, tmp_path: Path) -> None:
    assert verify(mine).findings == ()
    again = tmp_path / "again"
    again.mkdir()
    evaluator_of(mine).derive(mine, again)
    assert [name for name in DERIVED_FILES if (again / name).read_bytes() != (mine.path / name).read_bytes()] == []
    assert repr(bb.load(mine.path)) == "<ChecksRun run: 0.3, 2 of 4 passed>"


@pytest.mark.parametrize("name", ["evalset", "predictions", "spec/any.json", "spec/spec.toml"])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_a_changed_byte_of_an_input_is_named(mine: Record, name: str, place: float) -> None:
    path = mine.input(mine.started().inputs[name])
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= 1
    path.write_bytes(data)
    assert [finding.file for finding in verify(mine).findings] == [f"inputs/{path.name}"]


@pytest.mark.parametrize("name", DERIVED_FILES)
def test_a_changed_byte_of_a_derived_file_is_named(mine: Record, name: str) -> None:
    path = mine.path / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert name in {finding.file for finding in verify(mine).findings}


def test_a_record_that_names_another_spec_is_named(mine: Record) -> None:
    """Whoever writes a whole new journal around another spec is seen: its hash is not that of the files."""
    facts = [line.fact for line in read_journal(mine.journal)]
    (mine.journal / "000001.jsonl").unlink()
    facts[0].spec_sha256 = "0" * 64  # type: ignore[union-attr]
    with JournalWriter(mine.journal) as writer:
        for fact in facts:
            writer.append(fact)
    assert "was made under another mine@v3 than the one installed" in {found.what for found in verify(mine).findings}


# ── a model that is asked ────────────────────────────────────────────────────────────────────────────────────


def adds_one(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Right for even numbers, and off by one for odd ones."""
    del role, n
    number = int(request["messages"][0]["content"].split("What is ")[1].split(" ")[0])
    return {"status": 200, "content": f"It is {number + 1 + number % 2}."}


def begun(folder: Path, server: ScriptedServer, **settings: Any) -> RunResult[Any]:
    values = {
        "evalset": str(write_items(folder / "items.jsonl", 6)), "model": "openai/m@2026-01-01", "run_id": "run",
        "model_base_url": server.base_url, "runs": str(folder / "runs"), "max_connections": 1,
    }  # fmt: skip
    return run_async(start_run(evaluator_named("number@v1").settings(values | settings, "test")))


def test_a_model_is_asked_stopped_and_resumed(tmp_path: Path) -> None:
    def breaks(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 401} if n >= 3 else adds_one(role, n, request)

    spec = own_spec(tmp_path, OWN[: OWN.index("[[checks]]")] + '[[checks]]\nname = "sum"\nkind = "number"\n')
    with running(breaks) as server:
        made = begun(tmp_path, server, spec=str(spec))
    shutil.rmtree(spec)
    file = made.derived.aggregates
    assert (made.derived.decision.verdict, file.n_scored, file.n_unanswered) == ("incomplete", 3, 3)
    assert file.primary_score == 0.666666667  # of the three that were answered
    rows = pl.read_parquet(made.record.samples)
    assert rows["score"].to_list() == [1.0, 0.0, 1.0, None, None, None]
    assert rows["candidate_error"].to_list()[:4] == [None, None, None, "authentication"]
    assert verify(made.record).holds
    with running(adds_one) as server:
        again = run_async(resume_run(made.record, {"model_base_url": server.base_url}))
        assert len(server.asked["candidate"]) == 3
    assert (again.derived.decision.verdict, again.derived.aggregates.primary_score) == ("pass", 0.5)
    assert verify(again.record).holds


def test_what_was_given_up_counts_zero(tmp_path: Path) -> None:  # A3, R1.3b
    def refuses(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 400} if "What is 0 " in request["messages"][0]["content"] else adds_one(role, n, request)

    with running(refuses) as server:
        made = begun(tmp_path, server, spec="number@v1", accept_unanswered=True)
    file, row = made.derived.aggregates, pl.read_parquet(made.record.samples).row(0, named=True)
    assert (made.derived.decision.verdict, file.primary_score, file.n_unanswered) == ("fail", 0.333333333, 1)
    assert (file.misses["unanswered"], file.checks["number"].misses["unanswered"]) == (1, 1)
    assert (row["score"], row["passed"], row["number"], row["number_reason"]) == (0.0, False, 0.0, "unanswered")
    assert verify(made.record).holds


def test_a_request_that_is_not_the_plan_s_is_named(tmp_path: Path) -> None:
    with running(adds_one) as server:
        made = begun(tmp_path, server, spec="number@v1")
    facts = [line.fact for line in read_journal(made.record.journal)]
    (made.record.journal / "000001.jsonl").unlink()
    with JournalWriter(made.record.journal) as writer:
        for fact in facts:
            if isinstance(fact, Reply) and fact.sample == 2:
                fact.request_sha256 = "0" * 64
            writer.append(fact)
    evaluator_of(made.record).derive(made.record, made.record.path)
    (found,) = verify(made.record).findings
    assert "sample 2: inputs and template render to another request" in found.what


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("gates", "settings", "shown", "by_values"),
    [
        pytest.param("", {}, (None, None), None, id="none"),
        # Of 4 items nothing is shown but what is far off: a rate of 0.3 from them may be anything.
        pytest.param('aggregate = "primary_score"\nat_least = 0.3', {}, ("INCONCLUSIVE", True), "READY", id="holds"),
        pytest.param('aggregate = "primary_score"\nat_least = 0.31', {}, ("INCONCLUSIVE", False), "NOT_READY", id="no"),
        pytest.param(
            'aggregate = "words_mean"\nat_least = 0.3\nat_most = 0.37', {}, ("INCONCLUSIVE", False), "NOT_READY",
            id="above",
        ),
        pytest.param(
            'aggregate = "no_prediction_rate"\nat_most = 0.25', {}, ("INCONCLUSIVE", True), "READY", id="at-most"
        ),
        pytest.param(
            'aggregate = "pass_rate"\nat_least = 0.1', {"run_status": "crashed"}, ("NOT_READY", False), "NOT_READY",
            id="crashed",
        ),
        pytest.param(
            'aggregate = "pass_rate"\nat_least = 0', {"run_status": "crashed"}, ("INCONCLUSIVE", False), "INCONCLUSIVE",
            id="crashed-at-0",
        ),
    ],
)  # fmt: skip
def test_gates_of_the_spec_decide_by_what_is_shown(
    gates: str,
    settings: dict[str, Any],
    shown: tuple[str | None, bool | None],
    by_values: str | None,
    tmp_path: Path,
) -> None:
    spec = own_spec(tmp_path, OWN + (f"[[gates]]\n{gates}\n" if gates else ""))
    made: RunResult[Any] = scored(tmp_path, PREDICTIONS, ITEMS, spec=str(spec), **settings)
    decision = json.loads(made.record.decision.read_bytes())
    assert (decision.get("decision"), decision.get("release_ready")) == shown
    assert all(gate["interval"] for gate in decision.get("gates", ()))
    assert verify(made.record).holds
    if by_values is not None:
        found = bb.load(made.record.path).gate(confidence="none")
        assert (found.decision, found.decided_by.rule, decision["decided_by"]["rule"]) == (
            by_values,
            "points",
            "bounds",
        )


GATE = '\n[[gates]]\naggregate = "pass_rate"\nat_least = 0.9\n'


@pytest.mark.parametrize(
    ("n", "n_right", "decision", "reason"),
    [
        # 0.05 ** (1 / 29) = 0.9019: 29 right ones show 0.9, and 28 (0.8985) do not.
        (29, 29, "READY", "all gates hold at 95 % confidence, in the worst case too"),
        (28, 28, "INCONCLUSIVE", "release-ready by the values alone; 28 items can't show it: at least 29 can"),
        (40, 40, "READY", "all gates hold at 95 % confidence, in the worst case too"),
        (40, 38, "INCONCLUSIVE", "release-ready by the values alone"),
        (40, 20, "NOT_READY", "pass_rate is 0.5, and 0.63890834 at best"),  # SciPy: beta.ppf(0.95, 21, 20)
    ],
)
def test_a_gate_is_held_by_as_many_items_as_show_it(
    n: int, n_right: int, decision: str, reason: str, tmp_path: Path
) -> None:
    items = [{"id": f"i{number}", "prompt": f"{number}?", "expected_answer": "yes"} for number in range(n)]
    answers = [{"item_id": one["id"], "predicted": "yes" if k < n_right else "no"} for k, one in enumerate(items)]
    folder = tmp_path / "mine@v1"
    folder.mkdir()
    (folder / "spec.toml").write_text(
        'name = "mine"\nversion = 1\nabout = "Right."\n[[checks]]\nname = "right"\nkind = "equals"\n' + GATE, "utf-8"
    )
    found = scored(tmp_path, answers, items, spec=str(folder)).derived.decision
    assert found.decision == decision
    assert found.reasons[0].startswith(reason)


def test_a_run_that_crashed_scores_nothing(tmp_path: Path) -> None:  # A3
    made: RunResult[Any] = scored(tmp_path, PREDICTIONS, ITEMS, spec=str(own_spec(tmp_path)), run_status="crashed")
    file, rows = made.derived.aggregates, pl.read_parquet(made.record.samples)
    assert (file.primary_score, file.pass_rate, file.n_passed, file.no_prediction_rate) == (0.0, 0.0, 0, 0.25)
    assert (file.metrics["words_mean"], file.intervals["pass_rate"].reason) == (0.0, "run_failed")
    assert (rows["score"].to_list(), rows["passed"].any()) == ([0.0] * 4, False)
    assert rows["words"].to_list() == [1.0, 0.5, 0.0, 0.0]  # what its texts were like


# ── compared ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_runs_are_compared_by_their_scores_and_by_what_passed(tmp_path: Path) -> None:
    spec = str(own_spec(tmp_path))
    later = [PREDICTIONS[0], {"item_id": "b", "predicted": "cat"}, {"item_id": "c", "predicted": "red fox"}]
    a, b = (
        scored(tmp_path, answers, ITEMS, spec=spec, run_id=name).record
        for name, answers in (("a", PREDICTIONS), ("b", later))
    )
    found = compare(compared_run(a), compared_run(b))
    assert dict(found.items.select("item_id", "class").iter_rows()) == {
        "a": "same_correct", "b": "regressed", "c": "improved", "d": "same_wrong"
    }  # fmt: skip
    assert (found.score.mean_a, found.score.mean_b) == (0.3, 0.2)
    assert found.passing is not None
    assert (found.passing.n_lost, found.passing.n_won, found.containment) == (1, 1, None)
    aligned = rows_of_items(a)
    assert aligned is not None
    assert aligned == rows_of_items(b)


def test_scores_of_0_and_1_have_no_other_question(tmp_path: Path) -> None:
    items = [{"id": "a", "prompt": "1?", "expected_answer": "1"}]
    runs = [
        compared_run(
            scored(tmp_path, [{"item_id": "a", "predicted": text}], items, spec="contains@v1", run_id=name).record
        )
        for name, text in (("a", "It is 1."), ("b", "one"))
    ]
    found = compare(*runs)
    assert (found.counts["regressed"], found.passing, found.containment) == (1, None, None)


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("spec", "kind", "words"),
    [
        (
            "contians@v1",
            ConfigError,
            "expected contains@v1, which is near; or the folder of a rubric, or of checks, of your own",
        ),
        ("rubric@v1", ConfigError, "rubric@v1 is of `benchbook run`"),
        ("./nowhere", UsageError, "nowhere: there is no such folder; `benchbook rubric init NAME`"),
    ],
)
def test_an_evaluator_that_there_is_not(spec: str, kind: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as caught:
        scored(tmp_path, spec=spec)
    assert words in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_a_folder_can_t_take_the_name_of_one_that_is_shipped(tmp_path: Path) -> None:
    spec = own_spec(tmp_path, OWN.replace('"mine"', '"contains"').replace("version = 3", "version = 1"))
    with pytest.raises(UsageError, match="contains@v1, which is shipped; expected a name of your own"):
        scored(tmp_path, PREDICTIONS, ITEMS, spec=str(spec))


def test_items_that_lack_what_a_check_needs_are_named_by_their_lines(tmp_path: Path) -> None:  # A3
    items = [{"id": f"i{n}", "prompt": f"{n}?", "expected_answer": "x" if n % 5 == 1 else "7"} for n in range(12)]
    with pytest.raises(InputError) as caught:
        scored(tmp_path, [], items, spec="number@v1")
    assert str(caught.value).endswith(
        "items.jsonl:2: expected_answer: found 'x'; expected text with one number in it, of at most 1000 digits. "
        "And 2 more items: lines 7, 12"
    )


def test_a_folder_beside_the_config_is_found_from_anywhere(tmp_path: Path) -> None:
    own_spec(tmp_path)
    path = tmp_path / "run.toml"
    for written in ("mine@v3", "./mine@v3"):
        path.write_text(f'spec = "{written}"\n', encoding="utf-8")
        assert Path(read_config_file(path)["spec"]).resolve() == tmp_path / "mine@v3"
    path.write_text('spec = "contains@v1"\n', encoding="utf-8")
    assert read_config_file(path)["spec"] == "contains@v1"
