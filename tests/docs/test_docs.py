"""The manual can't rot: its commands and programs run, its reference is whole, its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import benchbook as bb
import sigstore_instance
from benchbook.ask.unanswered import Unanswered
from benchbook.cli.commands import COMMANDS
from benchbook.evaluators import exact
from benchbook.evaluators.gates import Decision, Gate
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric import rows
from benchbook.evaluators.rubric.aggregates import aggregates_type
from benchbook.evaluators.settings import SETTINGS
from benchbook.record import facts
from docs.sessions import RUN, Block, blocks_of, links_of, matches, stands_in, steps_of, tables_of
from rubric_v1 import AGGREGATES_FILE, CAUSED_ROW, PANEL_ROW, ROW, SLICE, V1, VOTE
from s3_server import BUCKET, KEYS, s3_server
from scripted_server import ScriptedServer, running
from support import CITED, ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
SERVER_IN_THE_DOCS = "http://localhost:8000"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


# ── what pages say to do, works ──────────────────────────────────────────────────────────────────────────────


def pages_that_run(*, slow: bool) -> list[Path]:
    wanted = [page for page in PAGES if any(runs(block) and block.slow >= slow for block in blocks_of(page))]
    return [page for page in wanted if slow or not all(block.slow for block in blocks_of(page) if runs(block))]


def runs(block: Block) -> bool:
    return block.language in RUN and not block.skipped and block.file is None


def answers(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """A model that says the same to everything, and a judge that likes it."""
    del n
    usage = {"prompt_tokens": 120, "completion_tokens": 12}
    if role == "candidate":
        text = "Within 30 days of delivery."
    else:
        text = json.dumps({"accuracy_score": 2, "faithfulness_score": 2, "rationale": "It says so."})
    return {"status": 200, "content": text, "usage": usage, "model": request["model"]}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with running(answers) as found:
        yield found


@pytest.fixture
def bucket(page: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server with the page's bucket, for those that have one."""
    if f"s3://{BUCKET}" not in page.read_text(encoding="utf-8"):
        yield
        return
    with s3_server() as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture
