"""`send`, `benchbook send` and `--send`, without any tracker's client: what goes where, and what is said if not."""

from __future__ import annotations

import base64
import importlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import UsageError
from benchbook.integrations.trackers import kinds, sending
from benchbook.integrations.trackers.kinds import TRACKERS, TrackerError, environment, refused, tracker_named
from benchbook.integrations.trackers.opentelemetry import _address
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.integrations.trackers.sending import items_table, run_metrics, send, written_report
from benchbook.record.folder import Record
from running import benchbook_here
from scored import PREDICTIONS, scored, write_lines

Golden = Callable[[str], Record]


class Keeping:
    """A tracker that keeps what it is sent."""

    def __init__(self) -> None:
        self.samples: list[SampleResult] = []

    def send(self, results: RecordResults, samples: Iterator[SampleResult]) -> str:
        self.samples = list(samples)
        return f"{results.run.run_id}, kept"


class Refusing:
    def send(self, results: RecordResults, samples: Iterator[SampleResult]) -> str:
        raise refused("otel", f"http://localhost:4318: {results.run.run_id} is not wanted")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Keeping:
    """All clients seem to be there, and lead to one tracker that keeps everything."""
    keeping = Keeping()
    monkeypatch.setattr(kinds.TrackerKind, "check", lambda kind: None)
    monkeypatch.setattr(kinds.TrackerKind, "opened", lambda kind, endpoint, *, texts: keeping)
    return keeping


# ── the library ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tracker_gets_all_samples_and_what_was_sent_is_counted(golden: Golden) -> None:
    keeping = Keeping()
    sent = bb.send(golden("rubric_faults").path, keeping)
    assert (sent.to, sent.where, sent.n_samples, sent.n_unscored) == ("Keeping", "rubric_faults, kept", 12, 5)
    assert sent.record_sha256 == "bb5856968e8d5b9b16d06873b6296c14b6532b0a2be4673728e71565e8b41faf"
    assert len(keeping.samples) == 12
    assert all(one.texts is None for one in keeping.samples)
    bb.send(bb.load(golden("rubric_faults").path), keeping, texts=True)
    assert all(one.texts is not None for one in keeping.samples)


def test_one_that_is_not_known_is_told_which_are(golden: Golden) -> None:
    with pytest.raises(UsageError, match="to: found 'neptune'; expected otel, langfuse, mlflow, wandb"):
        bb.send(golden("score_a").path, "neptune")


@pytest.mark.parametrize("name", TRACKERS)
def test_a_client_that_is_missing_is_named_with_its_extra(
    golden: Golden, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda library: None)
    with pytest.raises(UsageError, match=rf"needs an extra: pip install 'benchbook\[{name}\]'"):
        send(golden("score_a"), name)


