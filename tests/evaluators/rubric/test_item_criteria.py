"""Criteria that each item brings itself: what the judge is told, what its reply says, what that is worth."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from krippendorff import alpha

from benchbook.comparison.compared import compare
from benchbook.comparison.records import compared_run
from benchbook.errors import InputError, UsageError
from benchbook.evalsets import Item
from benchbook.evalsets.requirements import ItemCriterion, criteria_faults
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.evaluators.registry import evaluator_asked_for, evaluator_of
from benchbook.evaluators.rubric.outcomes import outcome_in
from benchbook.evaluators.rubric.plan import JudgePrompt, reply_schema
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.reply import Judged, Met, Parsed, met_by_panel, parse_reply, score_of
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.verify import verify
from benchbook.record.tables import read_rows
from own_rubric import BY_ITEM, met
from own_rubric import own_run as by_item_run
from running import benchbook_here, run
from scripted_server import JUDGE_WORDS, OK_CANDIDATE, OK_JUDGE, running

CRITERIA = [
    {"text": "Names the 30 days.", "weight": 5},
    {"text": "Is short.", "weight": 3},
    {"text": "Blames the customer.", "weight": -4},
]
PROMPT = JUDGE_WORDS + "\n{{criteria}}\n{{item.prompt}} {{answer}}\n{{reply}}\n"


def toml(table: str = "[item_criteria]", more: str = "", gates: str = "") -> str:
    gates = gates or '[[gates]]\naggregate = "item_criteria_mean"\nat_least = 0.4\n'
    return f'name = "own"\nversion = 1\nabout = "x"\n{table}\n{more}\n{gates}'


def spec_with(table: str = "[item_criteria]", more: str = "") -> RubricSpec:
    return read_rubric({"spec.toml": toml(table, more).encode(), "prompt.txt": PROMPT.encode()})


ITEM = Item(id="a", prompt="How long?", criteria=CRITERIA)
TONE = '[[criteria]]\nname = "tone"\nquestion = "Kind?"\nscale = [0, 1]\nquote = true\n'


def weighted(*weights: float) -> list[ItemCriterion]:
    return [ItemCriterion("x", Fraction(str(weight))) for weight in weights]


@pytest.mark.parametrize(
    ("weights", "met", "score_nano"),
    [
        ((5, 3, -4), (True, True, False), NANO),
        ((5, 3, -4), (False, False, False), 0),
        ((5, 3, -4), (True, False, False), 625_000_000),  # 5 / 8
        ((5, 3, -4), (True, True, True), 500_000_000),  # 4 / 8
        ((5, 3, -4), (False, True, True), 0),  # -1 / 8, clipped
        ((1, 1, 1), (True, True, False), 666_666_667),
        ((0.1, 0.2), (True, False), 333_333_333),  # a tenth of three, and no double's
        ((1, 1e-6), (False, True), 1_000),  # 0.000001 / 1.000001 = 0.00000099999900…
        ((2,), (True,), NANO),
    ],
)
def test_what_it_comes_to(weights: tuple[float, ...], met: tuple[bool, ...], score_nano: int) -> None:
    found = [Met(one, is_met, None) for one, is_met in zip(weighted(*weights), met, strict=True)]
    assert score_of(found) == score_nano


@given(st.lists(st.tuples(st.integers(-10, 10).filter(bool), st.booleans()), min_size=1, max_size=8))
def test_more_that_should_be_met_is_never_worse(given_: list[tuple[int, bool]]) -> None:
    criteria = [*weighted(*(weight for weight, _ in given_)), *weighted(1)]
    met = [Met(one, is_met, None) for one, (_, is_met) in zip(criteria, given_, strict=False)]
    without, with_it = (score_of([*met, Met(criteria[-1], is_met, None)]) for is_met in (False, True))
    assert 0 <= without <= with_it <= NANO


def verdict(*met: Any, **more: Any) -> str:
    of_each = {str(number): {"met": one} for number, one in enumerate(met, start=1)}
    return json.dumps({"item_criteria": of_each, "rationale": "So."} | more)


def test_a_reply_says_which_are_met() -> None:
    parsed = parse_reply(verdict(True, False, True), spec_with(), judged=Judged("30 days", ITEM))
    assert isinstance(parsed, Parsed)
    assert parsed.scores == (125_000_000,)  # (5 - 4) / 8
    assert [(one.criterion.text, one.met, one.rationale) for one in parsed.met] == [
        ("Names the 30 days.", True, None), ("Is short.", False, None), ("Blames the customer.", True, None),
    ]  # fmt: skip


EACH = "[item_criteria]\nrationale = true"
WHY = {"met": True, "rationale": "Why."}


@pytest.mark.parametrize(
    ("table", "reply", "reason", "detail"),
    [
        ("[item_criteria]", json.dumps({"rationale": "So."}), "missing_key", "there is no 'item_criteria'"),
        ("[item_criteria]", verdict(True, True), "missing_key", 'there is no item_criteria["3"]'),
        ("[item_criteria]", verdict(True, True, 1), "bad_score_type",
         'met in item_criteria["3"] is integer, not true or false'),
        ("[item_criteria]", verdict(True, None, True), "bad_score_type",
         'met in item_criteria["2"] is null, not true or false'),
        ("[item_criteria]", verdict(item_criteria=[True]), "bad_score_type", "item_criteria is array, not an object"),
        ("[item_criteria]", verdict(item_criteria={"1": True, "2": True, "3": True}), "bad_score_type",
         'item_criteria["1"] is boolean, not an object with met'),
        ("[item_criteria]", verdict(item_criteria={"1": {}, "2": {}, "3": {}}), "missing_key",
         'there is no met in item_criteria["1"]'),
        ("[item_criteria]", verdict(True, True, True, rationale=""), "bad_rationale", "rationale is empty"),
        (EACH, verdict(True, True, True), "missing_key", 'there is no rationale in item_criteria["1"]'),
        (EACH, verdict(item_criteria={"1": WHY, "2": WHY | {"rationale": " "}, "3": WHY}), "bad_rationale",
         'of item_criteria["2"]: rationale is empty'),
        (EACH, verdict(item_criteria={"1": WHY, "2": WHY | {"rationale": "word " * 81}, "3": WHY}), "bad_rationale",
         'of item_criteria["2"]: rationale has 81 words, over 80'),
    ],
)  # fmt: skip
def test_what_is_no_reply(table: str, reply: str, reason: str, detail: str) -> None:
    found = parse_reply(reply, spec_with(table), judged=Judged("30 days", ITEM))
    assert not isinstance(found, Parsed)
    assert (found.reason, found.detail) == (reason, detail)


def test_what_the_judge_is_told() -> None:
    assert JudgePrompt(spec_with(EACH)).render(ITEM, "30 days.") == (
        f"{JUDGE_WORDS}\n"
        "- item_criteria (of each, by its number: true where it holds of the answer):\n"
        "  1. Names the 30 days.\n  2. Is short.\n  3. Blames the customer.\n"
        "How long? 30 days.\n"
        '{"item_criteria": {"1": {"rationale": "<why, in at most 80 words>", "met": <true | false>}, '
        '"2": {"rationale": "<why, in at most 80 words>", "met": <true | false>}, '
        '"3": {"rationale": "<why, in at most 80 words>", "met": <true | false>}}, '
        '"rationale": "<why, in at most 80 words>"}\n'
    )
    one = {"type": "object", "properties": {"met": {"type": "boolean"}}, "required": ["met"],
           "additionalProperties": False}  # fmt: skip
    assert reply_schema(spec_with(), 2) == {
        "type": "object",
        "properties": {
            "item_criteria": {"type": "object", "properties": {"1": one, "2": one}, "required": ["1", "2"],
                              "additionalProperties": False},
            "rationale": {"type": "string"},
        },
        "required": ["item_criteria", "rationale"],
        "additionalProperties": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("criteria", "faults"),
    [
        (CRITERIA, []),
        (None, ["criteria: null; 1 to 200 criteria"]),
        ("short", ["criteria: a string; 1 to 200 criteria"]),
        ([], ["criteria: none; 1 to 200 criteria"]),
        (CRITERIA * 67, ["criteria: 201 of them; 1 to 200 criteria"]),
        (["short"], ["criteria[0]: a string; an object with text and weight"]),
        (
            [{"text": "a", "weight": -1}, {"text": "b", "weight": -2}],
            ["criteria: negative weights alone; at least one"],
        ),
        (
            [CRITERIA[0], {"text": " ", "weight": 0}, {"criterion": "a", "points": 3}, {"text": 3, "weight": "3"}],
            [
                "criteria[1].text: nothing but white space; what an answer should do",
                "criteria[1].weight: 0; a number that is not 0",
                "criteria[2].text: nothing ('criterion' is there: rename it); what",
                "criteria[2].weight: nothing ('points' is there: rename it); a number",
                "criteria[3].text: a number; what",
                "criteria[3].weight: a string; a number",
            ],
        ),
        ([{"text": "a", "weight": True}], ["criteria[0].weight: true; a number"]),
        ([{"text": "a", "weight": 1e7}], ["criteria[0].weight: a number out of range; a number"]),
        ([{"text": "a", "weight": float("inf")}], ["criteria[0].weight: a number out of range; a number"]),
        ([{"text": "a", "weight": 10**400}], ["criteria[0].weight: a number out of range; a number"]),
        ([{"text": "a", "weight": 1e-300}], ["criteria[0].weight: a number out of range; a number"]),
    ],
)
def test_faults_of_an_items_criteria(criteria: Any, faults: list[str]) -> None:
    found = [f"{field}: {what}; {expected}" for field, what, expected in criteria_faults(criteria)]
    assert len(found) == len(faults), found
    for one, start in zip(found, faults, strict=True):
        assert one.startswith(start)


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def written(folder: Path, table: str = "[item_criteria]", more: str = "", gates: str = "") -> str:
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(toml(table, more, gates), encoding="utf-8")
    (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    return str(folder)


ITEMS = [
    {"id": "a", "prompt": "What is 0 + 1?", "criteria": CRITERIA},
    {"id": "b", "prompt": "What is 1 + 1?", "criteria": CRITERIA[:1]},
    {"id": "c", "prompt": "What is 2 + 1?", "criteria": [*CRITERIA[1:], {"text": "Is kind.", "weight": 0.5}]},
]
MET = {0: (True, False, False), 1: (False,), 2: (True, True, True)}
# 5 / 8 = 0.625; 0 / 5; (3 - 4 + 0.5) / 3.5, clipped to 0. Their mean is 0.208333333.
# Five positive, of which the first, the short one of c and the kind one are met; two negative, of which c's is.


def judge(met: dict[int, tuple[bool, ...]], **more: Any) -> Any:
    def replies(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del n
        if role == "candidate":
            return OK_CANDIDATE
        item = int(request["messages"][0]["content"].partition("What is ")[2].partition(" +")[0])
        return OK_JUDGE | {"content": verdict(*met[item], **more)}

    return replies


def own_run(folder: Path, server: Any, spec: str, name: str = "run", items: Any = ITEMS, **more: Any) -> Any:
    path = folder / f"{name}-items.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in items), encoding="utf-8")
    settings = {"evalset": str(path), "spec": spec, "run_id": name, "max_connections": 1, "reports": None}
    return run(folder, server, 1, **(settings | more))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, list[Any]]:
    folder = tmp_path_factory.mktemp("items")
    spec = written(folder / "own@v1")
    with running(judge(MET)) as server:
        first = own_run(folder, server, spec, judge_json_schema=True)
        asked = server.asked["judge"]
    with running(judge(MET | {1: (True,)})) as server:
        second = own_run(folder, server, spec, "better", items=ITEMS)
    shutil.rmtree(spec)
    return first, second, asked


def test_a_run_by_the_items_own(made: tuple[Any, Any, list[Any]]) -> None:
    result, _, asked = made
    rows = pl.read_parquet(result.record.samples)
    assert rows["item_criteria_score"].to_list() == rows["sample_score"].to_list() == [0.625, 0.0, 0.0]
    assert rows["item_criteria_norm"].to_list() == [0.625, 0.0, 0.0]
    assert rows["item_criteria"].to_list()[2] == [
        {"number": 1, "text": "Is short.", "weight": 3.0, "met": True, "rationale": None},
        {"number": 2, "text": "Blames the customer.", "weight": -4.0, "met": True, "rationale": None},
        {"number": 3, "text": "Is kind.", "weight": 0.5, "met": True, "rationale": None},
    ]
    found = json.loads(result.record.aggregates.read_bytes())
    expected = {
        "item_criteria_mean": 0.208333333, "item_criteria_full_credit_rate": 0.0,
        "item_criteria_failure_rate": 0.666666667, "item_criteria_positive": 5, "item_criteria_positive_met": 3,
        "item_criteria_negative": 2, "item_criteria_negative_met": 1, "aggregate_score": 0.208333333,
    }  # fmt: skip
    assert {name: found["aggregates"][name] for name in expected} == expected
    assert not any(name.endswith("_counts") for name in found)
    assert (
        0 <= found["intervals"]["item_criteria_mean"]["low"] < 0.21 < found["intervals"]["item_criteria_mean"]["high"]
    )
    numbers = [
        list(one["response_format"]["json_schema"]["schema"]["properties"]["item_criteria"]["properties"])
        for one in asked
    ]
    assert numbers == [["1", "2", "3"], ["1"], ["1", "2", "3"]]
    assert verify(result.record).holds


def test_the_two_runs_are_compared(made: tuple[Any, Any, list[Any]]) -> None:
    first, second, _ = made
    pair = compare(compared_run(first.record), compared_run(second.record))
    assert pair.score.difference == pytest.approx(1 / 3, abs=1e-8)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("show", "run"), 0, "Items' own criteria, mean"),
        (("show", "run", "--sample", "2"), 0, '"text": "Is kind."'),
        (("show", "run", "--json"), 0, ""),
        (("verify", "run"), 0, ""),
        (("gate", "run", "--confidence", "none"), 1, ""),
        (("gate", "better", "--confidence", "none"), 0, ""),
        (("gate", "better", "--baseline", "run", "--max-regressions", "0", "--allow-undecided"), 0, ""),
        (("leaderboard", "run", "better"), 0, ""),
        (("compare", "run", "better"), 0, ""),
        (("label", "sample", "run", "--n", "2", "--out", "labels"), 0, ""),
    ],
)
def test_other_commands_take_it(made: tuple[Any, Any, list[Any]], words: tuple[str, ...], code: int, says: str) -> None:
    done = benchbook_here(*words, cwd=made[0].record.path.parents[1])
    assert done.returncode == code, done.stdout + done.stderr
    assert says in done.stdout.decode()


def test_its_report(made: tuple[Any, Any, list[Any]], tmp_path: Path) -> None:
    done = benchbook_here("rescore", str(made[0].record.path), "--reports", str(tmp_path))
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "not met, weight -4" in report
    assert "1. Names the 30 days." in report
    assert "item_criteria" in (tmp_path / "run" / "samples.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "I 0.6250" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_beside_other_criteria_and_repeats(tmp_path: Path) -> None:
    """By the weights 1 and 3: item a is worth (1 + 3 · 0.625) / 4 = 0.71875; of the others 0.25."""
    table = "[item_criteria]\nweight = 3\nat_least = 0.625\n[pass]\nat_least = 1"
    spec = written(tmp_path / "own", table, TONE.replace("quote = true", "quote = true\nat_least = 1"))
    with running(judge(MET, tone_score=1, tone_quote="Seven.")) as server:
        result = own_run(tmp_path, server, spec, repeats=2)
    rows = pl.read_parquet(result.record.samples)
    assert rows["sample_score"].to_list() == [0.71875, 0.25, 0.25] * 2
    assert rows["tone_score"].to_list() == [1] * 6
    assert rows["passed"].all()
    assert [one[0]["found"] for one in rows["quotes"].to_list()] == ["exact"] * 6
    assert result.derived.aggregates.item_agreement.same_scores == 3
    assert verify(result.record).holds
    assert benchbook_here("show", str(result.record.path)).returncode == 0


def test_slices_have_their_mean(tmp_path: Path) -> None:
    spec = written(tmp_path / "own")
    items = [one | {"section": "x"} for one in ITEMS[:2]]
    with running(judge(MET)) as server:
        result = own_run(tmp_path, server, spec, items=items)
    (one,) = result.derived.aggregates.slices
    assert (one.item_criteria_mean, one.aggregate_score) == (0.3125, 0.3125)
    assert verify(result.record).holds


def test_no_answer_and_no_reply(tmp_path: Path) -> None:
    spec = written(tmp_path / "own")

    def replies(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if role == "candidate":
            return OK_CANDIDATE | ({"content": ""} if n == 0 else {})
        return judge(MET | {2: (True,)})(role, n, request)  # item c has three

    with running(replies) as server:
        result = own_run(tmp_path, server, spec)
    rows = pl.read_parquet(result.record.samples)
    assert rows["item_criteria_score"].to_list() == [0.0, 0.0, None]
    assert rows["fail_reasons"].to_list() == [["no_answer"], [], ["item_criteria_unscored"]]
    assert rows["parse_error_reason"].to_list() == [None, None, "missing_key"]
    found = json.loads(result.record.aggregates.read_bytes())
    assert found["cases"]["item_criteria_mean"] == {"worst": 0.0, "best": 0.333333333}
    assert verify(result.record).holds


@pytest.mark.slow
def test_it_stops_once_it_is_decided_and_is_held_against_another(tmp_path: Path) -> None:
    """Who finds out where a run stopped, or which samples of another passed, needs the items."""
    spec = written(tmp_path / "own", "[item_criteria]\nat_least = 0.5")
    items = [{"id": f"i{n}", "prompt": f"What is {n} + 1?", "criteria": CRITERIA} for n in range(30)]
    good, bad = (dict.fromkeys(range(30), met) for met in ((True, True, False), (False, False, True)))
    with running(judge(bad)) as server:
        worse = own_run(tmp_path, server, spec, "worse", items=items)
    with running(judge(good)) as server:
        early = own_run(tmp_path, server, spec, "early", items=items, until_decided=True)
        against = own_run(
            tmp_path, server, spec, "against", items=items, evalset=str(tmp_path / "worse-items.jsonl"),
            until_decided=True, against=str(worse.record.path),
        )  # fmt: skip
    assert early.derived.aggregates.early_stop.decision == "READY"
    assert against.derived.aggregates.early_stop.against.verdict == "better"
    for result in (early, against):
        assert result.derived.aggregates.early_stop.after_items < 30
        assert verify(result.record).holds


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"id": "b", "prompt": "x"}, "items.jsonl:2: criteria: found nothing; expected 1 to 200 criteria"),
        (
            {"id": "b", "prompt": "x", "criteria": [{"text": "a", "weight": 0}]},
            "items.jsonl:2: criteria[0].weight: found 0; expected a number that is not 0",
        ),
    ],
)
def test_an_item_without_them_is_told_before_anything_is_asked(tmp_path: Path, item: Any, says: str) -> None:
    spec = written(tmp_path / "own")
    with running(judge(MET)) as server:
        with pytest.raises(InputError) as told:
            own_run(tmp_path, server, spec, items=[ITEMS[0], item])
        assert not server.asked["candidate"]
    assert says in str(told.value)
    assert str(told.value).endswith("own@v1 scores each item by its own")
    done = benchbook_here("rubric", "check", spec, "--evalset", str(tmp_path / "run-items.jsonl"))
    assert (done.returncode, says in done.stderr.decode()) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("given_by_judges", "rule", "found"),
    [
        (["TFF", "TTT", "FTF"], "majority", "TTF"),
        (["TFF", "TTT", "FTF"], "mean", "TTF"),
        (["TFF", "TTT", "FTF"], "worst", "FFT"),  # what should not be is met where one says so
        (["TFF", "FFT"], "majority", "FFT"),  # of two the lower: not met, and met of what should not be
        (["TTF", "TTF", None], "majority", "TTF"),
        (["TFF", "TTF", None], "majority", None),  # the third decides the second
        (["FFT", None], "worst", "FFT"),
        (["TFT", None], "worst", None),
        ([None, None], "mean", None),
    ],
)
def test_what_a_panel_finds_met(given_by_judges: list[str | None], rule: PanelRule, found: str | None) -> None:
    criteria = weighted(5, 3, -4)
    given = [
        None if said is None else [Met(one, mark == "T", said) for one, mark in zip(criteria, said, strict=True)]
        for said in given_by_judges
    ]
    panel = met_by_panel(given, rule)
    assert (None if panel is None else "".join("FT"[one.met] for one in panel)) == found
    for number, one in enumerate(panel or ()):  # in the words of the first who says so
        said = [words for words in given_by_judges if words is not None and words[number] == "FT"[one.met]]
        assert one.rationale == said[0]


@pytest.fixture(scope="module")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Of a the judges say TFF, TTT and FTF, so the panel TTF; of b all T; of c TF, TT, TF, where the second should
    not be."""
    said = [["TFF", "TTT", "FTF"], ["T", "T", "T"], ["TF", "TT", "TF"]]
    verdicts = [[met(*(mark == "T" for mark in one)) for one in item] for item in said]
    criteria = [CRITERIA, CRITERIA[:1], CRITERIA[1:]]
    return by_item_run(tmp_path_factory.mktemp("panel"), verdicts, BY_ITEM, criteria=criteria)


