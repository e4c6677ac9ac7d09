"""The source, read as text: short files, names that mean one thing, specs known to their own rooms alone."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support import CITED

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "benchbook"
FILES = {path.relative_to(HOUSE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(HOUSE.rglob("*.py"))}

SPEC_ID = re.compile(r"\b(?:answer_correctness|choice|contains|judge_protocol|number|rubric)@v\d")
NAMED = re.compile(r"\b(?:bench|src|tests|ui)/[a-z_0-9/]+\.py\b")  # a path from the root
# The frozen specs' own rooms, and the two lists that have all of them.
AT_HOME = re.compile(r"evaluators/(?:checks|correctness|protocol|rubric)/|evaluators/registry\.py|specs/folders\.py")


def texts_of(tree: ast.Module) -> Iterator[str]:
    """The string constants of a module, without docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [node for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)]
    docs = {id(node.body[0].value) for node in documented if isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def shown(tree: ast.Module) -> Iterator[str]:
    """The texts of a module that people may see: of docstrings those of commands, and nothing for old records."""
    commands = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    yield from (ast.get_docstring(one) or "" for one in commands if any(map(makes_a_command, one.decorator_list)))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "cited")
    attributes = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))  # a constant's docstring
    apart = {id(one) for one in [*attributes, *(call.args[0] for call in calls)]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def makes_a_command(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(made, ast.Attribute) and made.attr in ("command", "group")


def test_no_text_cites_a_clause() -> None:
    """Messages say the rule in words: nobody who reads them has the SPEC."""
    maybe = [(name, text) for name, text in FILES.items() if CITED.search(text)]
    citing = {(name, one) for name, text in maybe for one in shown(ast.parse(text)) if CITED.search(one)}
    assert {(name, one) for name, one in citing if name != "views/views.py"} == set()


def test_no_file_is_longer_than_400_lines() -> None:
    assert [name for name, text in FILES.items() if len(text.splitlines()) > 400] == []


def test_every_public_class_has_a_name_of_its_own() -> None:
    homes: dict[str, set[str]] = defaultdict(set)  # a file may define a class twice, for types and for the program
    for file, text in FILES.items():
        for name in re.findall(r"^[ \t]*class ([A-Za-z]\w*)", text, re.MULTILINE):
            homes[name].add(file)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_docstrings_say_what_a_thing_is_or_does() -> None:
    """By no question: `The hash of …`, `Write …`, `True where …`."""
    asking = re.compile(r"\"\"\"(?:What|Whether) ")
    assert [(name, line) for name, text in FILES.items() for line in text.splitlines() if asking.search(line)] == []


def test_packages_alone_list_what_they_export() -> None:
    """A module's own names are public unless an underscore says otherwise, and imported from where they are defined."""
    listing = [name for name, text in FILES.items() if re.search("^__all__", text, re.MULTILINE)]
    assert [name for name in listing if not name.endswith("__init__.py")] == []


def test_specs_are_named_in_their_own_rooms() -> None:
    """Exceptions: the defaults of `run` and `score`, an eval set's profile, and the identifiers of a judged output."""
    maybe = [(name, text) for name, text in FILES.items() if not AT_HOME.match(name) and SPEC_ID.search(text)]
    naming = {name for name, text in maybe if any(map(SPEC_ID.search, texts_of(ast.parse(text))))}
    assert naming == {"evaluators/settings.py", "evalsets/requirements.py", "evalsets/output_set_sources.py"}


def test_every_file_that_the_manual_names_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {(page.name, path) for page in pages for path in NAMED.findall(page.read_text(encoding="utf-8"))}
    assert [one for one in sorted(named) if not (ROOT / one[1]).exists()] == []


# What one system alone has; `system/` knows it, and whoever asks a module for it by `getattr` or `hasattr` first.
ONE_SYSTEMS = re.compile(
    r"\bimport (?:fcntl|grp|msvcrt|pty|pwd|resource|termios|tty)\b|\bfrom (?:fcntl|resource|pwd|grp|msvcrt) import|"
    r"\bos\.(?:O_CLOEXEC|O_DIRECTORY|O_NOFOLLOW|O_NONBLOCK|WNOHANG|fchmod|fork|forkpty|get[e]?[gu]id|getpgid|killpg|mkfifo|name|open|"
    r"pidfd_open|pread|pwrite|sched_getaffinity|setsid|statvfs|uname)\b|\bselect\.(?:poll|epoll|kqueue)\b|"
    r"\bsignal\.(?:SIGALRM|SIGHUP|SIGKILL|SIGPIPE|SIGQUIT|SIGUSR\d|SIGXCPU|pidfd_send_signal)\b|\bos\.fsync\(os\.open"
)


def test_what_one_system_alone_has_is_asked_for_in_one_room() -> None:
    """Exceptions: what is refused before on Windows (a run in a process of its own), or asked for where it is there."""
    asking = {
        name: sorted(set(found))
        for name, text in FILES.items()
        if not name.startswith("system/") and (found := ONE_SYSTEMS.findall(text))
    }
    assert asking == {
        "evalsets/extraction_pdf_child.py": ["import resource"],  # imports nothing of Benchbook, and refuses without it
        "server/child.py": ["os.pidfd_open", "select.poll", "signal.SIGKILL", "signal.pidfd_send_signal"],
    }
