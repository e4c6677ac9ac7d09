"""Help in groups, suggestions for mistyped words, and what Tab completes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from benchbook.cli.commands import COMMANDS, GROUPS
from benchbook.cli.main import benchbook as main_group
from benchbook.cli.settings import setting_options
from benchbook.evaluators.settings import SETTINGS
from running import benchbook_here


def sections(words: list[str]) -> list[str]:
    """The headings of a help text, in their order."""
    text = benchbook_here(*words, "--help").stdout.decode()
    return [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0].isupper()]


def test_commands_are_listed_in_groups_with_examples_after_them() -> None:
    assert sections([]) == ["Options", *GROUPS, "Examples"]
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)


def test_settings_are_listed_in_the_sections_of_the_config_file() -> None:
    first, *others = SETTINGS
    assert sections(["run"]) == [first, "This command", *others, "Examples"]
    assert sections(["score"])[:3] == ["What is scored", "How that run went", first]
    assert sections(["judge", "run"])[0] == "What is judged"


@pytest.mark.parametrize("words", [["run"], ["score"], ["doctor"], ["judge", "run"]], ids=" ".join)
def test_no_option_is_left_out_of_the_sections(words: list[str]) -> None:
    command: click.Command = main_group
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    text = benchbook_here(*words, "--help").stdout.decode().split()
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if f"{option.opts[0]}" not in [one.strip(",") for one in text]] == []


def test_every_setting_but_the_tables_is_an_option() -> None:
    command = click.command()(setting_options(lambda: None))
    names = {option.name for option in command.params}
    assert {name for section in SETTINGS.values() for name in section} - names == {"judges", "batch"}


# ── a word that was mistyped ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["rnu"], "no such command 'rnu'; did you mean 'run'?", id="command"),
        pytest.param(["compair", "a", "b"], "no such command 'compair'; did you mean 'compare'?", id="with-words"),
        pytest.param(["xyzzy"], "no such command 'xyzzy'.", id="none-is-near"),
        pytest.param(["run", "--evalste", "x"], "--evalset", id="option"),
        pytest.param(["show", "basee"], "basee: not a record, here or in runs/", id="run-that-is-none"),
        pytest.param(["show", "basee"], "; did you mean 'base'?", id="run"),
        pytest.param(["compare", "base", "basee"], "; did you mean 'base'?", id="run-of-several"),
        pytest.param(["run", "--resume", "bse"], "; did you mean 'base'?", id="run-to-resume"),
        pytest.param(["evalset", "show", "@suport_v1"], "did you mean '@support_v1'?", id="set"),
        pytest.param(["run", "config.toml"], "modle: found a setting that is not known; expected model", id="setting"),
        pytest.param(["run", "--spec", "rubric@1"], "rubric@v1, which is near", id="spec"),
    ],
)  # fmt: skip
def test_what_was_most_likely_meant_is_said(tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "runs" / "base" / "journal").mkdir(parents=True)
    (tmp_path / "config.toml").write_text('modle = "openai/m@1"\n', encoding="utf-8")
    found = benchbook_here(*words, cwd=tmp_path, env={"OPENAI_API_KEY": "key"})
    assert found.returncode == 2
    assert says in found.stderr.decode()


# ── Tab ──────────────────────────────────────────────────────────────────────────────────────────────────────

# As Bash calls the function: the line up to the cursor, and the piece of it that is to be replaced.
CALL = r"""
eval "$(benchbook completion bash)"
compopt() { COMPREPLY+=("<$2>"); }
COMP_LINE="$1"
COMP_POINT=${#COMP_LINE}
_benchbook_completion benchbook "$2"
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, another folder with one, and a program `benchbook`."""
    made = tmp_path_factory.mktemp("tab")
    for run in ("runs/base", "runs/basic", "else/a:b"):
        (made / run / "journal").mkdir(parents=True)
    program = made / "bin" / "benchbook"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m benchbook "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return made


@pytest.mark.skipif(shutil.which("bash") is None, reason="Bash is not installed")
@pytest.mark.parametrize(
    ("line", "piece", "completed"),
    [
        pytest.param("benchbook verif", "verif", ["verify"], id="command"),
        pytest.param("benchbook show ba", "ba", ["base", "basic"], id="run"),
        pytest.param("benchbook show --runs else ", "", ["a:b"], id="run-of-another-folder"),
        pytest.param("benchbook show --runs else a:", "", ["b"], id="piece-of-a-run"),
        pytest.param("benchbook run --evalset @supp", "@supp", ["@support_v1"], id="set"),
        pytest.param("benchbook run --evalset=@supp", "@supp", ["@support_v1"], id="set-behind-an-equals-sign"),
        pytest.param("benchbook run --evalset it", "it", ["<default>"], id="file"),
        pytest.param("benchbook run --panel-rule m", "m", ["majority", "mean"], id="rule"),
        pytest.param("benchbook export --to pa", "pa", ["parquet"], id="choice"),
    ],
)
def test_bash_completes(place: Path, line: str, piece: str, completed: list[str]) -> None:
    env = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        ["bash", "--norc", "-c", CALL, "bash", line, piece],
        capture_output=True, check=True, cwd=place, env=env, timeout=60,
    )  # fmt: skip
    assert done.stdout.decode().split("\n")[:-1] == completed, done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete(place: Path, shell: str) -> None:
    env = {"_BENCHBOOK_COMPLETE": f"{shell}_complete", "COMP_WORDS": "benchbook show ba", "COMP_CWORD": "2"}
    if shell == "fish":  # which gives the word at hand
        env["COMP_CWORD"] = "ba"
    found = benchbook_here(env=env, cwd=place)
    assert found.returncode == 0
    assert {"base", "basic"} <= set(found.stdout.decode().replace(",", "\n").split("\n"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str) -> None:
    found = benchbook_here("completion", shell)
    assert f"_BENCHBOOK_COMPLETE={shell}_complete" in found.stdout.decode()
    assert json.loads(benchbook_here("completion", shell, "--json").stdout)["script"] == found.stdout.decode()


def test_completing_loads_no_library_of_numbers_or_tables(place: Path) -> None:
    code = "import sys; from benchbook.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    env = {"COMP_LINE": "benchbook run --resume b", "COMP_PIECE": "b", "_BENCHBOOK_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=place, timeout=60,
        env={"PYTHONPATH": ":".join(sys.path), **env},
    )  # fmt: skip
    assert done.stdout.decode().split() == ["plain,base", "plain,basic"]
    loaded = set(done.stderr.decode().split())
    assert not {"polars", "scipy", "numpy", "pyarrow", "aiohttp", "httptools", "rich"} & loaded
