"""`benchbook import`: records of other tools' logs, or an error and nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import benchbook as bb
from benchbook.exchange.importing import Wanted, import_log
from exchange.every_eval_ever.made import aggregate, result
from running import benchbook_here
from scored import write_lines
from scored_logs import MadeLog, sample


def batch(folder: Path, *answers: str, name: str = "results.jsonl") -> Path:
    """The results of a batch, beside the requests."""
    asked = [{"model": "m", "messages": [{"role": "user", "content": f"What is {n}?"}]} for n, _ in enumerate(answers)]
    write_lines(folder / "requests.jsonl", [
        {"custom_id": f"i{n}", "method": "POST", "url": "/v1/chat/completions", "body": body}
        for n, body in enumerate(asked)
    ])  # fmt: skip
    write_lines(folder / name, [
        {
            "id": f"batch_req_{n}", "custom_id": f"i{n}", "error": None,
            "response": {"status_code": 200, "request_id": "r", "body": {
                "id": "c", "object": "chat.completion", "model": "m-2026-01-01", "created": 1,
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
            }},
        }
        for n, text in enumerate(answers)
    ])  # fmt: skip
    return folder / name


def test_a_log_becomes_a_record_that_verifies_and_is_shown(tmp_path: Path) -> None:
    batch(tmp_path, "zero", "one")
    done = benchbook_here("import", "results.jsonl", "--run-id", "batch", cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert "the log has answers, and no scores" in done.stdout.decode()
    assert benchbook_here("verify", "batch", cwd=tmp_path).returncode == 0
    shown = benchbook_here("show", "batch", "--sample", "1", cwd=tmp_path).stdout.decode()
    assert "one" in shown
    listed = json.loads(benchbook_here("runs", "--json", cwd=tmp_path).stdout)
    assert [one["run"] for one in listed] == ["batch"]


@pytest.mark.parametrize(("n", "status"), [(1, 0), (2, 2)])
def test_a_name_is_for_the_one_log_that_holds_samples(tmp_path: Path, n: int, status: int) -> None:
    """Of several that do, none is imported; one without samples takes no name."""
    for number in range(n):
        (tmp_path / "logs" / str(number)).mkdir(parents=True)
        batch(tmp_path / "logs" / str(number), "zero")
    (tmp_path / "logs" / "empty").mkdir()
    (tmp_path / "logs" / "empty" / "log.json").write_text(json.dumps(aggregate(result())), encoding="utf-8")
    done = benchbook_here("import", "logs", "--run-id", "named", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "runs" / "named").exists()) == (status, n == 1), done.stderr.decode()
    assert ("holds several logs" in done.stderr.decode()) == (n == 2)


REFUSED = {
    "nothing": ("none.jsonl", None, "nothing that can be read"),
    "empty": ("empty.jsonl", b"", "found an empty file; expected a log of"),
    "another tool's": ("other.json", b'{"a": 1}', "found JSON of something else; expected a log of"),
    "a text": ("note.txt", b"dear diary", "found a text of something else"),
    "an archive": ("a.zip", b"PK\x05\x06" + bytes(18), "zip archive"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_log_is_refused_by_what_it_seems_to_be(tmp_path: Path, what: str) -> None:
    name, content, says = REFUSED[what]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    for command in ("import", "audit"):
        done = benchbook_here(command, name, cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr.decode()
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("words", ["3", "1:0", "0:nan", "a:b", "0:inf"])
def test_a_scale_that_is_none_is_refused(tmp_path: Path, words: str) -> None:
    batch(tmp_path, "zero")
    done = benchbook_here("import", "results.jsonl", "--scale", words, cwd=tmp_path)
    assert done.returncode == 2
    assert "LOW:HIGH" in done.stderr.decode()


def apart(folder: Path, *answers: str) -> Path:
    """The same with the requests in a folder of their own, under the name of the results."""
    results = batch(folder, *answers)
    (folder / "sent").mkdir()
    return (folder / "requests.jsonl").rename(folder / "sent" / results.name)


def test_requests_of_another_place_are_named(tmp_path: Path) -> None:
    requests = apart(tmp_path, "zero", "one")
    words = ["import", "results.jsonl", "--requests", "sent/results.jsonl", "--run-id", "batch", "--quiet"]
    done = benchbook_here(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    (run,) = bb.import_logs(tmp_path / "results.jsonl", requests=requests, runs=tmp_path / "runs")
    for one in (run, bb.load(tmp_path / "runs" / "batch")):
        assert one.samples["prompt"].to_list() == ["What is 0?", "What is 1?"]
        assert {"log/results.jsonl", "log/requests-results.jsonl"} <= set(one.record.started().inputs)
        assert bb.verify(one.path).holds


REQUESTS_REFUSED = {
    "of another batch": (
        "other.jsonl",
        "no request with the custom_id of any result; expected the requests of results",
    ),
    "no requests": ("results.jsonl", "results.jsonl:1: another form than it should have"),
    "not there": ("none.jsonl", "can't be read"),
}


@pytest.mark.parametrize("what", REQUESTS_REFUSED)
def test_requests_that_are_none_of_the_batch_are_refused(tmp_path: Path, what: str) -> None:
    name, says = REQUESTS_REFUSED[what]
    batch(tmp_path, "zero")
    line = {"custom_id": "other", "url": "/v1/chat/completions", "body": {"messages": []}}
    write_lines(tmp_path / "other.jsonl", [line])
    done = benchbook_here("import", "results.jsonl", "--requests", name, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "runs").exists()) == (2, False)
    assert name in done.stderr.decode()
    assert says in done.stderr.decode()


def test_a_log_that_is_no_batch_takes_no_requests(tmp_path: Path) -> None:
    batch(tmp_path, "zero")
    (tmp_path / "log.json").write_text(json.dumps(aggregate(result())), encoding="utf-8")
    done = benchbook_here("import", "log.json", "--requests", "requests.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "a log of Every Eval Ever, which takes no file of requests" in done.stderr.decode()


def asked(folder: Path, *expected: str) -> None:
    items = [{"id": f"i{n}", "prompt": f"What is {n}?", "expected_answer": one} for n, one in enumerate(expected)]
    write_lines(folder / "items.jsonl", items)


def test_a_finished_batch_is_scored_by_the_set_that_was_asked(tmp_path: Path) -> None:
    asked(tmp_path, "zero", "one", "two")
    batch(tmp_path, "It is zero.", "It is 1.")
    (tmp_path / "requests.jsonl").unlink()
    for words in (
        "import results.jsonl --evalset items.jsonl --run-id batch",
        "score contains@v1 --from batch --run-id c",
    ):
        done = benchbook_here(*words.split(), "--reports", "none", cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
    run, scored = (bb.load(tmp_path / "runs" / name) for name in ("batch", "c"))
    assert run.manifest.dataset_id == scored.manifest.dataset_id == "items"
    assert run.samples["predicted"].to_list() == ["It is zero.", "It is 1.", None]
    assert scored.samples["contains"].to_list() == [1.0, 0.0]
    assert done.stderr.decode() == "1 sample of the run was not answered, and is left out\n"
    said = " ".join(run.aggregates.warnings)
    assert "1 of the eval set's 3 items is not in the log, and unanswered: 'i2'." in said
    assert "2 samples: the log does not say what was asked; the prompt is the eval set's." in said
    assert "the prompts are not known" not in said
    for name in ("batch", "c"):
        assert benchbook_here("verify", name, cwd=tmp_path).returncode == 0


def test_over_one_set_imported_runs_are_ranked_and_ours_are_measured_otherwise(tmp_path: Path) -> None:
    asked(tmp_path, "zero", "one")
    write_lines(tmp_path / "said.jsonl", [{"item_id": f"i{n}", "predicted": "zero"} for n in range(2)])
    for name, other in (("a", "zero"), ("b", "two")):
        log = MadeLog(tmp_path, [sample("i0", 1.0), sample("i1", float(other == "zero"))], model=f"x/{name}@1")
        import_log(log, Wanted(str(tmp_path / "runs"), name, evalset=str(tmp_path / "items.jsonl")))
    words = (
        "score contains@v1 --evalset items.jsonl --predictions said.jsonl --model x/a@1 --run-id ours --reports none"
    )
    assert benchbook_here(*words.split(), cwd=tmp_path).returncode == 0
    sets = {bb.load(tmp_path / "runs" / name).manifest.dataset_version_or_hash for name in ("a", "b", "ours")}
    assert len(sets) == 1
    ranked = json.loads(benchbook_here("leaderboard", "a", "b", "--json", cwd=tmp_path).stdout)
    assert [(row["run"], row["score"]) for row in ranked["places"]] == [("a", 1.0), ("b", 0.5)]
    refused = benchbook_here("compare", "a", "ours", cwd=tmp_path)
    assert refused.returncode == 2
    assert "contains@v1" in refused.stderr.decode()


def test_json_is_a_list_of_all_records_those_before_a_broken_log_too(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        batch(tmp_path / "logs" / name, name)
    words = ("import", "logs", "--json", "--reports", "none")
    listed = benchbook_here(*words, cwd=tmp_path)
    assert len({one["run"] for one in json.loads(listed.stdout)}) == 3
    with (tmp_path / "logs" / "c" / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")
    done = benchbook_here(*words, cwd=tmp_path)
    assert (done.returncode, len(json.loads(done.stdout))) == (2, 2)
    assert "results.jsonl:2" in done.stderr.decode()


def test_the_library_joins_with_rows(tmp_path: Path) -> None:
    results = batch(tmp_path, "zero")
    rows = [{"id": "i0", "prompt": "What is 0?", "expected_answer": "zero"}]
    (run,) = bb.import_logs(results, evalset=rows, runs=tmp_path / "runs")
    assert run.samples["expected"].to_list() == ["zero"]
    assert bb.verify(run.path).holds


def test_the_library_gives_a_run_for_each_log(tmp_path: Path) -> None:
    batch(tmp_path, "zero", "one")
    (run,) = bb.import_logs(tmp_path / "results.jsonl", runs=tmp_path / "runs")
    assert run.samples["predicted"].to_list() == ["zero", "one"]
    assert run.samples["score"].to_list() == [None, None]
    assert bb.verify(run.path).holds


def test_of_a_folder_what_makes_sense_is_imported_and_what_does_not_is_named(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / "logs" / name).mkdir(parents=True)
    batch(tmp_path / "logs" / "a", "zero")
    batch(tmp_path / "logs" / "c", "zero")
    broken = batch(tmp_path / "logs" / "b", "zero", "one")
    broken.write_bytes(broken.read_bytes()[:-40])
    done = benchbook_here("import", "logs", "--quiet", "--reports", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().count("not imported: ") == 1
    assert "results.jsonl:2" in done.stderr.decode()
    assert len(json.loads(benchbook_here("runs", "--json", cwd=tmp_path).stdout)) == 2
