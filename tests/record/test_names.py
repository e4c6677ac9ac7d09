"""What names a record: its hash what it says, its id what it was called, its folder where it is found (decision 0034).

Where the folder has another name than the id, every face says so by one text, and nothing gives it another's place.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import benchbook as bb
from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import rebuild, refresh
from benchbook.catalog.queries import find_run
from benchbook.comparison.experiment import named_experiment
from benchbook.errors import UsageError
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record, misnamed, records_in
from running import benchbook_here, written_words
from scored import scored

WORDS = "the folder is called 'b', and the record in it is 'a': rename the folder"
NAMES = (
    *("run", "decision", "outcome", "state", "date", "evaluator", "model", "judge", "eval set"),
    *("eval set version", "score_name", "score", "low", "high", "hash"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named")
    for name in ("a", "good"):
        scored(folder, run_id=name)
    return folder / "runs"


@pytest.fixture
def runs(made: Path, tmp_path: Path) -> Path:
    """`good` is itself; `a` was renamed to `b`."""
    runs = Path(shutil.copytree(made, tmp_path / "runs"))
    (runs / "a").rename(runs / "b")
    return runs


def said(*words: str, runs: Path) -> tuple[int, str, str]:
    done = benchbook_here(*words, "--runs", str(runs))
    return done.returncode, written_words(done.stdout), written_words(done.stderr)


def test_a_list_shows_it_by_its_folder_and_says_whose_it_is(runs: Path) -> None:
    _, told, _ = said("runs", runs=runs)
    assert f"! b: {WORDS}" in told
    rows = {row["run"]: row for row in json.loads(said("runs", "--json", runs=runs)[1])}
    assert WORDS in rows["b"].pop("misnamed")
    assert [tuple(row) for row in rows.values()] == [NAMES, NAMES]
    assert (rows["b"]["state"], rows["b"]["decision"]) == ("complete", "pass")


def test_a_copy_and_its_original_are_both_shown(runs: Path) -> None:
    shutil.copytree(runs / "b", runs / "a")
    rows = {row["run"]: row for row in json.loads(said("runs", "--json", runs=runs)[1])}
    assert [name for name, row in rows.items() if "misnamed" in row] == ["b"]
    assert {"a", "b", "good"} == rows.keys()


@pytest.mark.parametrize("words", [("show", "b"), ("gate", "b", "--min-score", "0"), ("rescore", "b")])
def test_a_command_that_is_given_one_says_so_and_goes_on(runs: Path, words: tuple[str, ...]) -> None:
    words = (*words, "--reports", "none") if words[0] == "rescore" else words
    code, _, complained = said(*words, runs=runs)
    assert code == 0
    assert f"warning: {runs}/b: {WORDS}" in complained
    assert "warning" not in said(words[0], "good", *words[2:], runs=runs)[2]


def test_a_comparison_has_both_names(runs: Path) -> None:
    assert [run.name for run in bb.compare(runs / "b", runs / "good").runs] == ["a (in the folder b)", "good"]


def test_a_leaderboard_gives_no_place_to_one(runs: Path) -> None:
    code, told, _ = said("leaderboard", runs=runs)
    assert code == 0
    assert f"Misnamed: {WORDS}" in told
    assert [line.split()[1] for line in told.splitlines()[2:3]] == ["good"]
    with open_catalog(runs / "catalog.sqlite") as catalog:
        rebuild(catalog, runs)
        row, good = find_run(catalog, "b"), find_run(catalog, "good")
        assert row is not None
        assert good is not None
        assert good.error is None
        assert (row.state, row.primary_nano == good.primary_nano, WORDS in str(row.error)) == ("complete", True, True)


def test_it_is_no_baseline(runs: Path) -> None:
    code, _, complained = said("baseline", "set", "b", runs=runs)
    assert code == 2
    assert WORDS in complained


def test_it_is_no_part_of_an_experiment(tmp_path: Path) -> None:
    """A copy is no repeat, and two cells that changed places are neither's."""
    golden = Path(__file__).parents[1] / "golden" / "records"
    names = ("rubric_weather_1", "rubric_weather_2")
    for name in names:
        record = Record(shutil.copytree(golden / name, tmp_path / name))
        evaluator_of(record).derive(record, record.path)
    shutil.copytree(tmp_path / names[0], tmp_path / "rubric_weather_3")
    found = named_experiment("weather", records_in(tmp_path))
    assert [plan.runs for plan in found.plans] == [[*names]]
    whose = f"the record in it is '{names[0]}'"
    assert [(one.run, whose in one.reason) for one in found.left_out] == [("rubric_weather_3", True)]
    first, second = (tmp_path / name for name in names)
    first.rename(tmp_path / "between")
    second.rename(first)
    (tmp_path / "between").rename(second)
    with pytest.raises(UsageError, match="no whole record"):
        named_experiment("weather", records_in(tmp_path))


def test_a_name_that_only_looks_like_the_records_is_told_apart(runs: Path) -> None:
    for name, shown in (("\u0430", r"\u0430"), ("a\u200b", r"a\u200b"), ("a\udcff", r"a\udcff")):
        try:
            os.fsencode(name)
        except UnicodeEncodeError:  # in a poor locale no file has such a name
            continue
        assert str(misnamed(Record(runs / name), "a")).startswith(
            f"the folder is called '{shown}', and the record in it is 'a'"
        )


def test_a_link_beside_its_record_is_no_record_of_its_own(runs: Path) -> None:
    (runs / "latest").symlink_to("good")
    assert {record.run_id for record in records_in(runs)} == {"b", "good"}
    with open_catalog(runs / "catalog.sqlite") as catalog:
        assert refresh(catalog, runs).read == ("b", "good")
    assert said("verify", "latest", runs=runs)[0] == 0
    assert said("verify", "b", runs=runs)[0] == 1


def test_verify_names_both_names_and_what_would_be_right(runs: Path) -> None:
    code, told, complained = said("verify", "b", runs=runs)
    assert (code, "warning" in complained) == (1, False)
    assert told.startswith(f"journal/000001.jsonl:1: {WORDS}")
    sha256 = Record(runs / "b").manifest.read_text("utf-8").split('"journal_sha256": "')[1][:64]
    code, told, _ = said("verify", "b", "--expect", sha256, runs=runs)
    assert code == 0
    assert f"note: {WORDS}" in told
    assert WORDS in json.loads(said("verify", "b", "--expect", sha256, "--json", runs=runs)[1])["notes"][0]
