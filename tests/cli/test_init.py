"""`benchbook init`: what it writes runs at once, whatever is there."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchbook.ask.model_servers import ModelServer, ServedModel
from benchbook.cli.init import init
from running import benchbook_here, write_items
from scripted_server import ScriptedServer, always_good, running


@pytest.fixture(autouse=True)
def nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No model, no server, no key: what this machine has is not asked."""
    monkeypatch.setattr("benchbook.ask.model_servers.USUAL_PORTS", ())
    monkeypatch.setattr("benchbook.ask.installed.small_model_is_here", lambda: False)
    monkeypatch.setattr("os.environ", {"PATH": "", "HOME": str(tmp_path)})
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """A server with two models, found as if it were on Ollama's port."""
    with running(always_good) as one:
        models = [ServedModel(name="m", digest="baf6a787fdff"), ServedModel(name="j")]
        found = [ModelServer(program="Ollama", base_url=one.base_url, models=models)]
        monkeypatch.setattr("benchbook.ask.model_servers.find_servers", lambda: found)
        yield one


def written(*words: str, file: str = "benchbook.toml") -> dict[str, Any]:
    """The values in the file that `init WORDS` wrote."""
    found = benchbook_here("init", file, *words)
    assert found.returncode == 0, found.stderr
    return tomllib.loads(Path(file).read_text(encoding="utf-8"))


def runs(file: str = "benchbook.toml") -> dict[str, Any]:
    """The JSON of the run of a file, which must go well."""
    found = benchbook_here("run", file, "--json")
    assert found.returncode == 0, found.stderr
    told: dict[str, Any] = json.loads(found.stdout)
    return told


def test_without_any_model_a_script_runs() -> None:
    values = written()
    assert values == {
        "evalset": "@support_v1", "model": "scripted/shop-assistant@1", "judge": "scripted/shop-judge@1",
    }  # fmt: skip
    told = runs()
    # Worked out by hand from the script: of 16 answers one leaves a part out, and one adds up wrong.
    assert told["aggregates"]["aggregates"]["pass_rate"] == 15 / 16
    assert (told["decision"]["decision"], told["decision"]["release_ready"]) == ("INCONCLUSIVE", True)


def test_an_eval_set_in_the_folder_is_taken() -> None:
    write_items(Path("items.jsonl"), 3)
    assert written()["evalset"] == "items.jsonl"
    assert runs()["manifest"]["n_items"] == 3


def test_a_table_is_taken_too_and_named_from_the_files_folder() -> None:
    Path("sub").mkdir()
    Path("set.csv").write_text("id,prompt,expected_answer\na,Why?,So.\n", encoding="utf-8")
    assert written("--evalset", "set.csv", file="sub/run.toml")["evalset"] == "../set.csv"
    assert runs("sub/run.toml")["manifest"]["n_items"] == 1


def test_a_server_that_runs_is_asked_with_another_of_its_models_as_judge(server: ScriptedServer) -> None:
    write_items(Path("items.jsonl"), 3)
    values = written()
    assert values["model"] == "openai/m@baf6a787fdff"
    assert values["judge"].startswith("openai/j@20")
    assert values["model_base_url"] == values["judge_base_url"] == server.base_url
    assert runs()["aggregates"]["aggregates"]["pass_rate"] == 1.0
    assert {role: len(asked) for role, asked in server.asked.items()} == {"candidate": 3, "judge": 3}


def test_a_model_that_was_found_needs_its_name_alone(server: ScriptedServer) -> None:
    values = written("--model", "openai/j", "--judge", "openai/m")
    assert (values["model"].partition("@")[0], values["judge"]) == ("openai/j", "openai/m@baf6a787fdff")
    assert values["model_base_url"] == server.base_url


def test_several_judges_are_a_panel(server: ScriptedServer) -> None:
    write_items(Path("items.jsonl"), 2)
    values = written("--judge", "openai/m", "--judge", "openai/j")
    assert [judge["base_url"] for judge in values["judges"]] == [server.base_url] * 2
    assert values["panel_rule"] == "majority"
    assert runs()["manifest"]["n_items"] == 2
    assert len(server.asked["judge"]) == 4