def test_a_client_that_is_broken_is_named_too(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    """`opentelemetry` may be there without the exporter: another package brought a part of it."""

    def broken(module: str) -> Any:
        raise ImportError("No module named 'opentelemetry.exporter'")

    monkeypatch.setattr(kinds, "find_spec", lambda library: object())
    monkeypatch.setattr(kinds, "import_module", broken)
    with pytest.raises(UsageError, match=r"benchbook\[otel\]' \(No module named 'opentelemetry.exporter'\)"):
        send(golden("score_a"), "otel")


def test_keys_that_are_missing_are_named(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda library: object())
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", " ")
    with pytest.raises(UsageError, match="sending to Langfuse needs LANGFUSE_SECRET_KEY in the environment"):
        send(golden("score_a"), "langfuse")


@pytest.mark.parametrize(
    ("tracker", "variable", "value", "key"),
    [
        ("langfuse", "LANGFUSE_SECRET_KEY", "my-own-secret-of-langfuse", "my-own-secret-of-langfuse"),
        (
            "otel",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "x-tenant=7,authorization=Bearer%20abcdefgh12345678",
            "abcdefgh12345678",
        ),
        ("mlflow", "MLFLOW_TRACKING_TOKEN", "databricks-token-000", "databricks-token-000"),
    ],
)
def test_an_error_holds_no_key_in_whatever_form_it_is_echoed(
    monkeypatch: pytest.MonkeyPatch, tracker: str, variable: str, value: str, key: str
) -> None:
    monkeypatch.setenv(variable, value)
    coded = base64.b64encode(f"Bearer {key}".encode()).decode()
    said = str(refused(tracker, f"bad key {key}, as {coded}, at https://me:{key}@host/"))
    assert key not in said
    assert coded not in said
    assert "[key removed]" in said
    assert said.startswith(f"{TRACKERS[tracker].title}: could not be sent: bad key")


def test_variables_are_set_where_they_are_not_and_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHBOOK_TRIED_A", "theirs")
    monkeypatch.delenv("BENCHBOOK_TRIED_B", raising=False)
    with environment(BENCHBOOK_TRIED_A="ours", BENCHBOOK_TRIED_B="ours"):
        assert (os.environ["BENCHBOOK_TRIED_A"], os.environ["BENCHBOOK_TRIED_B"]) == ("theirs", "ours")
    assert os.environ["BENCHBOOK_TRIED_A"] == "theirs"
    assert "BENCHBOOK_TRIED_B" not in os.environ


@pytest.mark.parametrize(
    ("endpoint", "variables", "address"),
    [
        (None, {}, "http://localhost:4318/v1/logs"),
        ("https://collector:4318/", {}, "https://collector:4318/v1/logs"),
        ("https://collector/otlp/v1/logs", {}, "https://collector/otlp/v1/logs"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/logs"),
        (None, {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c/logs"}, "http://c/logs"),
        ("http://d", {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c/logs"}, "http://d/v1/logs"),
    ],
)
def test_the_collectors_address_is_the_sdks(
    monkeypatch: pytest.MonkeyPatch, endpoint: str | None, variables: dict[str, str], address: str
) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _address(endpoint) == address


@pytest.mark.parametrize("endpoint", ["collector:4318", "https://me:secret@collector", "ftp://collector"])
def test_an_address_that_is_none_or_holds_a_key_is_refused(endpoint: str) -> None:
    with pytest.raises(UsageError) as error:
        _address(endpoint)
    assert "secret" not in str(error.value)


# ── tables, metrics, the report ──────────────────────────────────────────────────────────────────────────────


def test_an_unscored_sample_is_a_row_with_empty_cells(golden: Golden) -> None:
    table = items_table(RecordResults(golden("rubric_faults")).samples(), texts=False)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert (rows[3]["error"], rows[3]["label"], rows[3]["sample_score"], rows[3]["accuracy_score"]) == (
        "request", None, None, None,
    )  # fmt: skip
    assert (rows[1]["label"], rows[1]["sample_score"], rows[1]["reasons"]) == ("fail", 0.55, "accuracy_below_minimum")
    assert not {"prompt", "answer"} & {*table.columns}
    told = items_table(RecordResults(golden("rubric_faults"), texts=True).samples(), texts=True)
    assert dict(zip(told.columns, told.rows[0], strict=True))["prompt"] == "What is 0 + 1?"


def test_a_table_ends_and_says_so(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MOST_ROWS", 5)
    table = items_table(RecordResults(golden("rubric_faults")).samples(), texts=False)
    assert (len(table.rows), table.n_samples, table.words) == (5, 12, ", the first 5 of 12 samples")


def test_metrics_are_all_numbers_and_the_bounds_that_are_known(golden: Golden) -> None:
    found = run_metrics(RecordResults(golden("rubric_faults")).run)
    assert (found["pass_rate"], found["n_scored"]) == (0.333333333, 7)
    assert found["pass_rate.low"] < 1 / 3 < found["pass_rate.high"]
    assert "latency_e2e_p95_ms.high" not in found
    assert run_metrics(RecordResults(golden("rubric_repeats")).run)["candidate_cost_usd"] == pytest.approx(0.002268)


def test_the_report_goes_along_whole_where_texts_may(golden: Golden, tmp_path: Path) -> None:
    results = RecordResults(golden("rubric_faults"))
    (summary,) = written_report(results, tmp_path, texts=False)
    assert summary.name == "summary.md"
    assert "alert(1)" not in summary.read_text(encoding="utf-8")
    assert "INCONCLUSIVE" in summary.read_text(encoding="utf-8")
    assert {path.name for path in written_report(results, tmp_path, texts=True)} >= {"report.html", "samples.csv"}


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_says_where_it_went(golden: Golden, installed: Keeping) -> None:
    run = str(golden("rubric_faults").path)
    found = benchbook_here("send", run, "--to", "otel", "--to", "wandb")
    assert found.returncode == 0
    lines = found.stdout.decode().splitlines()
    assert lines == [f"{to}: 12 samples, 5 without a score: rubric_faults, kept" for to in ("otel", "wandb")]
    said = json.loads(benchbook_here("send", run, "--to", "mlflow", "--json").stdout)
    assert [(one["to"], one["n_samples"], one["n_unscored"]) for one in said] == [("mlflow", 12, 5)]


def test_the_command_names_the_extra(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda library: None)
    found = benchbook_here("send", str(golden("score_a").path), "--to", "mlflow")
    assert found.returncode == 2
    assert "sending to MLflow needs an extra: pip install 'benchbook[mlflow]'" in found.stderr.decode()


def test_one_endpoint_is_of_one_tracker(golden: Golden, installed: Keeping) -> None:
    words = ("--to", "otel", "--to", "mlflow", "--endpoint", "http://localhost:1")
    found = benchbook_here("send", str(golden("score_a").path), *words)
    assert found.returncode == 2
    assert "--endpoint is of one tracker" in found.stderr.decode()


def scoring(folder: Path, *words: str) -> Any:
    scored(folder)  # for its files
    write_lines(folder / "predictions.jsonl", PREDICTIONS)
    files = ("--evalset", str(folder / "items.jsonl"), "--predictions", str(folder / "predictions.jsonl"))
    where = ("--runs", str(folder / "sent"), "--reports", "none", "--run-id", "one")
    return benchbook_here("score", *files, *where, *words)


def test_a_run_is_sent_at_its_end(tmp_path: Path, installed: Keeping) -> None:
    found = scoring(tmp_path, "--send", "otel", "--json")
    assert found.returncode == 0
    assert isinstance(json.loads(found.stdout), dict)  # standard output is the result's alone
    assert found.stderr.decode() == "sent: otel: one, kept\n"
    assert [one.item_id for one in installed.samples] == ["a", "b", "c", "d", "e"]


def test_what_goes_wrong_in_sending_is_said_once_and_the_run_stands(
    tmp_path: Path, installed: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds.TrackerKind, "opened", lambda kind, endpoint, *, texts: Refusing())
    found = scoring(tmp_path, "--send", "otel")
    assert found.returncode == 0
    (line,) = [line for line in found.stderr.decode().splitlines() if "sent" in line]
    assert line.startswith("not sent: OpenTelemetry: could not be sent: http://localhost:4318: one is not wanted.")
    assert (tmp_path / "sent" / "one").is_dir()


def test_whatever_a_client_raises_is_no_fault_of_the_run(
    tmp_path: Path, installed: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def send(self, results: RecordResults, samples: Iterator[SampleResult]) -> str:
            raise ZeroDivisionError(f"in a library below, with {next(samples).item_id}")

    monkeypatch.setattr(kinds.TrackerKind, "opened", lambda kind, endpoint, *, texts: Broken())
    found = scoring(tmp_path, "--send", "mlflow")
    assert found.returncode == 0
    assert "not sent: MLflow: could not be sent: in a library below, with a." in found.stderr.decode()


def test_a_client_that_is_missing_is_known_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda library: None)
    found = scoring(tmp_path, "--send", "wandb")
    assert found.returncode == 2
    assert not (tmp_path / "sent").exists()


@pytest.mark.parametrize("command", [("run",), ("judge", "run"), ("score", "--evalset", "items.jsonl")])
def test_every_command_that_makes_runs_looks_before_it_asks(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds, "find_spec", lambda library: None)
    found = benchbook_here(*command, "--send", "otel", cwd=tmp_path)
    assert found.returncode == 2
    assert "sending to OpenTelemetry needs an extra" in found.stderr.decode()


@pytest.mark.parametrize("name", TRACKERS)
def test_a_trackers_module_is_loaded_without_its_client(name: str) -> None:
    """Whatever walks through all modules, a packager or a test, needs no extra."""
    assert importlib.import_module(f"benchbook.integrations.trackers.{TRACKERS[name].module}").opened


def test_a_dry_run_is_not_sent(tmp_path: Path, installed: Keeping) -> None:
    found = scoring(tmp_path, "--send", "otel", "--dry-run")
    assert found.returncode == 0
    assert "not sent: " in found.stderr.decode()
    assert installed.samples == []


def test_a_table_alone_is_no_run_to_send(tmp_path: Path, installed: Keeping) -> None:
    found = scoring(tmp_path, "--send", "otel", "--table", str(tmp_path / "table.parquet"))
    assert found.returncode == 2
    assert "--send: nothing is recorded where --table is given" in found.stderr.decode()


def test_every_tracker_has_its_own_module() -> None:
    assert {tracker_named(name).module for name in TRACKERS} == {"opentelemetry", "langfuse", "mlflow", "wandb"}
    assert issubclass(TrackerError, bb.BenchbookError)