def test_a_panel_scores_them_criterion_by_criterion(panel: Any) -> None:
    rows = pl.read_parquet(panel.record.samples)
    assert rows["item_criteria_score"].to_list() == [1.0, 1.0, 1.0]
    assert [[one["met"] for one in row] for row in rows["item_criteria"].to_list()] == [
        [True, True, False], [True], [True, False],
    ]  # fmt: skip
    votes = rows["votes"].to_list()
    assert [vote["item_criteria_score"] for vote in votes[0]] == [0.625, 0.5, 0.375]
    assert [[one["met"] for one in vote["item_criteria"]] for vote in votes[2]] == [
        [True, False],
        [True] * 2,
        [True, False],
    ]
    assert rows["spread"].to_list() == [3, 0, 1]
    assert rows["n_dissenting"].to_list() == [3, 0, 1]
    assert rows["rationale"].to_list() == [None, "It is so.", "It is so."]  # of a nobody says what the panel does
    assert panel.derived.aggregates.aggregates.item_criteria_negative_met == 0
    assert verify(panel.record).holds


def test_the_outcome_in_a_row_has_the_scores_that_it_was_scored_by(panel: Any) -> None:
    """The share of a, b and c is 1: in billionths, as out of the facts."""
    evaluator = evaluator_of(panel.record)
    rows = read_rows(panel.record.samples, evaluator.tables(panel.record.started())["samples.parquet"])
    assert [outcome_in(row, evaluator.spec).scores for row in rows] == [(NANO,)] * 3