@pytest.mark.parametrize(
    ("columns", "unmeasured"),
    [
        ({}, ["latency", "tokens"]),
        ({"latency_e2e_ms": 5}, ["tokens"]),
        ({"latency_ms": 5, "input_tokens": 1, "output_tokens": 1}, None),
    ],
)
def test_finished_outputs_are_scored(columns: dict[str, int], unmeasured: list[str] | None) -> None:
    write_items(Path("items.jsonl"), 2)
    rows = ({"item_id": f"i{n}", "output": "1"} | columns for n in range(2))
    Path("my outputs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    values = written("--outputs", "my outputs.jsonl")
    assert values["model"].startswith("recorded/my-outputs@20")
    assert values.get("unmeasured") == unmeasured
    assert runs()["manifest"]["n_items"] == 2


def test_predictions_need_no_config() -> None:
    found = benchbook_here("init", "--predictions", "p.jsonl", "--evalset", "items.jsonl")
    assert b"benchbook score --evalset items.jsonl --predictions p.jsonl" in found.stdout
    assert list(Path().iterdir()) == []


def test_a_key_is_told_by_its_name_and_spends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_not_to_be_seen_1")
    found = benchbook_here("init", "--json")
    told = json.loads(found.stdout)
    assert [key["variable"] for key in told["keys"]] == ["GROQ_API_KEY"]
    assert told["settings"][1]["value"] == "scripted/shop-assistant@1"
    text = Path("benchbook.toml").read_text(encoding="utf-8")
    assert 'model_api_key_env = "GROQ_API_KEY"' in text
    assert "gsk_not" not in text + found.stdout.decode()


def test_at_a_vendors_address_its_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_not_to_be_seen_1")
    address = "https://api.groq.com/openai/v1"
    values = written("--model", "openai/llama@1", "--model-base-url", address, "--judge", "openai/gpt-4.1@2025-04-14")
    assert (values["model_base_url"], values["model_api_key_env"]) == (address, "GROQ_API_KEY")
    assert "judge_api_key_env" not in values  # OpenAI itself has its usual variable


def test_a_file_that_is_there_stays() -> None:
    Path("benchbook.toml").write_text("mine", encoding="utf-8")
    found = benchbook_here("init")
    assert (found.returncode, Path("benchbook.toml").read_text(encoding="utf-8")) == (2, "mine")
    assert written("--force")["evalset"] == "@support_v1"


def test_a_model_without_a_version_is_given_today() -> None:
    values = written("--model", "openai/m", "--model-base-url", "http://127.0.0.1:9/v1", "--judge", "openai/j@7")
    assert values["model"].startswith("openai/m@20")
    assert (values["judge"], values["model_base_url"]) == ("openai/j@7", "http://127.0.0.1:9/v1")


# ── on a terminal ────────────────────────────────────────────────────────────────────────────────────────


def asked(answers: str) -> dict[str, Any]:
    """The values that `init` writes when a person types `answers`."""
    found = CliRunner().invoke(init, [], input=answers)
    assert found.exception is None, found.output
    return tomllib.loads(Path("benchbook.toml").read_text(encoding="utf-8"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.cli.init._on_a_terminal", lambda: True)


def test_enter_takes_what_was_found(terminal: None, server: ScriptedServer) -> None:
    write_items(Path("items.jsonl"), 1)
    values = asked("\n\n\n\n")
    assert (values["evalset"], values["model"]) == ("items.jsonl", "openai/m@baf6a787fdff")
    assert values["judge"].startswith("openai/j@")


def test_a_person_chooses_by_number_or_types_another(terminal: None, server: ScriptedServer) -> None:
    write_items(Path("items.jsonl"), 1)
    values = asked("9\n1\n2\nopenai/else@1\n2\n")  # 9 is no kind, and asked again
    assert (values["evalset"], values["model"]) == ("@support_v1", "openai/else@1")
    assert values["judge"].startswith("openai/j@")


def test_a_second_set_beside_the_file_is_named_from_there(terminal: None) -> None:
    Path("sub").mkdir()
    for name in ("items.jsonl", "other.jsonl"):
        write_items(Path("sub", name), 1)
    found = CliRunner().invoke(init, ["sub/run.toml"], input="1\n2\n\n\n")
    assert found.exception is None, found.output
    assert tomllib.loads(Path("sub/run.toml").read_text(encoding="utf-8"))["evalset"] == "other.jsonl"
    assert runs("sub/run.toml")["manifest"]["n_items"] == 1


def test_a_person_chooses_a_panel(terminal: None, server: ScriptedServer) -> None:
    values = asked("2\n\n\n\n")
    assert len(values["judges"]) == 2


def test_a_person_has_finished_outputs(terminal: None) -> None:
    write_items(Path("items.jsonl"), 1)
    Path("o.jsonl").write_text('{"item_id": "i0", "output": "1"}\n', encoding="utf-8")
    values = asked("3\n\no.jsonl\n\n")
    assert (values["outputs"], values["judge"]) == ("o.jsonl", "scripted/shop-judge@1")


def test_nothing_is_asked_where_nobody_sits() -> None:
    assert asked("") == written("--force")
