"""What the catalog holds is what the records say, however it came in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from benchbook.ask.work import run_async
from benchbook.catalog.database import Catalog, open_catalog
from benchbook.catalog.indexing import Indexed, index_record, rebuild, refresh
from benchbook.catalog.queries import IndexedRun, find_run
from benchbook.catalog.run_filters import RunFilter
from benchbook.catalog.totals import totals
from benchbook.errors import UsageError
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import score_predictions, start_run
from benchbook.evaluators.settings import ScoreConfig
from benchbook.record.derived_files import hashes_of, write_manifest
from benchbook.record.facts import LabelsStarted
from benchbook.record.folder import Record, at_work
from benchbook.record.journal import JournalWriter
from catalog.making import aggregates_of, content, correctness_row, finish, made, predictions_of, reply, start
from judging import make_set, sound_reply
from panels import replies_of, run_panel
from running import run, write_items
from scripted_server import always_good, running
from support import examples


def row(catalog: Catalog, run_id: str) -> IndexedRun:
    found = find_run(catalog, run_id)
    assert found is not None
    return found


def test_a_real_run_of_rubric(tmp_path: Path, catalog: Catalog) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 8)
    index_record(catalog, result.record)
    found = row(catalog, "run")
    manifest = result.derived.manifest
    assert (found.state, found.spec, found.error) == ("complete", "rubric@v1", None)
    assert found.started_utc == manifest.timestamp_utc
    assert found.dataset_sha256 == manifest.inputs["evalset"]
    assert (found.model_id, found.model_version) == (manifest.model_id, manifest.model_version)
    assert found.evaluator_model_id == manifest.evaluator_model_id
    assert (found.n_items, found.n_planned, found.n_attempted, found.n_scored, found.n_unscored) == (8, 8, 8, 8, 0)
    assert found.decision == "INCONCLUSIVE"
    score = result.derived.aggregates.aggregates.aggregate_score
    assert score is not None
    assert (found.primary_name, found.primary_nano) == ("aggregate_score", round(score * 1e9))
    assert found.journal_sha256 == manifest.journal_sha256
    assert found.manifest_sha256 == manifest.manifest_sha256
    numbers = aggregates_of(catalog, "run")
    assert numbers["pass_rate"] == 1_000_000_000
    assert numbers["ledger.n_planned"] == 8_000_000_000
    assert numbers["intervals.pass_rate.method"] == "wilson"
    assert predictions_of(catalog, "run") == []
    assert found.predictions_unavailable is not None


def test_a_run_that_told_no_tokens_is_none_with_tokens(folder: Path, catalog: Catalog) -> None:
    """The file's sums are 0."""

    def silent(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"usage": None}

    with running(silent) as server:
        record = run(folder.parent, server, 3, model_input_price=Decimal(3), unmeasured=["tokens"]).record
    told = json.loads(record.aggregates.read_bytes())
    assert (told["aggregates"]["total_tokens"], told["candidate_cost_usd"]) == (0, "0.000000")
    index_record(catalog, record)
    numbers = aggregates_of(catalog, "run")
    assert [numbers[name] for name in ("total_tokens", "evaluator_input_tokens")] == [None, None]
    found = totals(catalog, RunFilter())
    assert (found.n_runs, found.n_tokens, found.n_with_tokens) == (1, None, 0)
    assert (found.cost_nano, found.n_with_cost) == (None, 0)


def test_a_run_of_answer_correctness(folder: Path, catalog: Catalog) -> None:
    rows = [
        correctness_row(0),
        correctness_row(1, "five"),
        correctness_row(2, None, eval_time_ms=None),
        correctness_row(3, own='{"a":1}'),
    ]
    index_record(catalog, made(folder, "a", rows, config={"tags": ["z", "b"]}))
    found = row(catalog, "a")
    assert (found.primary_name, found.primary_nano) == ("primary_score", 500_000_000)
    assert (found.n_attempted, found.n_scored, found.n_unscored) == (4, 3, 1)
    assert found.tags == ("b", "z")
    assert found.predictions_unavailable is None
    listed = predictions_of(catalog, "a")
    assert [(one.position, one.item_id, one.predicted, one.correctness, one.eval_time_ms) for one in listed] == [
        (0, "i0", "4", 1.0, 10),
        (1, "i1", "five", 0.0, 11),
        (2, "i2", None, 0.0, None),
        (3, "i3", "4", 1.0, 13),
    ]
    assert listed[3].own == '{"a":1}'


