"""Runs by batch: the same scores as when each request is asked alone, at a part of the price, by any evaluator."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from ask.batches.going import (
    VENDORS,
    begun,
    check_whole,
    ended,
    facts_of,
    failures,
    looked_at,
    scores_of,
    sent,
    values,
)
from batch_vendors import Fates, vendors
from benchbook.ask.batches.running import Waiting
from benchbook.ask.batches.standing import cancel, status
from benchbook.ask.starting import resume
from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json
from benchbook.errors import UsageError, VendorError
from benchbook.evaluators.registry import evaluator_of, settings_asked_for, start_run
from benchbook.evaluators.verify import verify
from benchbook.record.facts import BatchCollected, BatchPrepared, Interrupted, Reply, RunStarted
from benchbook.record.folder import Record
from judging import make_set
from running import benchbook_here

FATES = Fates(expired=120, failed=60, doubled=120)
_PRICES = {
    "model_input_price": "1", "model_output_price": "2", "judge_input_price": "10", "judge_output_price": "20",
}  # fmt: skip


def asked_alone(folder: Path, given: dict[str, Any], address: str) -> Any:
    """The same run as `benchbook run` asks it, of the same vendors."""
    plain = {name: value for name, value in given.items() if name != "batch"}
    plain |= {name: address for name in ("model_base_url", "judge_base_url") if name in given}
    _, config = settings_asked_for(plain | {"run_id": "alone", "max_connections": 1}, "test")
    return run_async(start_run(config))


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_scores_are_those_of_a_run_that_asks_itself(tmp_path: Path, vendor: str) -> None:
    """Some replies of the judge are malformed at first, and some always: what is asked again comes to the same."""
    for name in ("batch", "alone"):
        (tmp_path / name).mkdir()
    with vendors(tmp_path / "one", FATES) as server, vendors(tmp_path / "other") as other:
        given = values(tmp_path / "batch", server, vendor, 60, **_PRICES)
        run = ended(begun(given))
        check_whole(run, server)
        alone = asked_alone(tmp_path / "alone", given, other.chat)
    assert scores_of(run.record) == scores_of(alone.record)
    replies = [one for one in facts_of(run.record) if isinstance(one, Reply)]
    assert {one.attempt for one in replies if one.role == "judge"} == {1, 2}
    # Nobody measured how long it took; that is declared, and no zero.
    assert {one.latency_e2e_ms for one in replies} == {None}
    assert run.record.started().identity["plan"]["unmeasured"] == ["latency"]
    whole = alone.derived.aggregates
    found = run.derived.aggregates
    for name in ("candidate_cost_usd", "evaluator_cost_usd"):
        half, full = Decimal(getattr(found, name)), Decimal(getattr(whole, name))
        assert abs(half - full / 2) <= Decimal("0.000001")


def test_the_plan_is_that_of_any_other_run_and_its_first_fact_names_format_5(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        given = values(tmp_path, server, "openai", unmeasured=["latency"])
        run = begun(given)
        evaluator, config = settings_asked_for(given, "test")
        plan = evaluator.prepare(config).first_fact("x", dict(run.record.started().inputs), None)
    started = run.record.started()
    assert (started.plan_sha256, started.format, plan.format) == (plan.plan_sha256, 5, 0)


def test_records_without_batches_keep_their_bytes() -> None:
    assert b"batch" not in canonical_json(Reply(sample=0, role="judge"))


def test_answers_without_a_judge_are_asked_and_scored(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    with vendors(tmp_path / "one", FATES) as server, vendors(tmp_path / "other") as other:
        given = values(tmp_path, server, "gemini", 40, spec="contains@v1")
        for name in ("judge", "judge_base_url"):
            del given[name]
        run = ended(begun(given))
        check_whole(run, server)
        alone = asked_alone(tmp_path / "alone", given, other.chat)
        assert scores_of(run.record) == scores_of(alone.record)


def test_a_function_of_ones_own_scores_what_came(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import benchbook as bb\n\n@bb.scorer(name='own')\ndef own(item, answer):\n    return len(answer) / 100\n",
        "utf-8",
    )
    with vendors(tmp_path / "server", FATES) as server:
        given = values(tmp_path, server, "anthropic", 6)
        words = [
            f"--{name.replace('_', '-')}={given[name]}"
            for name in ("evalset", "model", "model_base_url", "run_id", "max_retries")
        ]
        scorer = ["--scorer", "own.py:own", "--quiet"]
        done = benchbook_here("batch", "submit", *words, "--vendor", "anthropic", *scorer, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        done = benchbook_here("batch", "collect", "run", *scorer, "--wait", "--every", "0.1", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = bb.load(tmp_path / "runs" / "run")
        assert found.samples["score"].to_list() == [len(one) / 100 for one in found.samples["predicted"]]
        assert bb.verify(found.path).holds


def test_a_panels_judges_are_asked_at_the_same_time(tmp_path: Path) -> None:
    """Two judges at two vendors: neither waits for the other, whichever is back first."""
    with vendors(tmp_path / "server", FATES) as server:
        given = values(tmp_path, server, "openai", 20)
        del given["judge"], given["judge_base_url"]
        given["batch"] = {"settle_seconds": 0, "vendor": "openai", "judge_vendor": "openai"}
        given["judges"] = [
            {"model": "openai/a@2026-01-01", "base_url": server.openai},
            {"model": "openai/b@2026-01-01", "base_url": server.openai},
        ]
        run = looked_at(begun(given).record)
        assert {("judge", 0), ("judge", 1)} <= {(one.role, one.judge) for one in sent(run.record)}
        run = ended(run)
        assert run.stop.reason is None
        assert verify(run.record).findings == ()


def test_a_judge_protocol_asks_by_batch(tmp_path: Path) -> None:
    make_set(tmp_path, 3, ("m",))
    with vendors(tmp_path / "server", FATES) as server:
        given = {
            "set": str(tmp_path / "set"), "prompts": str(tmp_path / "prompts.jsonl"), "run_id": "run",
            "judges": [
                {"model": "openai/j@2026-01-01", "base_url": server.openai, "name": "one"},
                {"model": "openai/k@2026-01-01", "base_url": server.openai, "name": "two"},
            ],
            "runs": str(tmp_path / "runs"), "reports": None, "max_retries": 20,
            "batch": {"settle_seconds": 0, "max_requests": 2},
        }  # fmt: skip
        run = ended(begun(given))
        assert {one.end for one in facts_of(run.record) if isinstance(one, BatchCollected)} <= {"completed", "expired"}
        assert set(server.billed().values()) == {1}
        assert verify(run.record).findings == ()


def test_recorded_outputs_are_judged_by_batch(tmp_path: Path) -> None:
    """The outputs are imported as by `benchbook run`, and the judge alone is sent anything."""
    outputs = tmp_path / "outputs.jsonl"
    lines = [
        {"item_id": f"i{n}", "output": str(n + 1), "latency_e2e_ms": 5, "input_tokens": 1, "output_tokens": 1}
        for n in range(6)
    ]
    outputs.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    with vendors(tmp_path / "server", FATES) as server:
        given = values(tmp_path, server, "openai", model="recorded/m@1", outputs=str(outputs))
        del given["model_base_url"]
        run = ended(begun(given))
        assert {one.role for one in sent(run.record)} == {"judge"}
        assert run.record.started().identity["plan"]["unmeasured"] == []
        assert run.n_done == run.n_samples
        assert set(server.billed().values()) == {1}
        assert verify(run.record).findings == ()


# ── what may go wrong ────────────────────────────────────────────────────────────────────────────────────────


def test_what_expires_again_and_again_ends_unanswered_and_a_later_sitting_asks_it(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", Fates(expired=1000)) as server:
        run = ended(begun(values(tmp_path, server, "openai", 3, max_retries=2)))
        assert run.stop.failed
        assert "3 samples are unanswered" in str(run.stop.reason)
        assert [one.cause for one in failures(run.record)] == ["not_carried_out"] * 9
        assert [one.ends for one in failures(run.record)] == ["attempt"] * 6 + ["sitting"] * 3
        assert isinstance(facts_of(run.record)[-1], Interrupted)
        assert verify(run.record).findings == ()
        again = looked_at(run.record)  # a look alone sends nothing more
        assert (again.n_out, again.stop.reason) == (0, run.stop.reason)
        server.fates = Fates()
        run = ended(looked_at(run.record, resumes=True))
        check_whole(run, server)


def test_many_that_fail_in_a_row_stop_nothing_for_they_are_out_together(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", Fates(failed=1000)) as server:
        run = ended(begun(values(tmp_path, server, "openai", 12, max_retries=0)))
        assert "12 samples are unanswered" in str(run.stop.reason)
        server.fates = Fates()
        check_whole(ended(looked_at(run.record, resumes=True)), server)


def test_many_replies_that_are_rejected_twice_stop_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of what is asked again has nothing else in it: ten in a row are no sign of a judge that can't be read."""
    monkeypatch.setattr("batch_vendors.said", lambda text, before=0: "No JSON.")
    with vendors(tmp_path / "server") as server:
        run = ended(begun(values(tmp_path, server, "anthropic", 12)))
        check_whole(run, server)
        assert run.derived.aggregates.ledger.n_unscored == 12


