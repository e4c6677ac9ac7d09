"""What an answer costs is compared where it is known, as it was measured or by tokens and prices; else not at all."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.comparison.by_metric import choices
from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.records import compared_part, compared_run, rows_of_items
from benchbook.evaluators.costs import Prices, known_prices, with_costs
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record
from benchbook.views.comparison_overview import whole_table
from benchbook.views.comparison_tables import differences_table
from benchbook.views.numbers import cells
from own_scorers import equal
from running import benchbook_here, run, write_items
from scripted_server import OK_CANDIDATE, OK_JUDGE, ScriptedServer, running

PRICES = {"model_input_price": Decimal(3), "model_output_price": Decimal(15)}
OWN = """
name = "own"
version = 1
about = "x"
[[criteria]]
name = "good"
question = "?"
scale = [0, 1]
[[gates]]
aggregate = "good_mean"
at_least = 0.5
"""


def answering(*written: int | None) -> Any:
    """Answers of 20 tokens read and so many written, in the order of the items; None: nobody says how many."""

    def replies(role: str, n: int, request: Mapping[str, Any]) -> dict[str, Any]:
        if role == "judge":
            return OK_JUDGE
        number = int(request["messages"][0]["content"].split()[2])
        tokens = written[number]
        usage = None if tokens is None else {"prompt_tokens": 20, "completion_tokens": tokens}
        return OK_CANDIDATE | {"usage": usage, "content": str(number + 1)}

    return replies


def compared(a: Record, b: Record) -> Comparison:
    return compare(compared_run(a), compared_run(b))


def cost_in(found: Comparison) -> Any:
    return next((one.difference for one in found.metrics if one.name == "cost_usd"), None)


def run_of(folder: Path, server: ScriptedServer, name: str, n: int, **settings: Any) -> Record:
    return run(folder, server, n, run_id=name, reports=None, **settings).record


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Record]:
    """In millionths of a dollar 90 (20 tokens read at 3, 2 written at 15), 120, 150, unknown; 180, 210, 240, 270."""
    folder, found = tmp_path_factory.mktemp("cost"), []
    for name, written in (("a", (2, 4, 6, None)), ("b", (8, 10, 12, 14))):
        with running(answering(*written)) as server:
            found.append(run_of(folder, server, name, 4, **PRICES))
    return found[0], found[1]


def test_cost_is_compared_by_tokens_and_prices_over_the_items_of_which_both_are_known(
    two: tuple[Record, Record],
) -> None:
    found = cost_in(compared(*two))
    assert (found.n, found.mean_a, found.mean_b, found.difference) == (3, 0.00012, 0.00021, 0.00009)
    assert (found.n_lost, found.n_won) == (3, 0)  # the cheaper the better
    last = cells(differences_table(compared(*two)))[-1]
    assert [last[0], *last[1:4], last[5]] == ["Cost", "$0.00012", "$0.00021", "+$0.00009", "3 lost, 0 won of 3"]
    assert "cost_usd" not in pl.read_parquet_schema(two[0].samples)


def test_the_command_line_and_json_say_it_too(two: tuple[Record, Record]) -> None:
    words = ("compare", str(two[0].path), str(two[1].path), "--json")
    metrics = json.loads(benchbook_here(*words).stdout)["comparisons"][0]["metrics"]
    assert [(one["name"], one["higher_is_better"]) for one in metrics][-1] == ("cost_usd", False)


@pytest.mark.parametrize(
    "prices", [(), ("model_input_price",), ("model_output_price",), ("judge_input_price", "judge_output_price")]
)
def test_where_it_is_not_known_there_is_none(
    two: tuple[Record, Record], tmp_path: Path, prices: tuple[str, ...]
) -> None:
    with running(answering(8, 10, 12, 14)) as server:
        other = run_of(tmp_path, server, "b", 4, **dict.fromkeys(prices, Decimal(3)))
    assert "cost_usd" not in compared_run(other).items.columns
    assert cost_in(compared(two[0], other)) is None
    assert cost_in(compared(other, two[0])) is None


def test_what_costs_nothing_costs_0(two: tuple[Record, Record], tmp_path: Path) -> None:
    with running(answering(8, 10, 12, 14)) as server:
        free = run_of(tmp_path, server, "b", 4, model_input_price=Decimal(0), model_output_price=Decimal(0))
    assert (cost_in(compared(two[0], free)).mean_b, cost_in(compared(two[0], free)).n_won) == (0.0, 3)


def test_what_was_measured_is_what_is_compared(tmp_path: Path) -> None:
    """The column that a rubric of one's own has, and not another time from the tokens."""
    spec = tmp_path / "own"
    spec.mkdir()
    (spec / "spec.toml").write_text(f"{OWN}[measures.cost]\nat_most = 0.0002\n", encoding="utf-8")
    (spec / "prompt.txt").write_text("You are a strict evaluation judge. {{answer}} {{criteria}} {{reply}}", "utf-8")
    reply = {"content": json.dumps({"good_score": 1, "rationale": "So."})}
    found = []
    for name, written in (("a", (2, 4)), ("b", (6, 8))):
        answers = answering(*written)

        def replies(role: str, n: int, request: Any, answers: Any = answers) -> Any:
            return answers(role, n, request) | (reply if role == "judge" else {})

        with running(replies) as server:
            found.append(run_of(tmp_path, server, name, 2, spec=str(spec), **PRICES))
    rows = pl.scan_parquet(found[0].samples)
    assert with_costs(rows, PRICES) is rows
    cost = cost_in(compared(*found))
    assert (cost.mean_a, cost.mean_b) == (0.000105, 0.000165)


