"""All that is wrong with a run's settings and files is told at once, before anything is asked or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.roles import RoleSettings, doubts_about, plan_of_role
from benchbook.ask.settings import ModelConfig, inheriting
from benchbook.errors import ConfigError, Gathering, InputError, SeveralFaultsError, UsageError
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from running import benchbook_here, options, write_items
from scripted_server import always_good, running

# ── gathering ────────────────────────────────────────────────────────────────────────────────────────────────


def told(*errors: UsageError) -> list[str]:
    """The lines of what is raised once these were gathered."""
    wrong = Gathering()
    for error in errors:
        with wrong:
            raise error
    try:
        wrong.raise_any()
    except UsageError as raised:
        return str(raised).splitlines()
    return []


A, B = ConfigError("run.toml: a", "1", "2"), InputError("f.csv", line=3, found="x", expected="y")


def test_nothing_that_is_wrong_raises_nothing() -> None:
    assert told() == []


def test_one_fault_is_raised_as_it_is() -> None:
    assert told(B) == ["f.csv:3: found x; expected y"]


def test_several_are_told_with_their_number() -> None:
    lines = ["2 things are wrong:", "  run.toml: a: found 1; expected 2", "  f.csv:3: found x; expected y"]
    assert told(A, B) == lines
    assert told(SeveralFaultsError((A, B))) == lines


def test_of_one_setting_the_first_fault_is_told() -> None:
    assert told(A, ConfigError("a", "nothing", "a value")) == told(A)


def test_what_is_no_users_mistake_goes_through() -> None:
    with pytest.raises(ZeroDivisionError), Gathering():
        raise ZeroDivisionError


# ── a run ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl", 2)
    (tmp_path / "plain.txt").write_text("no place for it", encoding="utf-8")
    (tmp_path / "unknown.txt").write_text("{{prompt}} {{langauge}}", encoding="utf-8")
    (tmp_path / "outputs.csv").write_text("item_id,text\ni0,1\ni1,2\n", encoding="utf-8")
    return tmp_path


def faults(folder: Path, config: str, *words: str, command: str = "run") -> list[str]:
    """What a dry run says is wrong with a config, each without the file's name."""
    (folder / "run.toml").write_text(config, encoding="utf-8")
    before = sorted(folder.rglob("*"))
    found = benchbook_here(command, "run.toml", "--dry-run", *words, cwd=folder, env={"OPENAI_API_KEY": ""})
    assert (found.returncode, found.stdout) == (2, b"")
    assert sorted(folder.rglob("*")) == before
    lines = found.stderr.decode().splitlines()
    assert lines[0] == f"benchbook: {len(lines) - 1} things are wrong:"
    return [line.strip().removeprefix("run.toml: ") for line in lines[1:]]


def starts(lines: list[str]) -> set[str]:
    """The setting, or the file and line, of each."""
    return {line.split(": found")[0] for line in lines}


def test_an_empty_config(folder: Path) -> None:
    assert starts(faults(folder, "")) == {"evalset", "model", "judge"}


def test_settings_that_are_missing_mistyped_or_of_another_type(folder: Path) -> None:
    lines = faults(
        folder,
        'evalste = "items.jsonl"\nmodel = 7\nrepeats = "many"\nconfidence = 95\npanel_rule = "median"\n'
        'max_cost_usd = "1,5"\njudge_params = {stream = true}\n',
    )
    assert starts(lines) == {
        "evalste", "model", "repeats", "confidence", "panel_rule", "max_cost_usd", "judge_params", "judge",
    }  # fmt: skip
    assert "evalste: found a setting that is not known; expected evalset" in lines
    assert "repeats: found 'many'; expected a whole number or nothing" in lines


def test_files_models_addresses_and_keys_beside_wrong_settings(folder: Path) -> None:
    """A setting that can't be as it is hides nothing of the others."""
    lines = faults(
        folder,
        'evalset = "absent.jsonl"\nmodel = "openai/m@1"\nmodel_base_url = "localhost:8000"\nrepeats = 0\n'
        'prompt_template = "plain.txt"\njudge = "openai/j@1"\njudge_api_key_env = "NO_SUCH_KEY"\nmax_cost_usd = 5\n',
    )
    assert starts(lines[1:]) | {lines[1].split(": ")[0]} >= {
        "max_cost_usd", "prompt_template", "model_base_url", "judge_api_key_env",
    }  # fmt: skip
    assert lines[0].startswith("repeats: found 0; expected a whole number, 1 or more")
    assert any("absent.jsonl: the eval set can't be read" in line for line in lines)
    assert len(lines) == 6


def test_columns_and_templates(folder: Path) -> None:
    lines = faults(
        folder,
        'evalset = "items.jsonl"\nmodel = "recorded/m"\noutputs = "outputs.csv"\nprompt_template = "unknown.txt"\n'
        'judge = "local/absent"\n',
    )
    assert starts(lines) == {"model", "outputs.csv: output", "prompt_template", "judge"} or len(lines) == 4
    text = "\n".join(lines)
    assert "{{langauge}}" in text
    assert "recorded/name@version" in text
    assert "judge_path" in text
    assert "outputs.csv" in text


def test_no_address_is_told_for_what_it_means(folder: Path) -> None:
    lines = faults(folder, 'evalset = "items.jsonl"\nmodel = "openai/m@1"\njudge = "openai/j@1"\n')
    said = "found no address, so OpenAI itself would be asked, and OPENAI_API_KEY is not set; expected the address of"
    assert [line.split(" your")[0] for line in lines] == [f"model_base_url: {said}", f"judge_base_url: {said}"]