def test_a_file_that_a_vendor_refuses_stops_the_run_with_its_words(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai"))
        with server.database() as database:
            database.execute("UPDATE batches SET status = 'failed', errors = 'Model m is not supported.'")
        run = ended(run)
        assert "Model m is not supported." in str(run.stop.reason)
        assert [one.end for one in facts_of(run.record) if isinstance(one, BatchCollected)] == ["failed"]
        assert verify(run.record).findings == ()


def test_too_much_at_once_goes_out_once_something_came_back(tmp_path: Path) -> None:
    """guides/batch, "Rate limits": a batch over the limit on tokens that wait fails; it is not refused for good."""
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai", batch={"max_requests": 3}))
        with server.database() as database:
            why = "Enqueued token limit reached for m"
            database.execute("UPDATE batches SET status = 'failed', errors = ? WHERE number = 1", (why,))
        check_whole(ended(run), server)
        ends = [one.end for one in facts_of(run.record) if isinstance(one, BatchCollected)]
        assert ends.count("failed") == 1


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_wrong_key_is_said_at_once_and_stays_nowhere(
    tmp_path: Path, vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret-0123456789")
    with vendors(tmp_path / "server", keys={"sk-other"}) as server:
        given = values(tmp_path, server, vendor, model_api_key_env="MY_KEY", judge_api_key_env="MY_KEY")
        with pytest.raises(VendorError) as refused:
            begun(given)
        assert refused.value.needs_a_person
        record = Record(tmp_path / "runs" / "run")
        assert [one.end for one in facts_of(record) if isinstance(one, BatchCollected)] == ["not_sent"]
        server.keys.add("sk-secret-0123456789")
        check_whole(ended(looked_at(record)), server)
    held = (
        b"".join(path.read_bytes() for path in record.path.rglob("*") if path.is_file()) + str(refused.value).encode()
    )
    assert b"sk-secret" not in held


def test_a_result_is_never_taken_for_another_request(tmp_path: Path) -> None:
    """A line with the id of one request and the hash of another answers nothing; a strange line is counted."""
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai", 2))
        server.looked_at("batch_1")
        path = server.path("output-1")
        lines = [json.loads(one) for one in path.read_text("utf-8").splitlines()]
        lines[0]["custom_id"] = lines[0]["custom_id"][:-32] + "0" * 32
        path.write_text("".join(f"{json.dumps(one)}\n" for one in lines) + '{"custom_id": "else"}\nno JSON\n', "utf-8")
        run = looked_at(run.record)
        collected = next(one for one in facts_of(run.record) if isinstance(one, BatchCollected))
        assert (collected.n_replies, collected.n_failures, collected.n_strange) == (1, 0, 3)
        assert ended(run).n_done == 2  # what got no result was asked again


def test_doubled_lines_are_counted_and_the_first_stands(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", Fates(doubled=1000)) as server:
        run = ended(begun(values(tmp_path, server, "anthropic", 4)))
        check_whole(run, server)
        assert [one.n_doubled for one in facts_of(run.record) if isinstance(one, BatchCollected)][:2] == [4, 4]


def test_a_limit_on_dollars_holds_for_what_is_out_too(tmp_path: Path) -> None:
    """Two requests may cost 2 x 1,024 tokens at 1,000 dollars a million, half of it: a dollar a file, and a little."""
    prices = {"model_input_price": "0", "model_output_price": "1000"}
    with vendors(tmp_path / "server") as server:
        given = values(tmp_path, server, "openai", 6, max_cost_usd="2.1", batch={"max_requests": 2}, **prices)
        run = begun(given)
        assert [one.most_cost_usd for one in sent(run.record)] == ["1.024000"] * 2
        assert "the cost limit: 0.0000 of 2.1 dollars are spent" in str(run.stop.reason)
        run = looked_at(run.record)  # the answers were short: there is room for the next
        assert (run.stop.reason, run.n_out) == (None, 6)
        check_whole(ended(run), server)


def test_run_does_not_ask_what_is_out(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai"))
        with pytest.raises(UsageError, match="6 requests of it are in batches"):
            run_async(resume(evaluator_of(run.record), run.record))
        check_whole(ended(run), server)


def test_a_run_that_was_not_begun_by_batch_is_not_gone_on_with_so(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        alone = asked_alone(tmp_path, values(tmp_path, server, "openai"), server.chat)
        with pytest.raises(UsageError, match="was not begun by"):
            looked_at(alone.record)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        pytest.param({"model": "local/m"}, "model", id="local"),
        pytest.param({"judge": "scripted/j@1"}, "judge", id="scripted"),
        pytest.param({"stream": True}, "stream", id="stream"),
        pytest.param({"batch": {"price_factor": "1.5"}}, "batch.price_factor", id="price"),
        pytest.param(
            {"batch": {"vendor": "anthropic"}, "model_params": {"best_of": 2}}, "model_params", id="parameter"
        ),
    ],
)
def test_what_no_batch_can_ask_is_refused_before_anything_is_written(
    tmp_path: Path, settings: dict[str, Any], setting: str
) -> None:
    with vendors(tmp_path / "server") as server, pytest.raises(UsageError) as refused:
        begun(values(tmp_path, server, "openai", **settings))
    assert setting in str(refused.value)
    assert not (tmp_path / "runs").exists()


# ── status, and what is given up ─────────────────────────────────────────────────────────────────────────────


def test_status_says_what_record_and_vendor_know(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", looks_before_end=5) as server:
        run = begun(values(tmp_path, server, "openai", batch={"max_requests": 4}))
        evaluator = evaluator_of(run.record)
        found = status(evaluator, run.record)
        assert [(one.state, one.vendor_state, one.n_requests, one.n_out) for one in found] == [
            ("submitted", "in_progress", 4, 4), ("submitted", "in_progress", 2, 2)
        ]  # fmt: skip
        assert status(evaluator, run.record, ask=False)[0].vendor_state is None
        server.refuses["GET /batches/ID"] = (500, {"error": {"message": "down"}})
        assert "down" in str(status(evaluator, run.record)[0].vendor_said)
        check_whole(ended(run), server)
        assert {one.state for one in status(evaluator, run.record)} == {"completed"}


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_batch_that_is_cancelled_is_asked_again_in_another_sitting(tmp_path: Path, vendor: str) -> None:
    with vendors(tmp_path / "server", looks_before_end=2) as server:
        run = begun(values(tmp_path, server, vendor))
        cancel(evaluator_of(run.record), run.record)
        run = ended(run)
        assert {one.ends for one in failures(run.record)} == {"sitting"}
        assert [one.end for one in facts_of(run.record) if isinstance(one, BatchCollected)] == ["cancelled"]
        assert {one.cause for one in failures(run.record)} == {"not_carried_out"}
        check_whole(ended(looked_at(run.record, resumes=True)), server)


def test_a_batch_of_which_nothing_is_known_is_given_up_by_name_alone(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        server.drops.append("POST /batches")
        server.refuses["GET /batches"] = (404, {"error": {"message": "no such address"}})
        run = begun(values(tmp_path, server, "openai"))
        with pytest.raises(VendorError, match="no such address"):
            looked_at(run.record)
        evaluator, batch = evaluator_of(run.record), run.batches[0].id
        assert [one.n_out for one in cancel(evaluator, run.record)] == [6]
        assert [(one.n_out, one.state) for one in cancel(evaluator, run.record, [batch])] == [(0, "not_sent")]
        check_whole(ended(looked_at(run.record)), server)


def test_a_record_whose_requests_are_out_is_not_damaged(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", looks_before_end=9) as server:
        run = begun(values(tmp_path, server, "openai", batch={"by_hand": True}))
        assert run.has_files
        found = verify(run.record)
        assert {one.file for one in found.findings} <= set(evaluator_of(run.record).files_of(run.record.started()))
        assert benchbook_here("show", str(run.record.path), cwd=tmp_path).returncode in (0, 3)


def test_a_batch_that_its_vendor_has_lost_is_given_up(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai"))
        with server.database() as database:
            database.execute("DELETE FROM batches")
        with pytest.raises(VendorError):
            looked_at(run.record)
        with pytest.raises(UsageError, match="is not out"):
            cancel(evaluator_of(run.record), run.record, ["other"])
        cancel(evaluator_of(run.record), run.record, [run.batches[0].id])
        check_whole(ended(looked_at(run.record)), server)


# ── files that somebody carries ──────────────────────────────────────────────────────────────────────────────


def carried(requests: Path, results: Path, server: Any, most: int | None = None) -> None:
    """What vLLM's run-batch would write for a file of requests, by the stand-in's answers."""
    from batch_vendors import chat_answer

    lines = [json.loads(one) for one in requests.read_text("utf-8").splitlines()]
    with results.open("w", encoding="utf-8") as file:
        for line in reversed(lines[:most]):
            body = chat_answer(line["body"])
            response = {"status_code": 200, "request_id": "r", "body": body}
            told = {"id": "vllm-1", "custom_id": line["custom_id"], "response": response, "error": None}
            file.write(json.dumps(told) + "\n")


def test_files_are_written_and_their_results_taken_in_any_order_and_partly(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    with vendors(tmp_path / "server") as server:
        given = values(tmp_path, server, "openai", 5, batch={"by_hand": True, "max_requests": 3})
        run = begun(given, to_files=folder)
        requests = sorted(folder.iterdir())
        assert (len(requests), run.n_out, server.calls) == (2, 5, [])
        assert {one.address for one in sent(run.record)} == {None}
        part = tmp_path / "part.jsonl"
        carried(requests[1], part, server, 1)
        run = looked_at(run.record, files=[part], to_files=folder)
        out = {path.name for path in requests}
        for _ in range(9):
            if run.is_over:
                break
            for path in sorted(folder.iterdir()):
                results = tmp_path / f"results-{path.name}"
                carried(path, results, server)
                if any(one.n_out and one.id in path.name for one in run.batches):
                    run = looked_at(run.record, files=[results], to_files=folder)
        assert run.is_over
        assert out < {path.name for path in folder.iterdir()}  # the judge's came beside them
        assert run.n_done == 5
        assert verify(run.record).findings == ()
        assert server.calls == []


def test_results_of_something_else_are_refused(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai", batch={"by_hand": True}), to_files=tmp_path / "files")
        other = tmp_path / "other.jsonl"
        other.write_text('{"custom_id": "a", "response": null}\n', encoding="utf-8")
        before = (run.record.path / "journal" / "000001.jsonl").read_bytes()
        with pytest.raises(UsageError, match="no line has the id"):
            looked_at(run.record, files=[other])
        assert (run.record.path / "journal" / "000001.jsonl").read_bytes() == before


def test_files_that_nobody_carries_are_given_up_and_sent_again(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        run = begun(values(tmp_path, server, "openai", batch={"by_hand": True}), to_files=tmp_path / "files")
        cancel(evaluator_of(run.record), run.record)
        again = looked_at(run.record, to_files=tmp_path / "files")
        assert (again.n_out, len(again.batches)) == (6, 2)
        assert len(list((tmp_path / "files").iterdir())) == 2


# ── what verify finds ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Record:
    folder = tmp_path_factory.mktemp("whole")
    with vendors(folder / "server", FATES) as server:
        return ended(begun(values(folder, server, "openai", 8))).record


def rewritten(record: Record, folder: Path, change: Any) -> Record:
    """The record with other facts, its chain whole."""
    import hashlib

    made = folder / "run"
    shutil.copytree(record.path, made)
    prev, lines = "0" * 64, []
    for seq, fact in enumerate(change(facts_of(record))):
        fact.seq, fact.prev = seq, prev
        line = canonical_json(fact)
        prev = hashlib.sha256(line).hexdigest()
        lines.append(line + b"\n")
    (made / "journal" / "000001.jsonl").write_bytes(b"".join(lines))
    return Record(made)


def _first(facts: list[Any], kind: type) -> int:
    return next(n for n, one in enumerate(facts) if isinstance(one, kind))


def _changed(kind: type, **fields: Any) -> Any:
    def change(facts: list[Any]) -> list[Any]:
        place = _first(facts, kind)
        facts[place] = msgspec.structs.replace(facts[place], **fields)
        return facts

    return change


def _reply_changed(**fields: Any) -> Any:
    return _changed(Reply, **fields)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(_changed(RunStarted, format=0), "format 5", id="no-format"),
        pytest.param(_changed(BatchPrepared, samples=[(0, 9)], n_requests=9), "the plan has 8", id="samples-beyond"),
        pytest.param(_changed(BatchPrepared, samples=[(4, 2), (0, 6)]), "in order", id="samples-out-of-order"),
        pytest.param(_changed(BatchPrepared, n_requests=7), "n_requests", id="another-number"),
        pytest.param(_changed(BatchPrepared, price_factor="2"), "price_factor", id="price"),
        pytest.param(_changed(BatchPrepared, role="judge"), "has no request for this", id="another-role"),
        pytest.param(_reply_changed(batch="0123456789ab"), "expected one that was prepared", id="unknown-batch"),
        pytest.param(_changed(BatchCollected, n_replies=0), "the journal has", id="another-count"),
        pytest.param(
            lambda facts: [one for one in facts if not isinstance(one, BatchPrepared)],
            "no batch of that id",
            id="no-intent",
        ),
        pytest.param(
            lambda facts: [*facts[:3], msgspec.structs.replace(facts[1]), *facts[3:]],
            "an id of its own",
            id="prepared-twice",
        ),
    ],
)
def test_facts_of_batches_that_do_not_follow_are_found(whole: Record, tmp_path: Path, change: Any, says: str) -> None:
    found = verify(rewritten(whole, tmp_path, change))
    assert any(says in one.what for one in found.findings), found.findings


def test_the_price_of_a_batch_is_part_of_the_derivation(whole: Record, tmp_path: Path) -> None:
    """Another part of the price in the journal makes other numbers: the derived files are then not those."""
    assert verify(whole).holds
    facts = facts_of(whole)
    assert {one.price_factor for one in facts if isinstance(one, BatchPrepared)} == {"0.5"}


# ── the command, and the library ─────────────────────────────────────────────────────────────────────────────


def test_the_commands_say_where_it_stands_and_how_it_ended(tmp_path: Path) -> None:
    with vendors(tmp_path / "server", FATES) as server:
        given = values(tmp_path, server, "openai", 8)
        words = [
            f"--{name.replace('_', '-')}={value}"
            for name, value in given.items()
            if name not in ("batch", "reports")
        ]  # fmt: skip
        done = benchbook_here("batch", "submit", *words, "--reports", "none", cwd=tmp_path)
        assert (done.returncode, b"8 requests out" in done.stdout) == (0, True), done.stderr
        run = str(tmp_path / "runs" / "run")
        told = json.loads(benchbook_here("batch", "status", run, "--json", cwd=tmp_path).stdout)
        assert [one["n_out"] for one in told["batches"]] == [8]
        told = json.loads(benchbook_here("batch", "collect", run, "--json", cwd=tmp_path).stdout)
        assert told["n_out"] > 0
        done = benchbook_here("batch", "collect", run, "--wait", "--every", "0.1", "--reports", "none", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert b"NOT_READY" in done.stdout
        assert benchbook_here("verify", run, cwd=tmp_path).returncode == 0
        assert benchbook_here("show", run, cwd=tmp_path).returncode == 0
        assert set(server.billed().values()) == {1}


def test_the_library_does_the_same(tmp_path: Path) -> None:
    with vendors(tmp_path / "server") as server:
        given = values(tmp_path, server, "openai", 4)
        found = bb.batch_submit(**given)
        assert (found.n_out, found.is_over, found.run) == (4, False, None)
        assert [one.n_out for one in bb.batch_status(found.path)] == [4]
        found = bb.batch_collect(found.path)
        found = bb.batch_collect(found.path, wait=False)
        while not found.is_over:
            found = bb.batch_collect(found.path)
        assert found.run is not None
        assert len(found.run.samples) == 4
        assert bb.verify(found.path).holds


def test_waiting_looks_less_and_less_often(tmp_path: Path) -> None:
    slept: list[float] = []
    with vendors(tmp_path / "server", looks_before_end=6) as server:
        run = begun(values(tmp_path, server, "openai", 2), waiting=Waiting(until_over=True, sleep=slept.append))
        check_whole(run, server)
    assert len(slept) > 5
    assert slept[4] > slept[0]