@pytest.mark.parametrize("spec", ["answer_correctness@v1", "number@v1", bb.scorer(name="same")(equal)], ids=str)
def test_cost_of_answers_without_a_judge(tmp_path: Path, spec: Any) -> None:
    evalset = write_items(tmp_path / "items.jsonl", 3)
    records = []
    for name, written in (("a", (2, 4, 6)), ("b", (2, 4, 0))):
        with running(answering(*written)) as server:
            made = bb.score(
                str(evalset), spec=spec, model="openai/m@1", model_base_url=server.base_url, runs=tmp_path, run_id=name,
                **PRICES,
            )  # fmt: skip
        records.append(Record(made.path))
    found = cost_in(compared(*records))
    assert (found.n, found.mean_a, found.mean_b, found.n_won) == (3, 0.00012, 0.00009, 1)
    assert rows_of_items(records[0]) is not None
    part = compared_part(records[0], evaluator_of(records[0]), 1, 3)
    assert part["cost_usd"].to_list() == [0.00012, 0.00015]


def test_predictions_that_were_made_elsewhere_have_none(tmp_path: Path) -> None:
    evalset = write_items(tmp_path / "items.jsonl", 2)
    answers = [{"item_id": "i0", "predicted": "1"}, {"item_id": "i1", "predicted": "3"}]
    made = [Record(bb.score(str(evalset), answers, runs=tmp_path, run_id=name).path) for name in ("a", "b")]
    assert compared(*made).metrics == ()


def test_columns_are_worked_out_as_single_answers_are() -> None:
    """To the billionth, ties to even, however odd the prices and however many the tokens."""
    drawn = random.Random(7)
    tokens = [(0, 0), (1, 0), (3, 1), (None, 2), (2, None), (10**8, 10**8)]
    tokens += [(drawn.randrange(10**6), drawn.randrange(10**5)) for _ in range(200)]
    rows = pl.LazyFrame(tokens, {"input_tokens": pl.Int64, "output_tokens": pl.Int64}, orient="row")
    for pair in (
        ("3", "15"),
        ("0.15", "0.6"),
        ("0.0005", "0"),
        ("0.0015", "0.0005"),
        ("0", "0"),
        (0.1, 0.30000000000000004),
    ):
        config = {"model_input_price": pair[0], "model_output_price": pair[1]}
        one_by_one = [Prices.of(*pair).cost_nano_usd(*one) for one in tokens]
        found = with_costs(rows, config).collect()["cost_usd"].to_list()
        assert found == [None if nano is None else nano / 1e9 for nano in one_by_one]


@pytest.mark.parametrize(
    "price", [None, "", "x", "NaN", "Infinity", "-1", "1e99999999", "1e-99999999", True, [], "1e12"]
)
def test_what_is_no_price_is_none(price: Any) -> None:
    assert known_prices({"model_input_price": price, "model_output_price": "1"}) is None
    assert known_prices({"model_input_price": "1", "model_output_price": price}) is None


def test_prices_of_both_are_known() -> None:
    config = {"model_input_price": "0.15", "model_output_price": 2}
    assert known_prices(config) == Prices(Fraction(3, 20), Fraction(2))


@pytest.mark.slow
def test_tokens_that_nobody_told_are_no_zero(tmp_path: Path) -> None:
    """The file has sums of 0, and no comparison says so. Beside a run that has them, they are not known."""
    with running(answering(None, None, None)) as server:
        a, b = (run(tmp_path, server, 3, run_id=name, unmeasured=["tokens"]).record for name in "ab")
    assert json.loads(a.aggregates.read_bytes())["aggregates"]["total_input_tokens"] == 0
    pair = compared(a, b)
    sums = "total_input_tokens", "total_output_tokens", "total_tokens"
    assert [pair.a.whole.aggregates[name].value for name in sums] == [None] * 3
    labels = {row[0] for row in whole_table(pair).rows}
    assert "Faithfulness failure rate *" in labels
    assert not {"Input tokens", "Output tokens", "Tokens in all"} & labels
    assert not {*sums} & {one.name for one in choices((pair.a, pair.b))}
    with running(answering(5, 5, 5)) as server:
        told = run(tmp_path, server, 3, run_id="told").record
    rows = {row[0]: row[1:4] for row in cells(whole_table(compared(a, told)))}
    assert rows["Input tokens"] == ["– (not known)", "60", "–"]
