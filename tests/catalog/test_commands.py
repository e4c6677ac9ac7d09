"""`benchbook catalog`: what it prints, and what it ends with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.making import made, start
from running import benchbook_here


def words(folder: Path, *more: str) -> list[str]:
    return [*more, "--runs", str(folder)]


def test_rebuild_show_and_refresh(folder: Path, address: str) -> None:
    made(folder, "a", score=0.25)
    made(folder, "b", score=0.5)
    (folder / "b" / "manifest.json").write_bytes(b"{")
    environment = {"BENCHBOOK_CATALOG": address}
    done = benchbook_here("catalog", *words(folder, "rebuild"), env=environment)
    assert (done.returncode, done.stderr) == (0, b"damaged: b\n")
    assert done.stdout.decode().endswith(": 2 read, 0 unchanged, 0 removed, 1 damaged\n")
    shown = (
        benchbook_here("catalog", *words(folder, "show", "--sort", "score"), env=environment)
        .stdout.decode()
        .splitlines()
    )
    assert [line.split()[:4] for line in shown[1:]] == [
        ["a", "complete", "completed", "0.2500"],
        ["b", "damaged", "-", "-"],
    ]
    start(folder, "c")
    again = benchbook_here("catalog", *words(folder, "refresh", "--url", address, "--json"))
    assert json.loads(again.stdout) == {"read": ["c"], "unchanged": ["a", "b"], "removed": [], "damaged": []}


def test_pages_and_filters_as_json(folder: Path) -> None:
    for name in "abc":
        made(folder, name, model=f"org/{name}")
    assert benchbook_here("catalog", *words(folder, "refresh")).returncode == 0

    def page(*more: str) -> Any:
        return json.loads(benchbook_here("catalog", *words(folder, "show", "--json", "--sort", "run", *more)).stdout)

    first = page("--limit", "2", "--ascending")
    assert [run["run_id"] for run in first["runs"]] == ["a", "b"]
    last = page("--limit", "2", "--ascending", "--after", first["next_cursor"])
    assert ([run["run_id"] for run in last["runs"]], last["next_cursor"]) == (["c"], None)
    assert [run["run_id"] for run in page("--text", "ORG/B", "--evalset", "golden")["runs"]] == ["b"]
    nothing = benchbook_here("catalog", *words(folder, "show", "--model", "' OR 1=1 --"))
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, b"", b"no runs\n")


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["show"], 2, "there is no catalog yet; make it with `benchbook catalog rebuild`"),
        (["refresh", "--runs", "nowhere"], 2, "nowhere: there is no such folder of records"),
        (["refresh", "--url", "mysql://u:sesame@h/db"], 2, "catalog url: found the kind 'mysql'"),
        (["refresh", "--url", "postgresql://u:sesame@127.0.0.1:1/db"], 3, "postgresql://127.0.0.1:1/db: connection "),
        (["show", "--url", "new.sqlite", "--limit", "0"], 2, "limit: found 0; expected 1 to 1000"),
        (["show", "--url", "new.sqlite", "--after", "x"], 2, "after: found a text that is none"),
    ],
)
def test_mistakes(folder: Path, more: list[str], code: int, says: str) -> None:
    found = benchbook_here("catalog", more[0], "--runs", str(folder), *more[1:], cwd=folder)
    assert found.returncode == code
    assert says in found.stderr.decode()
    assert "sesame" not in found.stderr.decode()
    assert "Traceback" not in found.stderr.decode()