def test_an_experiment_of_the_judge_protocol(tmp_path: Path, catalog: Catalog) -> None:
    make_set(tmp_path)

    def reply_of(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return {"status": 200, "content": sound_reply(request) if request["model"] == "j" else "No."}

    with running(reply_of) as server:
        judges = [{"model": f"openai/{name}@1", "base_url": server.base_url} for name in ("j", "k")]
        values = {"set": str(tmp_path / "set"), "judges": judges, "run_id": "a", "runs": str(tmp_path / "runs")}
        values["prompts"] = str(tmp_path / "prompts.jsonl")
        result = run_async(start_run(judging_config_from_mapping(values, "test")))
    index_record(catalog, result.record)
    found = row(catalog, "a")
    assert (found.state, found.error, found.spec) == ("complete", None, "judge_protocol@v1")
    assert (found.samples_are, found.judges) == ("evaluations", ("j", "k"))
    assert (found.n_items, found.n_planned, found.n_attempted) == (8, 16, 16)
    assert (found.n_scored, found.n_unscored) == (8, 8)
    assert found.dataset_sha256 == result.record.started().inputs["evaluation_set"]


def test_a_run_that_goes_on(folder: Path, catalog: Catalog) -> None:
    record = start(folder, "a", judge="org/j")
    with at_work(record):
        _follow_a_run(record, folder, catalog)


def _follow_a_run(record: Record, folder: Path, catalog: Catalog) -> None:
    assert refresh(catalog, folder) == Indexed(read=("a",))
    assert (row(catalog, "a").state, row(catalog, "a").n_attempted, row(catalog, "a").n_planned) == ("running", 0, 4)
    reply(record, 0)
    reply(record, 2)
    reply(record, 2)
    assert refresh(catalog, folder) == Indexed(read=("a",))
    found = row(catalog, "a")
    assert (found.n_attempted, found.n_scored, found.primary_nano) == (2, None, None)
    assert (found.model_id, found.evaluator_model_id, found.dataset_id) == ("org/m", "org/j", "golden")
    assert refresh(catalog, folder) == Indexed(unchanged=("a",))
    finish(record)
    manifest = record.manifest.read_bytes()
    record.manifest.unlink()
    refresh(catalog, folder)
    assert row(catalog, "a").state == "running"  # it ended, and its numbers are being derived
    record.manifest.write_bytes(manifest)
    refresh(catalog, folder)
    assert row(catalog, "a").state == "complete"
    reply(record, 3)  # facts that the manifest does not know: it is that of an earlier sitting
    refresh(catalog, folder)
    found = row(catalog, "a")
    assert (found.state, found.n_attempted, found.primary_nano, found.manifest_sha256) == ("running", 3, None, None)


def test_a_run_whose_process_is_gone_can_be_resumed(folder: Path, catalog: Catalog) -> None:
    """Nothing in the folder changes when a process is killed: its lock is gone, and that is seen."""
    record = start(folder, "a")
    with at_work(record):
        reply(record, 0)
        assert refresh(catalog, folder) == Indexed(read=("a",))
        assert refresh(catalog, folder) == Indexed(unchanged=("a",))
        assert row(catalog, "a").state == "running"
    assert refresh(catalog, folder) == Indexed(read=("a",))
    assert (row(catalog, "a").state, row(catalog, "a").n_attempted) == ("interrupted", 1)
    with JournalWriter(record.journal):  # it is resumed
        assert refresh(catalog, folder) == Indexed(read=("a",))
        assert row(catalog, "a").state == "running"
    finish(record)
    assert refresh(catalog, folder) == Indexed(read=("a",))
    assert row(catalog, "a").state == "complete"
    with at_work(record):  # whoever derives a whole record anew changes nothing of it
        assert refresh(catalog, folder) == Indexed(unchanged=("a",))


def test_a_copy_is_a_run_of_its_own_and_a_removed_one_goes(folder: Path, catalog: Catalog) -> None:
    made(folder, "a")
    shutil.copytree(folder / "a", folder / "b")
    assert refresh(catalog, folder) == Indexed(read=("a", "b"))
    shutil.rmtree(folder / "a")
    assert refresh(catalog, folder) == Indexed(unchanged=("b",), removed=("a",))
    assert find_run(catalog, "a") is None
    assert len(content(catalog)["tunix_run_predictions"]) == 4
    assert index_record(catalog, Record(folder / "a")) is None


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────


def sign(record: Record, name: str) -> None:
    """Let the manifest name the bytes that a derived file has now."""
    manifest = json.loads(record.manifest.read_bytes())
    write_manifest(record.path, manifest | {"derived": manifest["derived"] | hashes_of(record.path, [name])})


def cut_manifest(record: Record) -> None:
    record.manifest.write_bytes(record.manifest.read_bytes()[:100])


def change_manifest(record: Record) -> None:
    record.manifest.write_bytes(record.manifest.read_bytes().replace(b"2026-01-01", b"2026-01-02"))


def change_aggregates(record: Record) -> None:
    record.aggregates.write_bytes(record.aggregates.read_bytes().replace(b"1.0", b"2.0"))


def change_samples(record: Record) -> None:
    record.samples.write_bytes(b"PAR1")


def other_table(record: Record) -> None:
    record.samples.write_bytes(b"PAR1 is not all of it")
    sign(record, "samples.parquet")


def remove_samples(record: Record) -> None:
    record.samples.unlink()


def change_last_fact(record: Record) -> None:
    (segment,) = record.journal.iterdir()
    segment.write_bytes(segment.read_bytes().replace(b'"kind":"run_ended"', b'"kind":"interrupted","reason":""'))


def change_a_fact(record: Record) -> None:
    reply(record, 0)
    reply(record, 1)
    (segment,) = record.journal.iterdir()
    segment.write_bytes(segment.read_bytes().replace(b'"sample":0', b'"sample":3'))


def strange_identity(record: Record) -> None:
    record.manifest.unlink()
    (segment,) = record.journal.iterdir()
    segment.write_bytes(b"{}\n" + segment.read_bytes())


def deep_aggregates(record: Record) -> None:
    record.aggregates.write_bytes(b'{"a":' * 5_000 + b"1" + b"}" * 5_000)
    sign(record, "aggregates.json")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (cut_manifest, "manifest.json"),
        (change_manifest, "manifest.json: was changed"),
        (change_aggregates, "aggregates.json: was changed"),
        (change_samples, "samples.parquet: was changed"),
        (other_table, "samples.parquet: not a readable table"),
        (remove_samples, "samples.parquet: is missing"),
        (change_last_fact, "the journal ends with another fact than manifest.json names"),
        (change_a_fact, "journal/000001.jsonl:4: prev is not the hash"),
        (strange_identity, "journal/000001.jsonl:1: not a fact"),
        (deep_aggregates, "nested too deeply"),
    ],
)
def test_a_damaged_record_is_listed_with_what_is_wrong_and_no_number(
    folder: Path, catalog: Catalog, damage: Callable[[Record], None], says: str
) -> None:
    record = made(folder, "bad")
    made(folder, "good")
    refresh(catalog, folder)
    damage(record)
    assert refresh(catalog, folder).damaged == ("bad",)
    found = row(catalog, "bad")
    assert found.state == "damaged"
    assert says in (found.error or "")
    assert str(folder) not in (found.error or "")
    assert (found.primary_nano, found.n_scored, found.spec) == (None, None, None)
    assert aggregates_of(catalog, "bad") == {}
    assert (found.predictions_unavailable or "").startswith("the record is damaged: ")
    assert row(catalog, "good").state == "complete"
    assert {one[0] for one in content(catalog)["tunix_run_predictions"]} == {"good"}