def test_what_a_panel_over_them_says(panel: Any) -> None:
    """Each judge's share of c is 1, 0 (3 less 4 of 3, clipped) and 1."""
    record = panel.record
    evaluator = evaluator_of(record)
    found = evaluator.panel(
        panel.derived, read_rows(record.samples, evaluator.tables(record.started())["samples.parquet"])
    )
    assert found is not None
    means = [judge.item_criteria_mean for judge in found.judges]
    assert means == pytest.approx([2.625 / 3, 1.5 / 3, 2.375 / 3])
    assert [judge.same_as_panel for judge in found.judges] == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert [split.item_criteria_scores for split in found.splits] == [[0.625, 0.5, 0.375], [1.0, 0.0, 1.0]]
    assert [(pair.n, pair.same_scores) for pair in found.pairs] == [(3, pytest.approx(n / 3)) for n in (1, 2, 1)]
    marks = [[1, 0, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 1, 0]]
    expected = alpha(reliability_data=marks, level_of_measurement="ordinal")
    assert found.alpha["item_criteria_score"].estimate == pytest.approx(float(expected))
    done = benchbook_here("panel", str(record.path))
    assert (done.returncode, b"0.625 0.5 0.375" in done.stdout) == (0, True), done.stderr
    assert benchbook_here("show", str(record.path), "--sample", "0").returncode == 0


def test_replies_are_parsed_with_their_item(tmp_path: Path) -> None:
    evaluator = evaluator_asked_for(written(tmp_path / "own"))
    case = {"id": "1", "reply": verdict(True, False, False), "answer": "x", "item": ITEMS[0]}
    found = evaluator.parse_line(case)
    assert (found["item_criteria_score"], found["item_criteria"][0]["met"]) == (0.625, True)
    with pytest.raises(UsageError, match=r"item\.criteria: found null"):
        evaluator.parse_line(case | {"item": {"id": "a", "prompt": "x"}})