def had(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The files that a page's reader has already: of a Sigstore instance, for those that sign by one."""
    if "--trust-config trust.json" not in page.read_text(encoding="utf-8"):
        yield []
        return
    with sigstore_instance.running() as found:
        monkeypatch.setenv("SIGSTORE_ID_TOKEN", found.token(seconds=3600))
        yield [found.trust_config(tmp_path / "trust.json")]


@pytest.mark.slow  # twenty seconds of real commands
@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize("page", pages_that_run(slow=False), ids=name_of)
def test_what_a_page_says_to_do_works(page: Path, tmp_path: Path, server: ScriptedServer, had: list[Path]) -> None:
    follow(page, tmp_path / "here", server, had, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_that_run(slow=True), ids=name_of)
def test_with_the_local_model_too(page: Path, tmp_path: Path, server: ScriptedServer) -> None:
    follow(page, tmp_path / "here", server, [], slow=True)


def follow(page: Path, folder: Path, server: ScriptedServer, had: list[Path], *, slow: bool) -> None:
    """Do what the page says, block after block, where it says that the reader stands."""
    blocks = blocks_of(page)
    stands = stands_in(page, next(block.line for block in blocks if runs(block)))
    if stands is None:
        folder.mkdir()
    else:  # of a checkout, the examples are all that a page may need
        shutil.copytree(DOCS / "examples", folder / "docs/examples")
        folder = folder / stands
    for path in had:
        shutil.copy(path, folder)
    for block in blocks:
        if block.file is not None:
            (folder / block.file).write_text(here(block.text, server), encoding="utf-8", newline="\n")
        elif runs(block) and (slow or not block.slow):
            do(block, folder, server)


def here(text: str, server: ScriptedServer) -> str:
    """The page's server is the test's."""
    return text.replace(SERVER_IN_THE_DOCS, f"http://127.0.0.1:{server.port}")


def do(block: Block, folder: Path, server: ScriptedServer) -> None:
    for command, shown in steps_of(block):
        shell = [sys.executable, "-c"] if block.language == "python" else ["bash", "-euo", "pipefail", "-c"]
        done = subprocess.run(
            [*shell, here(command, server)],
            cwd=folder,
            env=environment(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if shown is None else subprocess.PIPE,
            check=False,
        )
        output = done.stdout.decode("utf-8")
        told = output if shown is None else output + done.stderr.decode("utf-8")
        assert done.returncode == block.exit_code, f"{block.where}: `{command}` ended with {done.returncode}\n{told}"
        assert shown is None or matches(shown, output), f"{block.where}: `{command}` printed\n{told}"


def environment(command: str) -> dict[str, str]:
    """The environment of a command. What opens files without naming their encoding is an error in our own alone."""
    binaries = Path(sys.executable).parent
    known = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_proxy", "_PROXY"))}
    kept = known | {name: value for name, value in os.environ.items() if (name, value) in KEYS.items()}
    ours = {
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "PYTHONIOENCODING": "utf-8",
        "PYTEST_ADDOPTS": "-p no:schemathesis",
    }
    return kept | ours | ({"PYTHONWARNINGS": "ignore"} if command.startswith("sigstore ") else {})


# ── the reference is whole ───────────────────────────────────────────────────────────────────────────────────


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run([sys.executable, DOCS / "generate.py", "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_is_in_the_reference(command: str) -> None:
    assert f"## benchbook {command}" in text_of("reference/cli.md")


@pytest.mark.parametrize("setting", [name for section in SETTINGS.values() for name in section])
def test_every_setting_is_in_the_reference(setting: str) -> None:
    # A panel: --judge, repeated.
    option = {"judges": "--judge", "batch": "batch submit"}.get(setting, f"--{setting.replace('_', '-')}")
    assert f"| `{setting}` | `{option}` |" in text_of("reference/settings.md")
    assert f"`{option}`" in text_of("reference/cli.md").replace("benchbook batch submit", "batch submit")


WORDS = {int: "integer", float: "number", bool: "true or false", str: "text"}


def columns_of(struct: Any) -> list[tuple[str, str, bool]]:
    """`(name, type in words, whether it may be null)`."""
    hints = get_type_hints(struct)
    return [(name, *kind_of(hints[name])) for name in struct.__struct_fields__]


def kind_of(hint: Any) -> tuple[str, bool]:
    plain = next((words for kind, words in WORDS.items() if hint in (kind, kind | None)), "list")
    return plain, "None" in str(hint) and plain != "list"


def test_every_column_of_samples_is_in_the_reference() -> None:
    """In the order of the file, with its type; a column that may be null says when."""
    described = [row for table in tables_of(DOCS / "reference/samples.md") for row in table if "column" in row]
    found = [(row["column"], row["type"], row["null"] != "never") for row in described]
    of_a_panel = columns_of(PANEL_ROW)[len(columns_of(ROW)) :]
    assert found == columns_of(CAUSED_ROW) + columns_of(rows.JudgeReply) + of_a_panel + columns_of(VOTE)


def fields_of(struct: Any) -> list[str]:
    return list(struct.__struct_fields__)


@pytest.mark.parametrize(
    ("page", "struct"),
    [
        ("aggregates.md", aggregates_type(V1)),
        ("aggregates.md", AGGREGATES_FILE),
        ("aggregates.md", rows.Ledger),
        ("aggregates.md", Unanswered),
        ("aggregates.md", exact.RepeatSummary),
        ("aggregates.md", rows.ItemAgreement),
        ("aggregates.md", SLICE),
        ("aggregates.md", Decision),
        ("aggregates.md", Gate),
        ("aggregates.md", Interval),
        ("record.md", rows.RubricManifest),
        ("record.md", facts.RunStarted),
        ("record.md", facts.Reply),
        ("record.md", facts.Failure),
        ("record.md", facts.Sealed),
        ("record.md", facts.Interrupted),
        ("record.md", facts.Resumed),
        ("record.md", facts.RunEnded),
    ],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_every_field_is_in_the_reference(page: str, struct: Any) -> None:
    text = text_of(f"reference/{page}")
    assert [name for name in fields_of(struct) if f"`{name}`" not in text] == []


def test_every_public_name_is_in_the_reference() -> None:
    text = text_of("reference/library.md")
    members = [name for name in vars(bb.Run) if not name.startswith("_")]
    assert [name for name in bb.__all__ if f"bb.{name}" not in text] == []
    assert [name for name in [*members, "stopped"] if f"`{name}" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_rule_is_said_in_words(page: Path) -> None:
    """Clauses are cited where they are explained, in decisions, and by who works on it."""
    if page in (DOCS / "explanation/rubric-v1.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        return
    text = page.read_text(encoding="utf-8")
    if page.parent.name != "decisions" and "<!-- Generated by" not in text:  # the sources of generated pages are tested
        assert CITED.findall(text) == []


# ── links lead somewhere ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page: Path) -> None:
    for link in links_of(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors_of(target), f"{name_of(page)}: {link}: there is no such heading"


def anchors_of(page: Path) -> set[str]:
    """The headings' anchors, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_is_reached(page: Path) -> None:
    """From the README, from the index of the manual, or from the index of decisions."""
    indexes = [ROOT / "README.md", DOCS / "README.md", DOCS / "decisions/README.md"]
    linked = {(index.parent / link.partition("#")[0]).resolve() for index in indexes for link in links_of(index)}
    assert page in {*indexes, *linked}


def test_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.name for path in (DOCS / "decisions").glob("[0-9]*.md"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))


@pytest.mark.parametrize("page", sorted((DOCS / "decisions").glob("[0-9]*.md")), ids=name_of)
def test_a_decision_says_why_and_when_to_look_again(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == ["Context", "Choice", "Measured", "Look again when"]
    assert text.startswith(f"# {page.name[:4]}: ")
    assert len(text.split("\n")) < 80, "one page"
