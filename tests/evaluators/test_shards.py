"""A run of many writers is the run of one: the same numbers, byte for byte, and whatever is wrong is named."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from benchbook.errors import NotJoinedError, RecordDamagedError, RecordError, UsageError
from benchbook.evaluators.joining import check_joined, join
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.settings import RunConfig, ScoreConfig
from benchbook.evaluators.verify import verify
from benchbook.exchange.importing import Wanted, import_log, import_shard
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.folder import Record, ShardRecord, create_record
from benchbook.record.joined_index import JoinedFacts
from benchbook.record.joined_state import read_state
from benchbook.record.journal import JournalWriter
from benchbook.record.proofs import faults_of, proof_bytes, prove, read_proof
from benchbook.record.reading import read_chain, read_journal
from benchbook.record.sets import newest_set
from benchbook.record.shards import shard_named
from judging import sound_judging
from own_scorers import near
from running import benchbook_here
from scored import ITEMS, PREDICTIONS, scored, write_lines
from scored_logs import MadeLog, sample
from sharded import DERIVED, ask, begun_alone, joined, judged_in_shards, scored_in_shards, write_judged


def findings(record: Record) -> list[str]:
    return [str(one) for one in verify(record).findings]


def derived(record: Record, names: tuple[str, ...] = DERIVED) -> dict[str, bytes]:
    return {name: (record.path / name).read_bytes() for name in names}


# ── the same numbers ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_derived_files_are_those_of_one_writer(tmp_path: Path, repeats: int) -> None:
    config = write_judged(tmp_path / "many", 13, repeats)
    alone = begun_alone(write_judged(tmp_path / "one", 13, repeats))
    for of in (1, 4, 13):
        many = msgspec.structs.replace(config, run_id=f"run{of}")
        record = judged_in_shards(many, of, random.Random(of).sample(range(1, of + 1), of))
        joined(record)
        assert derived(record) == derived(alone)
        assert findings(record) == []
        assert same_state(record)


def test_verify_tells_how_far_it_is(tmp_path: Path) -> None:
    record = judged_in_shards(write_judged(tmp_path, 13, 2), 4, range(1, 5))
    joined(record)
    told: list[tuple[str, int, int | None]] = []
    assert verify(record, on_progress=lambda *one: told.append(one)).holds
    facts = [one for one in told if one[0] == "facts"]
    set_ = newest_set(record.path)
    assert set_ is not None
    ends = [sum(end.n_facts for end in set_.shards[:n]) for n in range(5)]
    assert facts == [("facts", n, ends[-1]) for n in ends]
    assert told[len(facts)] == ("samples", 0, 26)


def test_of_many_shards_one_is_in_memory(tmp_path: Path) -> None:
    record = judged_in_shards(write_judged(tmp_path, 12, 1), 4, range(1, 5))
    joined(record)
    state = read_state(record.journal)
    assert isinstance(state.index, JoinedFacts)
    shards = state.index._shards.indexes
    for place, _ in state.index.by_sample():
        held = [number for number, one in enumerate(shards) if one._segments._kept or one.places._there]
        assert held == [place // 3]


def same_state(record: Record) -> bool:
    """True if what is put together of the shards is what their lines say, one after the other."""
    wrong, found = check_joined(record)
    assert wrong == []
    assert found is not None
    read = read_state(record.journal)
    plain = ("started", "ended", "interrupted", "resumed", "config", "n_facts", "n_segments", "last_sha256", "state")
    assert [(name, getattr(found, name)) for name in plain] == [(name, getattr(read, name)) for name in plain]
    assert found.candidate_reported.counts == read.candidate_reported.counts
    assert {judge: one.counts for judge, one in found.judges_reported.items()} == {
        judge: one.counts for judge, one in read.judges_reported.items()
    }
    facts = list(found.index.by_sample())
    assert facts == list(read.index.by_sample())
    said = [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Reply | Failure)]
    numbered = [one for _, of_sample in facts for one in of_sample]
    assert [one.seq for one in numbered] == list(range(1, len(said) + 1))
    in_order = sorted(said, key=lambda one: one.sample)  # and of one sample as they were written
    assert [replace(one, seq=0) for one in numbered] == [replace(one, seq=0) for one in in_order]
    samples = range(found.n_samples)
    assert [found.outcomes.of(sample) for sample in samples] == [read.outcomes.of(sample) for sample in samples]
    return (found.outcomes.pythons, found.outcomes.are_truths) == (read.outcomes.pythons, read.outcomes.are_truths)


@pytest.mark.slow
def test_workers_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = judged_in_shards(write_judged(tmp_path, 40, 2), 5)
    joined(record)
    whole = derived(record)
    monkeypatch.setattr("benchbook.evaluators.workers._SAMPLES_A_WORKER", 10)
    monkeypatch.setattr("benchbook.evaluators.parts._MOST_SAMPLES", 16)
    assert findings(record) == []
    joined(record)
    assert derived(record) == whole
    path = record.path / "shards" / "4" / "journal" / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"answer ", b"answer_", 1))
    monkeypatch.setattr("benchbook.evaluators.workers._SAMPLES_A_WORKER", 10_000)
    alone = findings(record)
    assert alone != []
    monkeypatch.setattr("benchbook.evaluators.workers._SAMPLES_A_WORKER", 10)
    assert findings(record) == alone


def test_scored_predictions_too(tmp_path: Path) -> None:
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    alone = scored(tmp_path / "one")
    config = ScoreConfig(
        evalset=str(write_lines(tmp_path / "many" / "items.jsonl", ITEMS)),
        predictions=str(write_lines(tmp_path / "many" / "predictions.jsonl", PREDICTIONS)),
        runs=str(tmp_path / "many" / "runs"), run_id="run",
    )  # fmt: skip
    record = scored_in_shards(config, 3)
    joined(record)
    names = (*DERIVED, "samples.jsonl")
    assert derived(record, names) == derived(alone.record, names)
    assert findings(record) == []


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10**6), st.data())
def test_shards_split_a_plan_without_gap_or_overlap(n_samples: int, data: st.DataObject) -> None:
    of = data.draw(st.integers(1, min(n_samples, 300)))
    shards = [shard_named(f"{number}/{of}").part_of(n_samples) for number in range(1, of + 1)]
    assert (shards[0].first, shards[-1].end) == (0, n_samples)
    assert all(before.end == after.first for before, after in pairwise(shards))
    assert max(one.n_samples for one in shards) - min(one.n_samples for one in shards) <= 1


# ── killed, resumed, joined again ────────────────────────────────────────────────────────────────────────────


def cut_to(record: ShardRecord, n_facts: int) -> None:
    """Leave a shard as a kill would have, after so many facts and half of the next."""
    lines = (record.journal / "000001.jsonl").read_bytes().splitlines(keepends=True)
    (record.journal / "000001.jsonl").write_bytes(
        b"".join(lines[:n_facts]) + lines[n_facts][: len(lines[n_facts]) // 2]
    )


def test_a_shard_that_was_killed_goes_on_by_the_same_command(tmp_path: Path) -> None:
    config = write_judged(tmp_path / "many", 12, 1)
    alone = begun_alone(write_judged(tmp_path / "one", 12, 1))
    record = judged_in_shards(config, 3)
    for number, n_facts in ((1, 1), (2, 5), (3, 8)):
        cut_to(ShardRecord(record.path / "shards" / str(number)), n_facts)
    said = [(one.file, one.what.split(";")[0].split(":")[0]) for one in join(record).findings]
    cut = [(f"shards/{number}/journal/000001.jsonl", "the last line is cut") for number in (1, 2, 3)]
    assert said == [*cut, *((f"shards/{number}", "has not ended") for number in (1, 2, 3))]
    for number in (3, 1, 2):
        assert ask(config, f"{number}/3").is_whole
    joined(record)
    assert derived(record) == derived(alone)


@pytest.mark.slow
def test_an_incomplete_run_is_joined_as_such_and_again_when_it_is_whole(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/3")
    record = Record(tmp_path / "runs" / "run")
    assert [str(one) for one in join(record).findings] == ["shards: samples 4 to 11 are in no shard"]
    assert newest_set(record.path) is None
    first = joined(record, incomplete=True)
    assert same_state(record)
    assert first.derived is not None
    assert (first.derived.manifest.state, first.derived.aggregates.ledger.n_attempted) == ("interrupted", 4)
    assert findings(record) == []
    ask(config, "2/3")
    assert findings(record) == ["shards/2: is none of the shards that were joined; join again"]
    ask(config, "3/3")
    second = joined(record)
    assert second.derived is not None
    assert second.derived.manifest.state == "complete"
    assert [path.name for path in sorted((record.path / "sets").iterdir())] == ["000001.json", "000002.json"]
    joined(record)  # once more: nothing has come, and nothing is written
    assert len(list((record.path / "sets").iterdir())) == 2
    assert findings(record) == []


def test_the_root_is_the_same_in_whatever_order_shards_come(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 9, 1)
    record = judged_in_shards(config, 3, (3, 1, 2))
    first = joined(record).set
    shutil.rmtree(record.path / "sets")
    for number in (2, 3, 1):
        path = record.path / "shards" / str(number)
        path.rename(path.with_name("moved"))
        path.with_name("moved").rename(path)
    assert joined(record).set == first


# ── whatever is wrong is named ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunConfig, Path]:
    folder = tmp_path_factory.mktemp("whole")
    config = write_judged(folder, 12, 1)
    joined(judged_in_shards(config, 3))
    ask(msgspec.structs.replace(config, run_id="halves"), "1/2")
    ask(msgspec.structs.replace(config, run_id="other", judge="scripted/k@1"), "2/3")
    return config, folder / "runs"


def _twice(run: Path, runs: Path) -> None:
    shutil.copytree(runs / "halves" / "shards" / "1", run / "shards" / "4")
    _renamed_in(run / "shards" / "4")


def _renamed_in(shard: Path) -> None:
    """Make a shard of another record one of `run`, number 4, with its chain whole."""
    path = shard / "journal" / "000001.jsonl"
    facts = [line.fact for line in read_chain(path.parent, None)]
    path.unlink()
    with JournalWriter(path.parent) as journal:
        for fact in facts:
            if isinstance(fact, RunStarted) and fact.shard is not None:
                fact.run_id, fact.shard = "run", msgspec.structs.replace(fact.shard, number=4)
            journal.append(fact)


def _missing(run: Path, runs: Path) -> None:
    del runs
    shutil.rmtree(run / "shards" / "2")


def _foreign(run: Path, runs: Path) -> None:
    shutil.rmtree(run / "shards" / "2")
    shutil.copytree(runs / "other" / "shards" / "2", run / "shards" / "2")


def _goes_on(run: Path, runs: Path) -> None:
    del runs
    with JournalWriter(run / "shards" / "3" / "journal") as journal:
        journal.append(Reply(sample=9, role="judge", attempt=2, text="once more"))


def _of_another(run: Path, runs: Path) -> None:
    del runs
    with JournalWriter(run / "shards" / "3" / "journal") as journal:
        journal.append(Reply(sample=1, role="candidate", text="not mine"))


def _swapped(run: Path, runs: Path) -> None:
    del runs
    (run / "shards" / "1").rename(run / "shards" / "moved")
    (run / "shards" / "2").rename(run / "shards" / "1")
    (run / "shards" / "moved").rename(run / "shards" / "2")


WRONG = {
    "a sample in two shards": (
        _twice,
        ["shards/4: samples 0 to 3 are in shard 1, too", "shards/2: samples 4 to 5 are in shard 4, too"],
        ["shards/4: is none of the shards that were joined; join again"],
    ),
    "a shard that is missing": (
        _missing,
        ["shards: samples 4 to 7 are in no shard"],
        ["shards/2: is missing, and was joined"],
    ),
    "a foreign plan": (
        _foreign,
        ["shards/2/journal/000001.jsonl:1: is of another run than the other shards: its run_id is not theirs"],
        ["shards/2/journal/000001.jsonl:1: is of another run than the other shards: its run_id is not theirs"],
    ),
    "a shard that goes on": (
        _goes_on,
        ["shards/3/journal/000001.jsonl:11: comes after run_ended, and nothing does"],
        ["shards/3: goes on after the join: it has facts that no set names; join again"],
    ),
    "a sample of another shard": (
        _of_another,
        ["shards/3/journal/000001.jsonl:11: sample 1 is none of this shard's, which are 8 to 11"],
        ["shards/3: goes on after the join: it has facts that no set names; join again"],
    ),
    "shards in each other's place": (
        _swapped,
        ["shards/1/journal/000001.jsonl:1: is of shard 2", "shards/2/journal/000001.jsonl:1: is of shard 1"],
        ["shards/1/journal/000001.jsonl:1: is of shard 2", "shards/2/journal/000001.jsonl:1: is of shard 1"],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_is_named(whole: tuple[RunConfig, Path], tmp_path: Path, name: str) -> None:
    make, of_join, of_verify = WRONG[name]
    _, runs = whole
    run = tmp_path / "run"
    shutil.copytree(runs / "run", run)
    make(run, runs)
    said = findings(Record(run))
    assert [one for one in of_verify if one not in said] == []
    said = [str(one) for one in join(Record(run)).findings]
    assert [one for one in of_join if not any(line.startswith(one) for line in said)] == []
    assert len(list((run / "sets").iterdir())) == 1


def test_two_splits_of_one_plan_overlap(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    record = judged_in_shards(config, 3)
    shutil.rmtree(record.path / "shards" / "1")
    ask(config, "1/2")
    assert [str(one) for one in join(record).findings] == ["shards/2: samples 4 to 5 are in shard 1, too"]


def test_a_shard_of_another_plan_is_not_gone_on_with(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/3")
    with pytest.raises(UsageError, match=r"was begun with another plan \(shard: found Shard\(number=1, of=3"):
        ask(config, "1/4")
    with pytest.raises(UsageError, match=r"was begun with another plan \(plan_sha256"):
        ask(msgspec.structs.replace(config, no_variance=True, judge_params={"seed": 4}), "1/3")


@pytest.mark.parametrize(
    ("settings", "shard", "words"),
    [
        ({"run_id": None}, "1/3", "found no run id"),
        ({}, "1/13", "the run has 12 samples; expected at most as many shards"),
        ({"until_decided": True}, "1/3", "a run that ends once it is decided has one writer"),
    ],
)
def test_what_can_not_be_split_is_refused_before_anything_is_written(
    tmp_path: Path, settings: dict[str, object], shard: str, words: str
) -> None:
    config = msgspec.structs.replace(write_judged(tmp_path, 12, 1), **settings)
    with pytest.raises(UsageError, match=words):
        ask(config, shard)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("words", ["", "3", "0/3", "4/3", "1/0", "-1/3", "1/3/4", "one/three", "1 / 3"])
def test_only_k_of_n_names_a_shard(words: str) -> None:
    with pytest.raises(UsageError, match="expected K/N"):
        shard_named(words)


def test_one_writer_has_no_shards_and_shards_have_no_writer(tmp_path: Path) -> None:
    config = write_judged(tmp_path, 6, 1)
    alone = begun_alone(config)
    with pytest.raises(UsageError, match="is the record of one writer"):
        ask(config, "1/3")
    with pytest.raises(UsageError, match="one writer: nothing to join"):
        join(alone)
    many = judged_in_shards(msgspec.structs.replace(config, run_id="many"), 2)
    with pytest.raises(UsageError, match="there is a record already"):
        create_record(config.runs, "many", {}, lambda _: alone.started())
    with pytest.raises(NotJoinedError, match="its shards are not joined yet"):
        evaluator_of(many).read(many)


# ── flipped bits ─────────────────────────────────────────────────────────────────────────────────────────────


def flipped(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def held(path: Path, check: Callable[[], object], n: int, seed: int) -> list[int]:
    """The flips, of so many, that a check does not find."""
    whole, missed = path.read_bytes(), []
    for number in range(n):
        path.write_bytes(flipped(whole, random.Random(seed * 10_000 + number)))
        try:
            if not check():
                missed.append(number)
        except (RecordError, UsageError):
            pass
    path.write_bytes(whole)
    return missed


N_FLIPS = 60  # script/test --attack tries thousands


@pytest.mark.slow
@pytest.mark.parametrize("file", ["sets/000001.json", "shards/2/journal/000001.jsonl"])
def test_every_flipped_bit_is_found(whole: tuple[RunConfig, Path], tmp_path: Path, file: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole[1] / "run", run)
    assert findings(Record(run)) == []
    assert held(run / file, lambda: findings(Record(run)), N_FLIPS, 1) == []


@pytest.mark.slow
def test_every_flipped_bit_of_a_proof_is_found(whole: tuple[RunConfig, Path], tmp_path: Path) -> None:
    record = Record(whole[1] / "run")
    newest = newest_set(record.path)
    assert newest is not None
    proved = prove(record, 7)
    path, facts = tmp_path / "proof.json", tmp_path / "facts.jsonl"
    path.write_bytes(proof_bytes(proved.proof))
    facts.write_bytes(proved.lines)

    def check() -> list[str]:
        return list(faults_of(read_proof(path), newest.root, facts.read_bytes()))

    assert check() == []
    assert held(path, check, 1_000, 2) == []
    assert held(facts, check, 1_000, 3) == []


def test_each_sample_has_a_proof_and_none_holds_for_another(whole: tuple[RunConfig, Path]) -> None:
    record = Record(whole[1] / "run")
    root = str(evaluator_of(record).read(record).manifest.journal_sha256)
    proofs = [prove(record, sample).proof for sample in range(12)]
    assert [list(faults_of(proof, root)) for proof in proofs] == [[]] * 12
    assert max(len(proof_bytes(proof)) for proof in proofs) < 2_000
    for proof in proofs:
        other = msgspec.structs.replace(proof, sample=(proof.sample + 1) % 12)
        assert list(faults_of(other, root)) != []
        assert list(faults_of(proof, "0" * 64)) != []
    with pytest.raises(UsageError, match="sample 12 is in no shard"):
        prove(record, 12)


def test_a_proof_lists_its_facts_in_full(whole: tuple[RunConfig, Path]) -> None:
    record = Record(whole[1] / "run")
    proved = prove(record, 10)  # the judge's reply can't be read, and is asked for again
    facts = [json.loads(line) for line in proved.lines.splitlines()]
    assert [(fact["role"], fact.get("attempt", 1)) for fact in facts] == [("candidate", 1), ("judge", 1)]
    assert {fact["sample"] for fact in facts} == {10}


def test_a_shard_that_was_changed_has_no_proof(whole: tuple[RunConfig, Path], tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole[1] / "run", run)
    path = run / "shards" / "2" / "journal" / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"answer 35", b"answer 36"))
    with pytest.raises(RecordDamagedError):
        prove(Record(run), 5)


# ── other evaluators ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_of_ones_own_scores_each_shard(tmp_path: Path) -> None:
    scorer = near
    config = ScoreConfig(
        spec=scorer.id,
        evalset=str(write_lines(tmp_path / "items.jsonl", ITEMS)),
        predictions=str(write_lines(tmp_path / "predictions.jsonl", PREDICTIONS)),
        runs=str(tmp_path / "runs"), run_id="run",
    )  # fmt: skip
    record = scored_in_shards(config, 2, scorer)
    joined(record)
    assert findings(record) == []
    assert same_state(record)


def test_a_log_is_imported_in_shards(tmp_path: Path) -> None:
    samples = [sample(f"i{number}", number % 2, repeat=number % 3) for number in range(20)]
    log = MadeLog(tmp_path, samples)
    alone = import_log(log, Wanted(runs=str(tmp_path / "one"), run_id="run"))
    wanted = Wanted(runs=str(tmp_path / "many"), run_id="run")
    for number in (2, 3, 1, 3):
        assert import_shard(log, wanted, shard_named(f"{number}/3")).is_whole
    record = Record(tmp_path / "many" / "run")
    joined(record)
    assert findings(record) == []
    names = ("aggregates.json", "decision.json")
    assert derived(record, names) == derived(alone.record, names)


def test_an_experiment_is_judged_in_shards(tmp_path: Path) -> None:
    with sound_judging(tmp_path) as config:
        words = ["judge", "run", str(config), "--quiet", "--reports", "none"]
        assert benchbook_here(*words, "--run-id", "one").returncode == 0
        for number in (1, 2, 3):
            done = benchbook_here(*words, "--run-id", "many", "--shard", f"{number}/3")
            assert done.returncode == 0, done.stderr
    record = Record(tmp_path / "runs" / "many")
    joined(record)
    assert findings(record) == []
    alone = json.loads((tmp_path / "runs" / "one" / "aggregates.json").read_bytes())
    many = json.loads((record.path / "aggregates.json").read_bytes())
    # How long judges took differs from run to run; all that is said of what they said is the same.
    assert {name: value for name, value in many.items() if name != "judges"} == {
        name: value for name, value in alone.items() if name != "judges"
    }
