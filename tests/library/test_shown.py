"""How what the library returns is shown: printed as the command prints it, in a notebook as a piece of a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from library.in_notebooks import ROWS, doubling, kindly
from running import benchbook_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run with labels, two scored ones, an experiment, and a log of another tool."""
    folder = tmp_path_factory.mktemp("shown")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        bb.run(evalset=ROWS, model=doubling, judge=kindly, run_id="judged")
        bb.audit_judge("judged", variants=("longer", "other_answer"), audit_id="tried")
        for name in ("a", "b"):
            bb.score(ROWS, model=doubling, run_id=name)
        bb.grid(evalset=ROWS, spec="contains@v1", experiment="g", grid={"model": [doubling], "limit": [3, 8]})
        bb.export("a", to="inspect", out="a.eval")
        Path("v.csv").write_text(
            "item,model_a,model_b,winner\n1,x,y,A\n2,x,y,B\n3,x,<b>idea,A\n4,x,<b>idea,B\n", encoding="utf-8"
        )
        labels = bb.label("judged", n=6, seed=1)
        scores = {"accuracy_score": 2, "faithfulness_score": 2}
        assert labels.give([scores | {"sample": one} for one in labels.sheet["sample"]], labeller="ana") == 12
        assert labels.give([scores | {"sample": one} for one in labels.sheet["sample"]], labeller="ana") == 0
    return folder


OBJECTS = {
    "run": (lambda: bb.load("judged"), ("show", "judged"), "Inconclusive"),
    "score": (lambda: bb.load("a"), None, "6 of 8 items correct"),
    "compare": (lambda: bb.compare("a", "b"), ("compare", "a", "b"), "8 items compared"),
    "calibrate": (lambda: bb.calibrate("judged", "labels"), ("calibrate", "judged", "--labels", "labels"), "Gates"),
    "judge_audit": (lambda: bb.load_audit("tried"), ("judge", "card", "tried"), "What it must notice"),
    "leaderboard": (lambda: bb.leaderboard("a", "b"), ("leaderboard", "a", "b"), "ranked over 8 items"),
    "pairs": (
        lambda: bb.rank_pairs("v.csv", anchor="y"),
        ("judge", "pairs", "v.csv", "--anchor", "y"),
        "Against y",
    ),
    "experiment": (lambda: bb.experiment("g"), ("experiment", "g"), "2 plans name this experiment"),
    "audit": (lambda: bb.audit("a.eval"), ("audit", "a.eval"), "computed again from the samples"),
    "verify": (lambda: bb.verify("a"), None, "Verified"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_shows_itself_as_a_piece_of_a_page(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    made, _, words = OBJECTS[name]
    written = made()._repr_html_()
    assert written.startswith('<div class="benchbook-output"><style>')
    assert written.endswith("</div>")
    assert words in written
    assert not re.search(r" id=|<script|<b>idea", written)
    assert len(repr(made())) < 400


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, command, _) in OBJECTS.items() if command])
def test_it_prints_as_the_command_does(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    made, command, _ = OBJECTS[name]
    assert command is not None
    printed = benchbook_here(*command, cwd=folder).stdout.decode()
    assert _words(str(made())) <= _words(printed)


def _words(text: str) -> set[str]:
    """Lines may be broken at another width."""
    return set(text.split())


def test_a_run_that_was_stopped_says_why_before_anything_else(tmp_path: Path) -> None:
    def failing(prompt: str) -> str:
        raise ValueError("no <i>memory</i>")

    made = bb.score(ROWS, model=failing, runs=tmp_path)
    for text in (made._repr_html_(), str(made)):
        place = text.index("Stopped: ")
        assert "bb.resume goes on with it" in text[place:]
        assert "<i>" not in made._repr_html_()
    assert str(made).index("Stopped: ") < str(made).index("unanswered", str(made).index("goes on with it"))


def test_an_experiment_that_was_stopped_shows_the_run_that_was(tmp_path: Path) -> None:
    def failing(prompt: str) -> str:
        raise ValueError("no memory")

    cells = {"model": [doubling, failing]}
    made = bb.grid(evalset=ROWS, spec="contains@v1", experiment="g", grid=cells, runs=tmp_path)
    none = bb.grid(evalset=ROWS, spec="contains@v1", experiment="h", grid={"model": [failing]}, runs=tmp_path)
    for text in (str(made), made._repr_html_()):
        assert re.search(r"g-1.*Stopped: .*g-2", text, re.DOTALL)
    assert "Stopped: " in str(none)


def test_what_was_changed_is_named(folder: Path, tmp_path: Path) -> None:
    made = bb.score(ROWS, model=doubling, runs=tmp_path, run_id="r")
    file = made.path / "aggregates.json"
    text, n = re.subn(r'("n_correct": ?)6', r"\g<1>7", file.read_text(encoding="utf-8"))
    assert n
    file.write_text(text, encoding="utf-8")
    found = bb.verify("r", runs=tmp_path)
    assert not found.holds
    for text in (str(found), found._repr_html_()):
        assert "Does not hold" in text
        assert "aggregates.json" in text


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        (lambda: bb.load("gone", runs="r\x1b[31m"), ["UsageError: gone: not a record, here or in r\\u001b[31m/"]),
        (lambda: bb.run(evalset="gone.jsonl", model=doubling, judge=kindly), ["InputError: gone.jsonl: "]),
    ],
)
def test_ipython_shows_the_message_and_the_callers_line(call: Callable[[], Any], lines: list[str]) -> None:
    with pytest.raises(bb.BenchbookError) as raised:
        call()
    message, where = raised.value._render_traceback_()
    assert message.startswith(lines[0])
    assert re.match(r"  line \d+: \(lambda: bb\.", where)
    assert "\x1b" not in message


def test_a_terminal_shows_progress_only_where_it_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bb.score(ROWS, model=doubling, runs=tmp_path)
    assert capsys.readouterr() == ("", "")
    bb.score(ROWS, model=doubling, runs=tmp_path, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "8 of 8 samples" in err


def test_a_function_that_is_defined_again_word_for_word_is_the_same_model(tmp_path: Path) -> None:
    """As where a notebook's cell runs twice; one that closes over something is another."""

    def made() -> Callable[[str], str]:
        def answers(prompt: str) -> str:
            return "2"

        return answers

    def closing(text: str) -> Callable[[str], str]:
        def says(prompt: str) -> str:
            return text

        return says

    ids = [bb.score(ROWS, model=one, runs=tmp_path).manifest.model_id for one in (made(), made())]
    assert ids[0] == ids[1]
    ids = [bb.score(ROWS, model=one, runs=tmp_path).manifest.model_id for one in (closing("1"), closing("2"))]
    assert ids[0] != ids[1]