def test_a_folder_that_is_none(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        refresh(catalog, tmp_path / "nowhere")


# ── the same content, whatever the way ───────────────────────────────────────────────────────────────────────

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "reply", "finish", "damage", "remove", "index", "refresh", "rebuild"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 3),
    ),
    max_size=14,
)


def take(step: str, folder: Path, run_id: str, number: int, catalog: Catalog) -> None:
    record = Record(folder / run_id)
    there = record.path.is_dir()
    match step:
        case "start" if not there:
            start(folder, run_id)
        case "reply" if there:
            reply(record, number)
        case "finish" if there and not record.manifest.exists():
            finish(record, [correctness_row(position, str(number + position)) for position in range(number)])
        case "damage" if record.manifest.exists():
            record.manifest.write_bytes(b"{" * number)
        case "remove" if there:
            shutil.rmtree(record.path)
        case "index" if there:
            index_record(catalog, record)
        case "refresh":
            refresh(catalog, folder)
        case "rebuild":
            rebuild(catalog, folder)
        case _:
            pass


@given(steps=STEPS)
@examples(12, HealthCheck.function_scoped_fixture)
def test_step_by_step_gives_the_same_as_a_rebuild(
    steps: list[tuple[str, str, int]], fresh_address: Callable[[], str], tmp_path: Path
) -> None:
    folder = tmp_path / "steps" / "runs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open_catalog(fresh_address()) as grown, open_catalog(fresh_address()) as rebuilt:
        for step, run_id, number in steps:
            take(step, folder, run_id, number, grown)
        refresh(grown, folder)
        rebuild(rebuilt, folder)
        assert content(grown) == content(rebuilt)
        rebuild(grown, folder)
        assert content(grown) == content(rebuilt)


