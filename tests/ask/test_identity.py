"""Who was asked, who answered, and by what code: what a run's record says of it, and what a benchmark asks (R7)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask import identity
from benchbook.ask.identity import check_code_is_named, code_version, project_version
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.verify import verify
from running import config, run
from scripted_server import ScriptedServer, always_good, running


def answering_as(model: str, judge: str = "j") -> Callable[[str, int, dict[str, Any]], dict[str, Any]]:
    return lambda role, n, request: always_good(role, n, request) | {"model": judge if role == "judge" else model}


def run_of(tmp_path: Path, model: str, answered: str, judge: str = "j", items: int = 4, **settings: Any) -> Any:
    with running(answering_as(answered, judge)) as server:
        return run(tmp_path, server, items, model=model, judge="openai/j@1", max_connections=1, **settings)


def capped(result: Any) -> str:
    return json.dumps(json.loads(result.record.decision.read_bytes())["capped_by"])


# ── the model that answers ───────────────────────────────────────────────────────────────────────────────


OTHER = "The model's server answered as 'llama-3.1-8b'; asked for was 'qwen2.5-7b'."


def test_another_model_that_answers_is_a_warning_and_in_a_benchmark_a_cap(tmp_path: Path) -> None:  # R7.2
    for benchmark in (False, True):
        (tmp_path / str(benchmark)).mkdir()
        result = run_of(tmp_path / str(benchmark), "openai/qwen2.5-7b@1", "llama-3.1-8b", benchmark=benchmark)
        assert OTHER in result.derived.aggregates.warnings
        assert ("answered as 'llama-3.1-8b'" in capped(result)) is benchmark
        assert result.derived.decision.decision != "READY" or not benchmark
        assert verify(result.record).holds


def test_a_declared_snapshot_that_is_not_the_one_named(tmp_path: Path) -> None:
    result = run_of(tmp_path, "openai/gpt-4o@2024-08-06", "gpt-4o-2024-11-20", benchmark=True)
    says = "server answered as 'gpt-4o-2024-11-20'; the declared snapshot is '2024-08-06'"
    assert f"The model's {says}." in result.derived.aggregates.warnings
    assert says in capped(result)
    assert result.derived.manifest.model_version == "gpt-4o-2024-11-20"


def test_a_judge_that_answers_as_the_model_is_the_model_itself(tmp_path: Path) -> None:
    result = run_of(tmp_path, "openai/m@1", "tiny-llama-1.1b-q2", judge="tiny-llama-1.1b-q2")
    warnings = result.derived.aggregates.warnings
    assert "The judge is the model itself: models tend to favour their own answers." in warnings
    assert "The judge's server answered as 'tiny-llama-1.1b-q2'; asked for was 'j'." in warnings


def test_a_dated_snapshot_of_what_was_asked_for_is_no_difference(tmp_path: Path) -> None:
    result = run_of(tmp_path, "openai/gpt-4o", "gpt-4o-2024-08-06", benchmark=True)
    assert not [line for line in result.derived.aggregates.warnings if "answered as" in line or "tomorrow" in line]
    assert result.derived.manifest.model_version == "gpt-4o-2024-08-06"
    assert "answered as" not in capped(result)


# ── what floats ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_floats_is_a_warning_outside_of_a_benchmark(tmp_path: Path) -> None:
    result = run_of(tmp_path, "openai/m@latest", "m")
    assert (
        "The model openai/m@latest may be another model tomorrow: 'latest' is whichever it is today, and no reply "
        "names a dated snapshot."
    ) in result.derived.aggregates.warnings
    assert result.derived.decision is not None


@pytest.mark.parametrize("model", ["openai/gpt-4o@1", "openai/m@stable", "openai/m@main", "openai/default@3"])
def test_a_benchmark_refuses_what_floats_after_one_answer(tmp_path: Path, model: str) -> None:
    name = model.removeprefix("openai/").partition("@")[0]
    result = run_of(tmp_path, model, name, items=30, benchmark=True)
    assert "is a floating alias" in (result.stop.reason or "")
    assert result.stop.usage
    assert result.derived.aggregates.ledger.n_attempted <= 2
    assert result.derived.decision is None
    assert result.derived.manifest.missing_metadata == ["model_version"]


@pytest.mark.parametrize("of", ["model", "judge"])
def test_a_benchmark_refuses_before_it_asks_where_no_reply_could_tell(tmp_path: Path, of: str) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "x"}]}', encoding="utf-8")
    models = {"model": "scripted/m@1", "judge": "scripted/j@1"} | {of: "scripted/m@stable"}
    with running(always_good) as server, pytest.raises(ConfigError, match=f"{of}: found scripted/m@stable, a floating"):
        run(tmp_path, server, 2, benchmark=True, model_path=str(script), judge_path=str(script), **models)
    assert not (tmp_path / "runs").exists()


# ── three repeats ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("settings", "is_capped"),
    [
        pytest.param({"repeats": 1}, True, id="one"),
        pytest.param({"repeats": 2}, True, id="two"),
        pytest.param({}, False, id="three-by-default"),
        pytest.param({"repeats": 1, "no_variance": True}, False, id="declared"),
        pytest.param({"repeats": 1, "benchmark": False}, False, id="no-benchmark"),
    ],
)
def test_a_benchmark_with_fewer_than_three_repeats_is_capped(  # R7.3
    tmp_path: Path, settings: dict[str, Any], is_capped: bool
) -> None:
    result = run_of(tmp_path, "openai/m@1", "m", **{"benchmark": True} | settings)
    assert ("3 repeats at least" in capped(result)) is is_capped
    plan = result.record.started().identity["plan"]
    assert plan.get("no_variance") is (True if settings.get("no_variance") else None)


# ── by what code ─────────────────────────────────────────────────────────────────────────────────────────


def git(folder: Path, *words: str) -> str:
    ours = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x", *words]
    return subprocess.run(ours, check=True, capture_output=True, text=True, encoding="utf-8").stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "run.toml").write_text("", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")
    return folder


def test_the_projects_commit_is_that_of_what_holds_the_config(project: Path, tmp_path: Path) -> None:
    sha = git(project, "rev-parse", "HEAD")
    expected = {"git_sha": sha, "dirty": False, "of": "config"}
    assert project_version(("config", project / "run.toml"), ("eval set", tmp_path)) == expected
    assert project_version(("config", None), ("eval set", project)) == expected | {"of": "eval set"}
    (project / "run.toml").write_text("changed", encoding="utf-8")
    assert project_version(("config", str(project / "run.toml"))) == expected | {"dirty": True}
    nowhere = {"git_sha": None, "dirty": None, "of": "config"}
    assert project_version(("config", tmp_path)) == nowhere


def test_what_git_does_not_say_is_null(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = identity._git
    monkeypatch.setattr(identity, "_git", lambda *words: None if "status" in words else asked(*words))
    sha = git(project, "rev-parse", "HEAD")
    assert project_version(("config", project)) == {"git_sha": sha, "dirty": None, "of": "config"}


def test_variables_of_a_git_hook_do_not_lead_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_version()
    monkeypatch.setenv("GIT_DIR", str(project / ".git"))
    identity._commit_of.cache_clear()
    assert code_version() == before


def test_the_working_directory_stands_in(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert project_version(("config", None)) == {
        "git_sha": git(project, "rev-parse", "HEAD"), "dirty": False, "of": "working directory",
    }  # fmt: skip


@pytest.mark.parametrize("place", [".venv/lib/benchbook", "src/benchbook"])
def test_installed_into_somebodys_repository_it_has_no_commit(
    project: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    package = project / place
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(identity, "_PACKAGE", package)
    found = code_version()
    assert (found["git_sha"], found["dirty"]) == (None, None)
    assert found["benchbook"] is not None


def test_in_its_own_checkout_it_has_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = project / "src" / "benchbook"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "y")
    monkeypatch.setattr(identity, "_PACKAGE", package)
    found = code_version()
    assert (found["git_sha"], found["dirty"]) == (git(project, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize(
    ("version", "sha", "refused"),
    [
        ("0.1.0", None, False), ("1.2.0rc1", None, False), ("0.2.0.dev3", None, True), ("0.1.0+local", None, True),
        (None, None, True), ("0.2.0.dev3", "a" * 40, False), (None, "a" * 40, False),
    ],
)  # fmt: skip
def test_a_benchmark_needs_a_commit_or_a_release(version: str | None, sha: str | None, refused: bool) -> None:
    code = {"benchbook": version, "git_sha": sha, "dirty": None}
    if refused:
        with pytest.raises(UsageError, match="no git checkout"):
            check_code_is_named(code)
    else:
        check_code_is_named(code)


def test_a_record_names_both(tmp_path: Path) -> None:
    result = run_of(tmp_path, "openai/m@1", "m")
    manifest = json.loads(result.record.manifest.read_bytes())
    assert set(manifest["code_version"]) == {"benchbook", "git_sha", "dirty"}
    assert set(manifest["project_version"]) == {"git_sha", "dirty", "of"}
    assert manifest["project_version"]["of"] == "eval set"


# ── outputs that were made elsewhere ─────────────────────────────────────────────────────────────────────


def recorded(tmp_path: Path, server: ScriptedServer, **settings: Any) -> Any:
    outputs = tmp_path / "outputs.jsonl"
    with outputs.open("w", encoding="utf-8") as file:
        for repeat in range(3 if settings.get("benchmark") else 1):
            for number in range(4):
                row = {"item_id": f"i{number}", "output": "x", "latency_ms": 9, "repeat": repeat}
                file.write(json.dumps(row | {"input_tokens": 1, "output_tokens": 1}) + "\n")
    return run(tmp_path, server, 4, model="recorded/m@1", model_base_url=None, outputs=str(outputs), **settings)


FOUR = ["temperature", "top_p", "max_tokens", "seed"]


def test_nothing_is_claimed_of_recorded_outputs_that_nobody_declared(tmp_path: Path) -> None:  # R7.1
    with running(always_good) as server:
        result = recorded(tmp_path, server)
    manifest = json.loads(result.record.manifest.read_bytes())
    assert manifest["generation_params"] == dict.fromkeys(FOUR)
    assert manifest["generation_params_effective"] == {}
    assert (manifest["prompt_template_id"], manifest["prompt_template_version_or_hash"]) == (None, None)
    assert manifest["not_known"] == [
        "prompt_template_id", "prompt_template_version_or_hash", *(f"generation_params.{name}" for name in FOUR),
    ]  # fmt: skip
    assert manifest["missing_metadata"] == []
    assert result.derived.decision is not None
    assert verify(result.record).holds


def test_what_is_declared_of_recorded_outputs_is_recorded(tmp_path: Path) -> None:
    template = tmp_path / "prompt.txt"
    template.write_text("Say: {{prompt}}", encoding="utf-8")
    declared = {"temperature": 0.7, "seed": "null"}
    with running(always_good) as server:
        result = recorded(tmp_path, server, model_params=declared, prompt_template=str(template))
    manifest = json.loads(result.record.manifest.read_bytes())
    assert manifest["generation_params"] == dict.fromkeys(FOUR) | {"temperature": 0.7}
    assert manifest["prompt_template_id"] == "prompt.txt"
    assert manifest["not_known"] == ["generation_params.top_p", "generation_params.max_tokens"]


def test_a_benchmark_of_recorded_outputs_needs_all_of_it(tmp_path: Path) -> None:
    template = tmp_path / "prompt.txt"
    template.write_text("{{prompt}}", encoding="utf-8")
    declared = {"temperature": 0, "top_p": 1, "max_tokens": 64, "seed": "null"}
    with running(always_good) as server:
        with pytest.raises(ConfigError, match=r"expected prompt_template_id, .*generation_params\.seed"):
            recorded(tmp_path, server, benchmark=True)
        result = recorded(tmp_path, server, benchmark=True, model_params=declared, prompt_template=str(template))
    assert result.derived.manifest.missing_metadata == []
    assert result.derived.decision is not None


def test_a_model_that_is_asked_has_its_defaults_as_before(tmp_path: Path) -> None:
    with running(always_good) as server:
        assert config(tmp_path, server).model_params == {}
        manifest = run(tmp_path, server, 2).derived.manifest
    assert manifest.generation_params == {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}
    assert "not_known" not in json.loads((tmp_path / "runs" / "run" / "manifest.json").read_bytes())
