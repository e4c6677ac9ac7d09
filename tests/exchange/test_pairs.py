"""Judgements that others published, as verdicts on pairs: small files of the same form, and what is wrong in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError, UsageError
from benchbook.exchange.pairs.reading import PairsForm, form_of, read_pairs
from benchbook.labels.pairs.ranking import rank_by_pairs
from benchbook.labels.pairs.verdicts import Showing


def annotation(instruction: str, preference: Any, **more: Any) -> dict[str, Any]:
    return {
        "dataset": "made_up", "instruction": instruction, "generator_1": "base", "output_1": "four",
        "generator_2": "mine", "output_2": "a dozen", "annotator": "a_judge", "preference": preference,
        "raw_completion": {"tokens": ["m", "M"]}, "price_per_example": 0.01,
    } | more  # fmt: skip


def annotations(tmp_path: Path, rows: list[Any]) -> Path:
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(rows, indent=4), encoding="utf-8")
    return path


def judgment(uid: Any, first: Any, second: Any, **more: Any) -> dict[str, Any]:
    games = [
        one if one is None or isinstance(one, dict) else {"score": one, "judgment": "…"} for one in (first, second)
    ]
    return {"uid": uid, "category": "hard", "judge": "j", "model": "mine", "baseline": "base", "games": games} | more


def judgments(tmp_path: Path, rows: list[Any], name: str = "mine.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# ── AlpacaEval ───────────────────────────────────────────────────────────────────────────────────────────────


def test_a_preference_less_one_is_the_share_of_generator_2(tmp_path: Path) -> None:
    """1, 2, a tie, a tie of old files, a probability, and nothing: the mean over those that were judged."""
    preferences = [1, 2.0, 1.5, 0, 1.7328323962, None]
    path = annotations(tmp_path, [annotation(f"Say {n}.", one) for n, one in enumerate(preferences)])
    verdicts = read_pairs([path])
    assert [one.showings[0].won for one in verdicts] == pytest.approx([1, 0, 0.5, 0.5, 0.2671676038, None])
    assert {(one.judge, one.model_a, one.model_b, one.chars_a, one.chars_b) for one in verdicts} == {
        ("a_judge", "base", "mine", 4, 7)
    }
    assert {one.showings[0].first for one in verdicts} == {None}
    assert len({one.item for one in verdicts}) == 6
    (found,) = rank_by_pairs(verdicts)
    rates = {one.model: one.rate.estimate for one in found.models}
    assert rates["mine"] == pytest.approx((0 + 1 + 0.5 + 0.5 + 0.7328323962) / 5, abs=1e-12)
    assert (found.n_missing, found.n_tied, found.n_both_orders) == (1, 2, 0)


def test_a_model_held_against_itself_is_no_verdict(tmp_path: Path) -> None:
    (found,) = rank_by_pairs(read_pairs([annotations(tmp_path, [annotation("Say it.", 1.5, generator_2="base")])]))
    assert (found.n_itself, found.n_pairs, found.models) == (1, 0, ())


def test_answers_and_the_judge_may_be_missing(tmp_path: Path) -> None:
    (found,) = read_pairs([annotations(tmp_path, [annotation("Say it.", 2, output_1=None, annotator=None)])])
    assert (found.judge, found.chars_a, found.chars_b) == ("judge", None, 7)


def test_the_same_instruction_is_the_same_item_in_several_files(tmp_path: Path) -> None:
    first = annotations(tmp_path, [annotation("Say it.", 2)])
    (tmp_path / "other").mkdir()
    other = annotations(tmp_path / "other", [annotation("Say it.", 1, generator_2="theirs")])
    assert len({one.item for one in read_pairs([first, other])}) == 1
    (tmp_path / "copy.json").write_bytes(first.read_bytes())
    for again, where in ((first, "before"), (tmp_path / "copy.json", f"in {first}")):
        with pytest.raises(InputError) as found:
            read_pairs([first, other, again])
        assert f"of 'base' and 'mine' again, as {where}; expected" in str(found.value)
    lines = judgments(tmp_path, [judgment(1, "A>B", "A>B")] * 2)
    with pytest.raises(InputError, match=r"mine\.jsonl:2: item: found '1' of 'base' and 'mine' again, as on line 1;"):
        read_pairs([lines])


# ── Arena-Hard ───────────────────────────────────────────────────────────────────────────────────────────────

# The score of each game, and what the model won: the baseline is A in the first, and B in the second.
GAMES: list[tuple[Any, Any, float | None, int, float | None, int]] = [
    ("A>B", "B>A", 0.0, 1, 0.0, 1), ("B>A", "A>B", 1.0, 1, 1.0, 1), ("A>>B", "A>>B", 0.0, 3, 1.0, 3),
    ("B>>A", "A<<B", 1.0, 3, 0.0, 3), ("A=B", "B=A", 0.5, 1, 0.5, 1), ("A<B", "B<A", 1.0, 1, 1.0, 1),
    ("[[A>B]]", "b>>a", 0.0, 1, 0.0, 3), (None, "A>B", None, 1, 1.0, 1),
]  # fmt: skip


def test_games_are_both_orders_with_the_baseline_first_at_first(tmp_path: Path) -> None:
    rows = [judgment(f"q{place}", first, second) for place, (first, second, *_) in enumerate(GAMES)]
    rows.append(judgment("null", None, {"score": None}))
    found = read_pairs([judgments(tmp_path, rows)])
    assert {(one.model_a, one.model_b, one.judge) for one in found} == {("base", "mine", "j")}
    for one, (_, _, first, first_weight, second, second_weight) in zip(found, GAMES, strict=False):
        assert one.showings == (
            Showing(won=None if first is None else 1 - first, first="a", weight=first_weight),
            Showing(won=None if second is None else 1 - second, first="b", weight=second_weight),
        )
    assert found[-1].showings == (Showing(won=None, first="a"), Showing(won=None, first="b"))


def test_win_rates_of_whole_judgments_are_those_that_the_tool_reports(tmp_path: Path) -> None:
    """Each game counts once, or three times with >>: the mean over all of them."""
    whole = [one for one in GAMES if one[0] is not None]
    rows = [judgment(place, first, second) for place, (first, second, *_) in enumerate(whole)]
    (found,) = rank_by_pairs(read_pairs([judgments(tmp_path, rows)]), swap="half")
    won = sum(first * n + second * m for _, _, first, n, second, m in whole if first is not None and second is not None)
    rates = {one.model: one.rate.estimate for one in found.models}
    assert rates["mine"] == pytest.approx(won / sum(n + m for _, _, _, n, _, m in whole), abs=1e-12)
    assert (found.n_strong, found.strong) == (5, 3)
    (plain,) = rank_by_pairs(read_pairs([judgments(tmp_path, rows)], strong=1), swap="half")
    assert {one.model: one.rate.estimate for one in plain.models}["mine"] == pytest.approx(
        sum(first + second for _, _, first, _, second, _ in whole if first is not None and second is not None) / 14
    )


def test_a_file_of_the_first_version_does_not_say_what_the_baseline_was(tmp_path: Path) -> None:
    old = {
        "question_id": "q",
        "model": "mine",
        "judge": "j",
        "games": [{"user_prompt": "…", "judgment": "…", "score": "B>A"}] * 2,
    }
    path = judgments(tmp_path, [old])
    assert [one.model_a for one in read_pairs([path])] == ["baseline"]
    assert [one.model_a for one in read_pairs([path], baseline="first-of-all")] == ["first-of-all"]
    categories = [old | {"question_id": name, "category": name} for name in ("code", "prose")]
    path = judgments(tmp_path, categories)
    assert [one.model_a for one in read_pairs([path])] == ["baseline of code", "baseline of prose"]


def test_one_game_is_one_order(tmp_path: Path) -> None:
    path = judgments(tmp_path, [judgment(1, "A>B", None) | {"games": [{"score": "B>A"}]}])
    (found,) = read_pairs([path])
    assert found.showings == (Showing(won=0.0, first="a"),)


# ── which is which ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        pytest.param("a.txt", '\ufeff [ {"instruction": ""}]', "alpaca_eval", id="an array"),
        pytest.param("a", '{"games": [], "model": ""}\n', "arena_hard", id="games"),
        pytest.param("a", '{"model": "m", "games" : [{"judgment": "' + "x" * (1 << 20), "arena_hard", id="a long line"),
        pytest.param("a.jsonl", '{"games": 1}\n', "table", id="no model"),
        pytest.param("a.csv", "item,model_a\n", "table", id="csv"),
        pytest.param("a.jsonl", "", "table", id="empty"),
    ],
)
def test_the_form_is_told_by_what_is_in_a_file(tmp_path: Path, name: str, text: str, form: PairsForm) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert form_of(tmp_path / name) == form


def test_a_form_that_nobody_knows_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("item,model_a\n", encoding="utf-8")
    with pytest.raises(UsageError, match="can't tell its form; say --format"):
        form_of(tmp_path / "a.txt")
    with pytest.raises(UsageError, match="can't be read"):
        form_of(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("form", "text", "says"),
    [
        pytest.param("alpaca_eval", json.dumps([annotation("a", 2.5)]), "preference: found 2.5 in object 1", id="2.5"),
        pytest.param("alpaca_eval", json.dumps([annotation("a", 1), {}]), "object 2", id="no instruction"),
        pytest.param("alpaca_eval", json.dumps([annotation("a", "two")]), "preference", id="a word"),
        pytest.param("alpaca_eval", '[{"instruction": "a"', "annotations", id="cut off"),
        pytest.param("alpaca_eval", '{"a": 1}', "expected an array", id="no array"),
        pytest.param("arena_hard", json.dumps(judgment(1, "A>C", None)), ":1: games.score: found 'A>C'", id="A>C"),
        pytest.param("arena_hard", json.dumps(judgment(None, "A>B", None)), ":1: uid: found nothing", id="no uid"),
        pytest.param(
            "arena_hard", json.dumps(judgment(1, 1, 1) | {"games": []}), ":1: games: found 0 games", id="none"
        ),
        pytest.param("arena_hard", '{"model": 1, "games": []}', ":1", id="a number for a name"),
        pytest.param("arena_hard", "{", ":1", id="no JSON"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place(tmp_path: Path, form: PairsForm, text: str, says: str) -> None:
    path = tmp_path / "annotations"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as found:
        read_pairs([path], form=form)
    assert says in str(found.value)