# ── what other commands leave ────────────────────────────────────────────────────────────────────────────────


def test_scored_predictions_and_a_dry_run_of_them(tmp_path: Path, catalog: Catalog) -> None:
    items = write_items(tmp_path / "items.jsonl", 3)
    lines = [{"id": "i0", "predicted": "1", "who": "me"}, {"id": "i1", "predicted": "\x00"}]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    words = {"evalset": str(items), "predictions": str(tmp_path / "p.jsonl"), "runs": str(tmp_path / "runs")}
    for name in ("real", "dry"):
        score_predictions(ScoreConfig(**words, run_id=name, dry_run=name == "dry"))
    score_predictions(ScoreConfig(**words, run_id="crashed", run_status="crashed", reason="no memory"))
    assert refresh(catalog, tmp_path / "runs") == Indexed(read=("crashed", "dry", "real"))
    found = {run_id: row(catalog, run_id) for run_id in ("real", "dry", "crashed")}
    assert [found[name].primary_nano for name in found] == [333_333_333, None, 0]
    assert [found[name].decision for name in found] == ["pass", "unavailable", "fail"]
    assert (found["real"].n_items, found["real"].n_scored, found["real"].n_unscored) == (3, 2, 1)
    low, high = found["real"].primary_low_nano, found["real"].primary_high_nano
    assert low is not None
    assert high is not None
    assert 0 < low < 333_333_333 < high < 1_000_000_000  # wilson's
    assert found["real"].model_id == "recorded/p"
    listed = predictions_of(catalog, "real")
    assert [(one.item_id, one.predicted, one.own) for one in listed] == [
        ("i0", "1", '{"who":"me"}'),
        ("i1", "\x00", None),
        ("i2", None, None),
    ]
    assert predictions_of(catalog, "dry") == []
    assert "dry run" in (found["dry"].predictions_unavailable or "")


def test_a_record_of_labels_is_no_run(folder: Path, catalog: Catalog) -> None:
    record = made(folder, "a")
    labels = LabelsStarted(
        run_id="a", run_sha256="0" * 64, spec="s", seed=1, stratify=[], strata={}, samples=[], hidden=[], inputs={},
        drawn_by="",
    )  # fmt: skip
    (folder / "labels" / "journal").mkdir(parents=True)
    with JournalWriter(folder / "labels" / "journal") as journal:
        journal.append(labels)
    assert refresh(catalog, folder) == Indexed(read=("a",))
    assert refresh(catalog, folder) == Indexed(unchanged=("a",))
    assert index_record(catalog, record) is not None


def test_all_judges_of_a_panel_stand_in_its_row_while_it_goes_on_and_after(tmp_path: Path, catalog: Catalog) -> None:
    with running(replies_of({"a": lambda _: (2, 2), "b": lambda _: (2, 2)})) as server:
        record = run_panel(tmp_path, server, ("a", "b"), 2).record
    index_record(catalog, record)
    done = row(catalog, "run")
    record.manifest.unlink()
    with at_work(record):
        index_record(catalog, record)
    going_on = row(catalog, "run")
    assert (done.state, going_on.state) == ("complete", "running")
    assert done.evaluator_model_id == going_on.evaluator_model_id == "openai/a@2026-01-01 + openai/b@2026-01-01"
    assert done.judges == going_on.judges == ("a", "b")