def test_an_evaluator_without_a_judge_tells_all_too(folder: Path) -> None:
    found = benchbook_here(
        "score", "contains@v1", "--evalset", "absent.jsonl", "--model", "openai/m", "--max-retries", "-1",
        cwd=folder, env={"OPENAI_API_KEY": ""},
    )  # fmt: skip
    assert found.returncode == 2
    said = found.stderr.decode()
    assert "3 things are wrong" in said
    for part in ("max_retries", "absent.jsonl", "model_base_url"):
        assert part in said


@pytest.mark.parametrize(
    ("settings", "doubts"),
    [
        pytest.param({}, [], id="none"),
        pytest.param({"model": "openai/m"}, ["model: openai/m names no version"], id="no-version"),
        pytest.param({"judge": "openai/j"}, ["judge: openai/j names no version"], id="judge-without-a-version"),
        pytest.param({"model": "openai/m-2026-01-01"}, [], id="dated"),
        pytest.param({"model-base-url": "http://h:1"}, ["model_base_url: http://h:1 has no version"], id="no-v1"),
    ],
)
def test_a_dry_run_doubts_what_may_stop_the_run_at_its_first_answer(
    folder: Path, settings: dict[str, str], doubts: list[str]
) -> None:
    with running(always_good) as server:
        found = benchbook_here("run", *options(folder, server, **settings), "--dry-run", cwd=folder)
    assert found.returncode == 0, found.stderr
    lines = [line for line in found.stdout.decode().splitlines() if line.startswith(("  ! model", "  ! judge"))]
    assert [line[4 : 4 + len(doubt)] for line, doubt in zip(lines, doubts, strict=True)] == doubts


def test_a_benchmark_doubts_aliases() -> None:
    config = ModelConfig(model="openai/gpt-4o@x", base_url="http://h/v1")
    role = RoleSettings(setting="model", prefix="model_", config=config, timeout_ms=1)
    roles = {"candidate": (role, plan_of_role(role, {}))}
    assert doubts_about(roles) == []
    assert doubts_about(roles, benchmark=True)[0].startswith("model: openai/gpt-4o@x is a floating alias")


# ── what several judges share ────────────────────────────────────────────────────────────────────────────────

SHARED: dict[str, Any] = {
    "base_url": "http://all/v1", "api_key_env": "ALL", "path": "all.gguf", "params": {"seed": 1},
    "reasoning_tags": ("think",), "json_schema": True, "input_price": 1, "output_price": 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("own", "differs"),
    [
        pytest.param({"model": "openai/a@1"}, {"path": None}, id="all"),
        pytest.param(
            {"model": "openai/a@1", "base_url": "http://mine/v1"},
            {"path": None, "base_url": "http://mine/v1", "api_key_env": None},
            id="a-key-stays-with-its-address",
        ),
        pytest.param(
            {"model": "openai/a@1", "api_key_env": "MINE"}, {"path": None, "api_key_env": "MINE"}, id="a-key-of-its-own"
        ),
        pytest.param({"model": "local/a"}, {"base_url": None, "api_key_env": None}, id="local"),
        pytest.param(
            {"model": "any-llm/x:a@1"}, {"base_url": None, "api_key_env": None, "path": None}, id="another-kind"
        ),
        pytest.param(
            {"model": "openai/a@1", "params": {"top_p": 1}, "json_schema": False, "input_price": 0},
            {"path": None, "params": {"top_p": 1}, "json_schema": False, "input_price": 0},
            id="its-own-win",
        ),
    ],
)
def test_a_judge_takes_what_all_share_where_it_has_none_of_its_own(
    own: dict[str, Any], differs: dict[str, Any]
) -> None:
    judge = inheriting(ModelConfig(**own), SHARED)
    assert {name: getattr(judge, name) for name in SHARED} == SHARED | differs


PANEL: dict[str, Any] = {
    "evalset": "items.jsonl", "model": "openai/m@1", "judge_base_url": "http://all/v1",
    "judges": [{"model": "openai/a@1"}, {"model": "openai/b@1", "base_url": "http://b/v1"}],
}  # fmt: skip


def test_a_panel_has_the_rule_of_the_majority_where_none_is_named() -> None:
    config = config_from_mapping(PANEL, "test")
    assert (config.panel_rule, config.rule_of_panel) == (None, "majority")
    assert config_from_mapping(PANEL | {"panel_rule": "worst"}, "test").rule_of_panel == "worst"
    assert [judge.base_url for _, _, judge in config.all_judges] == ["http://all/v1", "http://b/v1"]
    assert [judge.base_url for judge in config.judges] == [None, "http://b/v1"]  # as they were given


def test_one_judge_has_no_rule() -> None:
    one = {name: value for name, value in PANEL.items() if name != "judges"} | {"judge": "openai/a@1"}
    config: RunConfig = config_from_mapping(one, "test")
    assert config.rule_of_panel is None


def test_a_panel_of_the_command_line_runs_at_once(folder: Path) -> None:
    with running(always_good) as server:
        words = [*options(folder, server), "--judge", "openai/other@1"]  # beside the first
        found = benchbook_here("run", *words, cwd=folder)
    assert found.returncode == 0, found.stderr
    assert b"2 judges" in found.stdout
    assert benchbook_here("verify", "run", cwd=folder).returncode == 0


def test_the_default_rule_makes_the_plan_that_naming_it_makes(folder: Path) -> None:
    with running(always_good) as server:
        words = [*options(folder, server), "--judge", "openai/other@1", "--dry-run"]
        plain, named = (benchbook_here("run", *words, *more, cwd=folder) for more in ([], ["--panel-rule", "majority"]))
    assert plain.stdout == named.stdout
    assert b"plan" in plain.stdout
