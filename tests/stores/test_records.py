"""Records in a bucket: pushed, pulled, joined by one of two, gone on with on another machine."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

import benchbook as bb
from benchbook.ask.keeping import Keep, ShardKeeper, keep_in
from benchbook.ask.limits import Stop
from benchbook.ask.sharding import ShardResult, ask_shard
from benchbook.ask.work import run_async
from benchbook.errors import RecordDamagedError, RecordLockedError, StoreError, TakenError, UsageError
from benchbook.evaluators import joining
from benchbook.evaluators.joining import join_kept
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record, ShardRecord
from benchbook.record.journal import JournalWriter
from benchbook.record.sets import newest_set
from benchbook.record.shards import shard_named
from benchbook.stores import pushing
from benchbook.stores.address import store_address
from benchbook.stores.names import part_name
from benchbook.stores.objects import Objects, open_objects
from benchbook.stores.pulling import pull_record, pull_shard
from benchbook.stores.pushing import push_record, shard_pusher
from s3_server import BUCKET, S3Server, proxied
from sharded import DERIVED, begun_alone, joined, judged_in_shards, write_judged


def of_run(url: str, run_id: str = "run") -> Objects:
    return open_objects(store_address(url) / run_id)


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def ask(config: RunConfig, shard: str, url: str, push_seconds: float | None = None) -> ShardResult:
    keep = keep_in(url, push_seconds)
    return run_async(ask_shard(evaluator_asked_for(config.spec), config, shard_named(shard), keep=keep))


def elsewhere(config: RunConfig, folder: Path) -> RunConfig:
    """The same run on another machine: the same files, another folder of records."""
    return msgspec.structs.replace(config, runs=str(folder / "runs"))


# ── whole records ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shards", [0, 3])
def test_what_is_pulled_is_what_was_pushed(tmp_path: Path, url: str, shards: int) -> None:
    config = write_judged(tmp_path, 12, 1)
    record = judged_in_shards(config, shards) if shards else begun_alone(config)
    if shards:
        joined(record)
    assert push_record(of_run(url), record).n_parts == max(shards, 1)
    found = pull_record(of_run(url), tmp_path / "other", "run").record
    assert files(found.path) == files(record.path)
    assert verify(found).findings == ()
    assert pull_record(of_run(url), tmp_path / "other", "run").n_new == 0


def test_what_is_pushed_again_is_put_once(
    tmp_path: Path, url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = begun_alone(write_judged(tmp_path, 6, 1))
    with proxied(server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        first = push_record(of_run(url), record)
        n_puts, n_asked = proxy.n_puts, len(proxy.asked)
        assert first.n_objects == n_puts - 1 == len(of_run(url).list())  # one was tried twice
        proxy.asked.clear()
        assert push_record(of_run(url), record).n_objects == 0
        assert proxy.n_puts == 0
        assert len(proxy.asked) < n_asked / 2  # a listing, the journal's last part, the manifest


def test_what_is_derived_anew_takes_the_place_of_what_was(tmp_path: Path, url: str) -> None:
    record = begun_alone(write_judged(tmp_path, 6, 1))
    push_record(of_run(url), record)
    manifest = json.loads(record.manifest.read_bytes())
    record.manifest.write_text(json.dumps(manifest | {"derived_by": {}}), encoding="utf-8")
    assert push_record(of_run(url), record).n_objects == len(DERIVED) + 1
    other = pull_record(of_run(url), tmp_path / "other", "run").record
    assert other.manifest.read_bytes() == record.manifest.read_bytes()


def test_what_a_folder_has_more_stays(tmp_path: Path, url: str) -> None:
    """And what is derived of it, too."""
    config = write_judged(tmp_path, 6, 1)
    record = judged_in_shards(config, 2, (1,))
    joined(record, incomplete=True)
    push_record(of_run(url), record)
    joined(judged_in_shards(config, 2, (2,)))
    before = files(record.path)
    pull_record(of_run(url), record.path.parent, "run")
    assert files(record.path) == before
    push_record(of_run(url), record)
    assert files(pull_record(of_run(url), tmp_path / "other", "run").record.path) == before


def test_labels_of_people_are_kept_too(tmp_path: Path, url: str) -> None:
    record = begun_alone(write_judged(tmp_path, 6, 1))
    labels = bb.label(record.path, out=tmp_path / "labels", n=3)
    pushed = bb.push(labels.path, url)
    assert pushed.address == f"{url}/labels"
    found = pull_record(of_run(url, "labels"), tmp_path / "other", "labels").record
    assert files(found.path) == files(Path(labels.path))


def test_two_records_of_one_name_are_told_apart(tmp_path: Path, url: str) -> None:
    one = begun_alone(write_judged(tmp_path / "one", 6, 1))
    two = begun_alone(write_judged(tmp_path / "two", 6, 1))
    push_record(of_run(url), one)
    with pytest.raises(TakenError, match="another writer"):
        push_record(of_run(url), two)
    with pytest.raises(TakenError, match="another writer"):
        pull_record(of_run(url), two.path.parent, "run")
    many = judged_in_shards(write_judged(tmp_path / "many", 6, 1), 2)
    with pytest.raises(TakenError, match="one has shards, the other one writer"):
        pull_record(of_run(url), many.path.parent, "run")


def test_a_record_that_is_written_is_not_pulled_into(tmp_path: Path, url: str) -> None:
    record = begun_alone(write_judged(tmp_path, 6, 1))
    push_record(of_run(url), record)
    with JournalWriter(record.journal), pytest.raises(RecordLockedError):
        pull_record(of_run(url), tmp_path / "runs", "run")


def test_an_empty_place_has_no_record(tmp_path: Path, url: str) -> None:
    with pytest.raises(StoreError, match="there is no record"):
        pull_record(of_run(url), tmp_path, "run")
    assert not (tmp_path / "run").exists()


# ── hostile names ────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = {
    "above": "../above.json",
    "above, within": "sets/../../above.json",
    "above the journal": "shards/1/journal/../../../above",
    "escaped": "..%2Fabove.json",
    "absolute": "/etc/above",
    "doubled": "sets//000001.json",
    "backslash": "..\\above.json",
    "drive": "C:above",
    "a mark": "sets/000001.json\n",
    "odd digits": "sets/00000١.json",
    "no number": "shards/01/journal/000001/000000000000.zst",
    "no hash": "inputs/manifest.json",
    "a journal's file": "journal/000001.jsonl",
    "hidden": ".git/config",
    "deep": "a/b/c/d/e/f",
    "long": "a" * 151,
    "a space": "a b.json",
    "ends in a dot": "manifest.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_write_nothing(tmp_path: Path, url: str, server: S3Server, name: str) -> None:
    record = begun_alone(write_judged(tmp_path / "a", 2, 1))
    push_record(of_run(url), record)
    path = f"/{BUCKET}/{url.rpartition('/')[2]}/run/{quote(HOSTILE[name], safe='/')}"
    assert server.ask("PUT", path, b"{}")[0] == 200
    before = files(tmp_path)
    with pytest.raises(StoreError, match=r"expected a name as records have them|a name that no record has"):
        pull_record(of_run(url), tmp_path / "b" / "runs", "run")
    assert files(tmp_path) == before
    assert not (tmp_path / "b" / "runs" / "run").exists()


def test_what_desktops_and_consoles_leave_is_passed_over(tmp_path: Path, url: str) -> None:
    record = begun_alone(write_judged(tmp_path / "a", 2, 1))
    (record.path / ".DS_Store").write_bytes(b"x")
    push_record(of_run(url), record)
    assert ".DS_Store" not in of_run(url).list()
    of_run(url).put("inputs/.DS_Store", b"x")
    for name in ("shards", "sets", "made_by_a_console"):
        of_run(url).put(name, b"")
    found = pull_record(of_run(url), tmp_path / "b", "run").record
    assert ".DS_Store" not in files(found.path)


def _input(found: Objects) -> str:
    name = next(name for name in found.list() if name.startswith("inputs/"))
    found.put(name, b"other")
    return "was changed: its bytes hash to"


def _set(found: Objects) -> str:
    found.put("sets/000001.json", found.get("sets/000001.json", 1 << 20).replace(b"0", b"1", 1))
    return "was changed|is no set|by the rules"


def _part(found: Objects) -> str:
    found.put(f"shards/2/journal/{part_name(1, 0)}", b"other")
    return "is no part of a journal"


def _both(found: Objects) -> str:
    name = f"journal/{part_name(1, 0)}"
    found.put(name, found.get(f"shards/2/{name}", 1 << 20))
    return "has a journal and shards"


def _gap(found: Objects) -> str:
    name = f"shards/2/journal/{part_name(1, 0)}"
    found.put(name.replace("000001/", "000003/"), found.get(name, 1 << 20))
    return "segment 2 is missing"


@pytest.mark.parametrize("change", [_input, _set, _part, _both, _gap])
def test_what_was_changed_in_the_bucket_is_not_pulled(
    tmp_path: Path, url: str, change: Callable[[Objects], str]
) -> None:
    record = judged_in_shards(write_judged(tmp_path, 6, 1), 2)
    joined(record)
    push_record(of_run(url), record)
    with pytest.raises((StoreError, RecordDamagedError), match=change(of_run(url))):
        pull_record(of_run(url), tmp_path / "other", "run")
    assert not (tmp_path / "other" / "run").exists()


# ── shards ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_shards_of_many_machines_are_the_run_of_one(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path / "files", 13, 2)
    alone = begun_alone(write_judged(tmp_path / "one", 13, 2))
    for number in (2, 3, 1):
        assert ask(elsewhere(config, tmp_path / f"machine{number}"), f"{number}/3", url).is_whole
    found = join_kept(store_address(url), "run", tmp_path / "joiner")
    assert found.findings == ()
    assert [(found.record.path / name).read_bytes() for name in DERIVED] == [
        (alone.path / name).read_bytes() for name in DERIVED
    ]
    assert verify(found.record).findings == ()
    seen = pull_record(of_run(url), tmp_path / "reader", "run").record
    assert files(seen.path) == files(found.record.path)


def test_a_machine_that_is_lost_costs_what_it_had_not_pushed(tmp_path: Path, url: str) -> None:
    """The shard goes on elsewhere, where the bucket has it to; asked again is no more than what was lost."""
    config = write_judged(tmp_path / "files", 12, 1)
    alone = begun_alone(write_judged(tmp_path / "one", 12, 1))
    lost = elsewhere(config, tmp_path / "lost")
    ask(lost, "1/2", url)
    ask(elsewhere(config, tmp_path / "other"), "2/2", url)
    store = tmp_path / "seen"
    journal = ShardRecord(Path(lost.runs) / "run" / "shards" / "1").journal / "000001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    # As if it had been lost after five lines, of which three were pushed.
    cut_url = url + "-cut"
    journal.write_bytes(b"".join(lines[:3]))
    push_record(of_run(cut_url), Record(Path(lost.runs) / "run"))
    push_record(of_run(cut_url), Record(tmp_path / "other" / "runs" / "run"))
    shutil.rmtree(tmp_path / "lost")
    result = ask(elsewhere(config, store), "1/2", cut_url)
    assert result.is_whole
    pulled = (result.record.journal / "000001.jsonl").read_bytes().splitlines(keepends=True)
    assert pulled[:3] == lines[:3]
    assert json.loads(pulled[3])["kind"] == "resumed"
    found = join_kept(store_address(cut_url), "run", tmp_path / "joiner")
    assert found.findings == ()
    assert [(found.record.path / name).read_bytes() for name in DERIVED] == [
        (alone.path / name).read_bytes() for name in DERIVED
    ]


def test_a_writer_that_was_killed_after_a_put_goes_on(tmp_path: Path, url: str) -> None:
    """What it knew of the bucket is lost; its folder is whole, or lacks what a power cut took."""
    config = write_judged(tmp_path, 12, 1)
    result = ask(config, "1/2", url)
    path = result.record.journal / "000001.jsonl"
    whole = path.read_bytes()
    names = set(of_run(url).list())
    for n_lines in (1, 3, 5):
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:n_lines]) + b"{torn")
        assert ask(config, "1/2", url).is_whole
        assert path.read_bytes() == whole
        assert set(of_run(url).list()) == names


def test_of_two_writers_of_a_shard_one_stops_before_it_asks(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path / "files", 12, 1)
    one, two = (elsewhere(config, tmp_path / name) for name in ("one", "two"))
    ask(one, "1/2", url + "-other")
    ask(two, "1/2", url)
    with pytest.raises(TakenError, match="another writer has gone on with it"):
        ask(one, "1/2", url)
    # Both begin before either has pushed: it pulls nothing, and its first part is refused.
    shutil.rmtree(one.runs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchbook.ask.keeping.pull_shard", lambda *_: False)
        with pytest.raises(TakenError, match="another writer has gone on with it"):
            ask(one, "1/2", url)
    lines = (Path(one.runs) / "run" / "shards" / "1" / "journal" / "000001.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["run_started"]


def goes_on(path: Path, text: str) -> ShardRecord:
    record = ShardRecord(path / "run" / "shards" / "1")
    with JournalWriter(record.journal) as writer:
        writer.append(Reply(sample=0, role="candidate", text=text))
    return record


def test_another_writer_who_comes_later_stops_the_first(tmp_path: Path, url: str) -> None:
    """Nobody knows that the first one lives: another goes on with its shard, and the first sees it when it pushes."""
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/1", url)
    keeper = ShardKeeper(Keep(store_address(url), 0.01), config.runs, "run", 1)
    stop = Stop()

    async def sit() -> None:
        stopped = asyncio.Event()
        stop.on_stop = stopped.set
        keeper.begin()
        pull_shard(of_run(url), tmp_path / "other", "run", 1)
        shard_pusher(of_run(url), goes_on(tmp_path / "other", "there")).push()
        async with keeper.beside(stop):
            goes_on(Path(config.runs), "here")
            await stopped.wait()

    with pytest.raises(TakenError, match="lines of another writer"):
        run_async(sit())
    assert stop.failed
    assert "lines of another writer" in str(stop.reason)


def test_what_is_interrupted_twice_pushes_nothing_more(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/1", url)
    keeper = ShardKeeper(Keep(store_address(url), 3_600), config.runs, "run", 1)
    before = of_run(url).list()

    async def sit() -> None:
        keeper.begin()
        async with keeper.beside(Stop()):
            goes_on(Path(config.runs), "here")
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_async(sit())
    assert of_run(url).list() == before


@pytest.mark.slow
def test_what_fills_a_segment_is_pushed_before_its_time(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/1", url)
    keeper = ShardKeeper(Keep(store_address(url), 3_600), config.runs, "run", 1)
    journal = ShardRecord(Path(config.runs) / "run" / "shards" / "1").journal

    async def sit() -> None:
        keeper.begin()
        with JournalWriter(journal, segment_bytes=1) as writer:
            writer.append(Reply(sample=0, role="candidate", text="fills one"))
        async with keeper.beside(Stop()):
            while not any("/000002/" in name for name in of_run(url).list()):
                await asyncio.sleep(0)

    run_async(sit())


@pytest.mark.slow
def test_a_bucket_that_fails_all_along_loses_nothing(
    tmp_path: Path, url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_judged(tmp_path, 12, 1)
    faults = ("503", "cut", None, "cut-answer", None, "SlowDown", None)

    def fault(number: int, method: str, path: str) -> str | None:
        """By how often the same was asked: else several at once may take turns so that one of them always fails."""
        return faults[proxy.asked[:number].count(f"{method} {path}") % len(faults)]

    with proxied(server, fault) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        for number in (1, 2, 3):
            assert ask(config, f"{number}/3", url, 0.02).is_whole
        found = join_kept(store_address(url), "run", tmp_path / "joiner")
        assert found.findings == ()
        seen = pull_record(of_run(url), tmp_path / "reader", "run").record
    assert verify(seen).findings == ()


def test_a_bucket_that_is_gone_at_the_end_is_said_and_pushed_to_later(
    tmp_path: Path, url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_judged(tmp_path, 12, 1)
    with proxied(server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])

        def vanish(_: object) -> None:
            proxy.fault = lambda *_: "503"

        keep = keep_in(url, None)
        with pytest.raises(StoreError, match=r"HTTP 503.*What was recorded is whole in .*the same command pushes it"):
            run_async(ask_shard(evaluator_asked_for(config.spec), config, shard_named("1/1"), vanish, keep=keep))
        proxy.fault = lambda *_: None
        assert ask(config, "1/1", url).is_whole
        assert join_kept(store_address(url), "run", tmp_path / "joiner").findings == ()


# ── joins ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_of_two_joins_at_once_one_wins_and_the_other_joins_again(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one has seen less: another shard came meanwhile, and was joined."""
    config = write_judged(tmp_path / "files", 12, 1)
    ask(elsewhere(config, tmp_path / "one"), "1/2", url)
    n_joins = 0
    whole_join = joining.join

    def join_late(record: Record, **how: object) -> joining.Joined:
        """Between what this one pulled and what it joins, another one has joined more."""
        nonlocal n_joins
        n_joins += 1
        if n_joins == 1:
            ask(elsewhere(config, tmp_path / "two"), "2/2", url)
            assert join_kept(store_address(url), "run", tmp_path / "quick").findings == ()
        return whole_join(record, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(joining, "join", join_late)
    found = join_kept(store_address(url), "run", tmp_path / "slow", incomplete=True)
    assert n_joins == 3
    assert [name for name in of_run(url).list() if name.startswith("sets/")] == ["sets/000001.json"]
    newest = newest_set(tmp_path / "quick" / "run")
    assert newest is not None
    assert found.set == newest
    assert newest.head.n_shards == 2
    assert verify(found.record).findings == ()


class KilledError(BaseException):
    """The process ends here."""


def test_a_join_that_was_killed_after_its_set_is_done_again(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path, 6, 1)
    ask(config, "1/1", url)

    def killed(found: Objects, name: str, data: bytes) -> bool:
        pushing.push_once(found, name, data)
        raise KilledError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(joining, "push_once", killed)
        with pytest.raises(KilledError):
            join_kept(store_address(url), "run", tmp_path / "joiner")
    assert newest_set(tmp_path / "joiner" / "run") is None
    assert join_kept(store_address(url), "run", tmp_path / "joiner").findings == ()
    assert [name for name in of_run(url).list() if name.startswith("sets/")] == ["sets/000001.json"]


def test_a_set_names_nothing_that_the_bucket_lacks(tmp_path: Path, url: str) -> None:
    """The joiner's folder has more of a shard than the bucket: it was asked there without one."""
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/2", url)
    record = judged_in_shards(config, 2, (2,))
    assert join_kept(store_address(url), "run", config.runs).findings == ()
    assert pull_record(of_run(url), tmp_path / "other", "run").record.path.is_dir()
    assert files(tmp_path / "other" / "run") == files(record.path)


def test_what_is_wrong_with_shards_is_said_and_nothing_is_put(tmp_path: Path, url: str) -> None:
    config = write_judged(tmp_path, 12, 1)
    ask(config, "1/2", url)
    before = of_run(url).list()
    found = join_kept(store_address(url), "run", tmp_path / "joiner")
    assert [str(one) for one in found.findings] == ["shards: samples 6 to 11 are in no shard"]
    assert of_run(url).list() == before


def test_a_store_knows_records_by_their_ids(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="found no run id"):
        join_kept(store_address(url), "runs/run", tmp_path)
