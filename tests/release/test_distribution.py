"""The wheel and the sdist: what is in them, that they are the same however they are built, and that the wheel works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from newcomers.four_users import play
from release.distribution import Built, built, faults_of_sdist, faults_of_wheel, members, tried

WHEEL = dict.fromkeys(
    (
        "benchbook/__init__.py", "benchbook/py.typed", "benchbook/server/static/index.html",
        "benchbook/specs/rubric_v1/prompt.txt", "benchbook/specs/judge_protocol_v1/spec.toml",
        "benchbook/evalsets/shipped/golden_v1.jsonl", "benchbook-0.1.0.dist-info/entry_points.txt",
        "benchbook-0.1.0.dist-info/licenses/LICENSE",
    ),
    b"",
)  # fmt: skip
SDIST = dict.fromkeys(("PKG-INFO", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/benchbook/a.py"), b"")


@pytest.mark.parametrize(
    ("without", "more", "says"),
    [
        ("", "", []),
        ("benchbook/py.typed", "", ["the wheel lacks benchbook/py.typed"]),
        ("benchbook/server/static/index.html", "", ["the wheel lacks benchbook/server/static/index.html"]),
        ("benchbook-0.1.0.dist-info/licenses/LICENSE", "", ["the wheel lacks licenses/LICENSE"]),
        ("", "tests/test_x.py", ["the wheel has tests/", "the wheel has tests/test_x.py"]),
        ("", "benchbook/tests/test_x.py", ["the wheel has benchbook/tests/test_x.py"]),
        ("", "benchbook/__pycache__/a.cpython-311.pyc", ["the wheel has benchbook/__pycache__/a.cpython-311.pyc"]),
        ("", "benchbook/.env", ["the wheel has benchbook/.env"]),
    ],
)
def test_what_is_wrong_with_a_wheel_is_named(without: str, more: str, says: list[str]) -> None:
    held = {name: b"" for name in [*WHEEL, more] if name and name != without}
    assert list(faults_of_wheel(held)) == says


@pytest.mark.parametrize(
    ("without", "more", "says"),
    [
        ("", "", []),
        ("LICENSE", "", ["the sdist lacks LICENSE"]),
        ("", "tests/test_x.py", ["the sdist has tests/test_x.py"]),
        ("", "src/benchbook/.DS_Store", ["the sdist has src/benchbook/.DS_Store"]),
        ("", "secrets.txt", ["the sdist has secrets.txt"]),
    ],
)
def test_what_is_wrong_with_an_sdist_is_named(without: str, more: str, says: list[str]) -> None:
    held = {name: b"" for name in [*SDIST, more] if name and name != without}
    assert list(faults_of_sdist(held)) == says


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.mark.slow
@pytest.mark.xdist_group("release")
def test_both_are_built_alike_and_hold_what_they_must(made: Built) -> None:
    """All of `built` is a check: its contents, the index's, a second build, the wheel of the sdist."""
    assert made.wheel.name == "benchbook-0.1.0-py3-none-any.whl"
    about = members(made.wheel)["benchbook-0.1.0.dist-info/METADATA"].decode()
    for says in (
        "License-Expression: Apache-2.0",
        "Requires-Python: >=3.11",
        "Provides-Extra: server",
        "Typing :: Typed",
    ):
        assert says in about


@pytest.mark.slow
@pytest.mark.xdist_group("release")
def test_the_wheel_works_where_nothing_else_is_installed(made: Built, tmp_path: Path) -> None:
    """For the Python of these tests; `script/release` tries all that are found. Then four new users begin with it:
    `script/newcomers` says how long each of them waits for a decision."""
    why = tried(Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}", made.wheel, tmp_path)
    if why is not None:
        pytest.skip(f"can't be installed here: {why[-300:]}")
    desks = play(tmp_path / "venv" / "bin" / "python", tmp_path / "desks")
    assert [failure for desk in desks for failure in desk.failures] == []
    assert [desk.user for desk in desks if desk.first_decision_s is None] == []
