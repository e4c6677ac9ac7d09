"""Rankings by verdicts on pairs as they are shown: on a terminal, as JSON, as a frame, in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest

import benchbook as bb
from benchbook.cli.judge_pairs import pairs
from benchbook.errors import InputError, UsageError
from benchbook.exchange.pairs.arena_hard import STRONG
from benchbook.exchange.pairs.reading import PAIRS_FORMS
from running import benchbook_here, written_words

ESCAPE = "\x1b[31mred"


def rows(*winners: Any, a: str = "x", b: str = "y", **more: Any) -> list[dict[str, Any]]:
    return [{"item": n, "model_a": a, "model_b": b, "winner": one} | more for n, one in enumerate(winners)]


def shown(*winners: Any, **more: Any) -> str:
    return str(bb.rank_pairs(rows(*winners, **more)))


def written(tmp_path: Path, content: list[dict[str, Any]]) -> str:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return str(path)


def test_the_command_and_the_library_say_the_same(tmp_path: Path) -> None:
    content = rows("A", "A", "B", a=ESCAPE) + rows("B", "A", a="z") + rows("A", "both bad", "A", a=ESCAPE, b="z")
    path = written(tmp_path, content)
    printed = benchbook_here("judge", "pairs", path, "--anchor", "y")
    assert printed.returncode == 0, printed.stderr
    assert b"\x1b" not in printed.stdout
    assert "3 models by verdicts of 1 judge on 8 pairs of answers to 3 items" in written_words(printed.stdout)
    assert "1 tie, 1 of them with both bad: half a win for each." in written_words(printed.stdout)
    found = bb.rank_pairs(content, anchor="y")
    told = json.loads(benchbook_here("judge", "pairs", path, "--anchor", "y", "--json").stdout)
    assert [one["model"] for one in told[0]["models"]] == found.models["model"].to_list()
    assert [one["rate"]["low"] for one in told[0]["models"]] == found.models["rate_low"].to_list()
    assert (told[0]["swap"], told[0]["anchor"], told[0]["n_both_bad"]) == ("tie", "y", 1)
    assert repr(found) == "<PairRankings of 3 models by 8 pairs>"


def test_each_judge_has_its_tables(tmp_path: Path) -> None:
    content = rows("A", "B", "A", judge="k") + rows("A", "B", "tie", judge="j")
    path = written(tmp_path, content)
    printed = written_words(benchbook_here("judge", "pairs", path, "--by", "judge").stdout)
    assert printed.index("verdicts of j on 3 pairs") < printed.index("verdicts of k on 3 pairs")
    assert bb.rank_pairs(content, by="judge").models["judge"].to_list() == ["j", "j", "k", "k"]
    assert "verdicts of 2 judges on 6 pairs" in str(bb.rank_pairs(content))


def test_markup_in_a_name_stays_text() -> None:
    found = bb.rank_pairs(rows("A", "B", a="<b>idea", judge="<i>j"))
    assert "<b>idea" not in found._repr_html_()
    assert "&lt;b&gt;idea" in found._repr_html_()


def test_an_anchor_has_no_interval_of_its_own() -> None:
    lines = str(bb.rank_pairs(rows("A", "B", "A", "A"), anchor="y")).splitlines()
    of_y = next(line for line in lines if line.split()[1:2] == ["y"])
    assert of_y.split()[-5:] == ["–", "–", "1", "to", "2"]
    assert "Against y" in lines[1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(rows("A", "A"), "No strengths: some models won everything against the others", id="separated"),
        pytest.param(
            rows("A", "B") + rows("A", "B", a="v", b="w"), "never compared with one another (v, w; x, y).", id="islands"
        ),
        pytest.param(rows("A", "B", None), "1 pair without a verdict, left out.", id="missing"),
        pytest.param(rows("A", "B", "tie", b="x"), "3 verdicts on a model against itself, left out.", id="itself"),
        pytest.param(
            rows("A", "B", chars_a=1, chars_b=2) + rows("A", "B", a="z"),
            "2 pairs without the answers' lengths, so length is not held equal.",
            id="lengths",
        ),
        pytest.param(rows("A", "B", first="a"), "can't be told: it goes along with which models", id="first"),
        pytest.param(rows(""), "No strengths: there are no values to compute it from.", id="nothing"),
    ],
)
def test_what_is_missing_is_said(content: list[dict[str, Any]], says: str) -> None:
    assert says in str(bb.rank_pairs(content))


def test_one_item_gives_ranks_without_intervals() -> None:
    content = [row | {"item": "q"} for row in rows("A") + rows("A", a="y", b="z") + rows("A", a="z", b="x")]
    found = bb.rank_pairs(content)
    assert "No spread: one cluster alone says nothing about spread between clusters." in str(found)
    assert found.models["rank"].to_list() == [1, 1, 1]
    assert found.models["rank_low"].to_list() == [None, None, None]


def test_what_was_judged_in_both_orders_is_told_with_how_it_counts() -> None:
    content = [
        {"item": n, "model_a": "x", "model_b": "y", "winner_ab": ab, "winner_ba": ba}
        for n, (ab, ba) in enumerate([("A", "A"), ("A", "B"), ("B", "B"), ("tie", "tie")])
    ]
    tie, half = str(bb.rank_pairs(content)), str(bb.rank_pairs(content, swap="half"))
    assert (
        "4 pairs judged in both orders: 1 changed with the order; a win that does not survive counts as a tie." in tie
    )
    assert "1 changed with the order; each order counts half." in half
    assert "at equal chances to be shown first" in half
    assert "at equal chances" not in tie


def test_a_file_that_is_wrong_and_an_anchor_that_is_not_there(tmp_path: Path) -> None:
    path = written(tmp_path, rows("A", "first"))
    printed = benchbook_here("judge", "pairs", path)
    assert (printed.returncode, printed.stdout) == (2, b"")
    assert b"pairs.jsonl:2: winner: found 'first'; expected 1 or 2, A or B" in printed.stderr
    with pytest.raises(InputError):
        bb.rank_pairs(path)
    with pytest.raises(UsageError, match="no verdict on 'w'"):
        bb.rank_pairs(rows("A", "B"), anchor="w")
    assert benchbook_here("judge", "pairs", written(tmp_path, []), "--json").stdout.strip() == b"[]"
    assert "No verdict in it." in written_words(benchbook_here("judge", "pairs", written(tmp_path, [])).stdout)


def test_the_command_knows_the_forms_and_the_weight_of_the_readers() -> None:
    """It does not import them before it is called."""
    options = {one.name: one for one in pairs.params if isinstance(one, click.Option)}
    form = options["form"].type
    assert isinstance(form, click.Choice)
    assert tuple(form.choices) == PAIRS_FORMS
    assert options["strong"].default == STRONG
