"""Cost as a measure: what an answer costs at the run's prices, its share in the score, and its limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import ConfigError
from benchbook.evaluators.costs import Prices
from benchbook.evaluators.verify import verify
from running import benchbook_here, config, run
from scripted_server import JUDGE_WORDS, OK_CANDIDATE, OK_JUDGE, running


@pytest.mark.parametrize(
    ("prices", "tokens", "nano_usd"),
    [
        ((3, 15), (20, 2), 90_000),  # (60 + 30) millionths of a dollar
        (("0.15", "0.6"), (1, 0), 150),
        (("0.0005", 0), (1, 0), 0),  # half a billionth, to even
        (("0.0015", 0), (1, 0), 2),
        ((0, 0), (20, 2), 0),
        ((3, 15), (None, 2), None),
        ((3, 15), (20, None), None),
    ],
)
def test_what_an_answer_costs(prices: tuple[Any, Any], tokens: tuple[Any, Any], nano_usd: int | None) -> None:
    assert Prices.of(*prices).cost_nano_usd(*tokens) == nano_usd


def written(folder: Path, measure: str) -> str:
    spec = (
        'name = "own"\nversion = 1\nabout = "x"\n'
        '[[criteria]]\nname = "good"\nquestion = "?"\nscale = [0, 1]\n'
        f"[measures.cost]\n{measure}\n"
        '[[gates]]\naggregate = "cost_mean_usd"\nat_most = 0.0001\n'
    )
    folder.mkdir()
    (folder / "spec.toml").write_text(spec, encoding="utf-8")
    (folder / "prompt.txt").write_text(JUDGE_WORDS + "{{answer}} {{criteria}} {{reply}}", encoding="utf-8")
    return str(folder)


def replies(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Answers of 20 tokens in and 2 out, 20 and 22, of an unknown number, none; each is good."""
    del request
    if role == "judge":
        return OK_JUDGE | {"content": json.dumps({"good_score": 1, "rationale": "So."})}
    usage: list[dict[str, Any]] = [
        {}, {"usage": {"prompt_tokens": 20, "completion_tokens": 22}}, {"usage": None}, {"content": ""},
    ]  # fmt: skip
    return OK_CANDIDATE | usage[n]


PRICES = {"model_input_price": 3, "model_output_price": 15}
# In millionths of a dollar: 90, 390, unknown, 90.


def test_a_run_by_its_cost(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", "target = 0.00006\nat_most = 0.0002\nweight = 1")
    with running(replies) as server:
        result = run(tmp_path, server, 4, spec=spec, max_connections=1, reports=None, **PRICES)
    rows = pl.read_parquet(result.record.samples)
    assert rows["cost_usd"].to_list() == [0.00009, 0.00039, None, 0.00009]
    assert rows["cost_norm"].to_list() == [0.666666667, 0.153846154, None, 0.666666667]
    # (1 + 60 / 90) / 2, (1 + 60 / 390) / 2, (1 + 0) / 2, (0 + 60 / 90) / 2
    assert rows["sample_score"].to_list() == [0.833333333, 0.576923077, 0.5, 0.333333333]
    assert rows["fail_reasons"].to_list() == [[], ["cost_above_maximum"], ["cost_unmeasured"], ["no_answer"]]
    assert rows.columns.index("cost_usd") == rows.columns.index("token_efficiency_ratio") + 1
    assert result.derived.aggregates.aggregates.cost_mean_usd == 0.00019
    assert result.derived.decision.gates[0].value == 0.00019
    assert verify(result.record).holds
    shown = benchbook_here("show", str(result.record.path))
    assert shown.returncode == 0, shown.stderr
    assert "Cost of an answer, mean" in shown.stdout.decode()
    done = benchbook_here("rescore", str(result.record.path), "--reports", str(tmp_path / "again"))
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "again" / "run" / "report.md").read_text(encoding="utf-8")
    assert "$0.00019" in report


def test_the_prices_of_the_start_stay(tmp_path: Path) -> None:
    """Another price in a later sitting is refused."""
    spec = written(tmp_path / "own", "at_most = 0.0002")
    with running(replies) as server:
        result = run(tmp_path, server, 4, spec=spec, max_connections=1, reports=None, **PRICES)
        done = benchbook_here("run", "--resume", str(result.record.path), "--model-input-price", "9")
    assert (done.returncode, b"model_input_price" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("missing", ["model_input_price", "model_output_price"])
def test_an_unknown_price_is_told_before_anything_is_asked(tmp_path: Path, missing: str) -> None:
    spec = written(tmp_path / "own", "at_most = 0.0002")
    with running(replies) as server:
        prices = {name: value for name, value in PRICES.items() if name != missing}
        with pytest.raises(ConfigError) as told:
            run(tmp_path, server, 4, spec=spec, reports=None, **prices)
        assert not server.asked["candidate"]
    assert str(told.value) == (
        f"{missing}: found nothing; expected US dollars per million tokens, for own@v1 measures what an answer costs "
        '(0 where it costs nothing); or unmeasured = ["cost"]'
    )


def test_cost_may_be_declared_unmeasured(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", "target = 0.00006\nat_most = 0.0002\nweight = 1")
    with running(replies) as server:
        result = run(tmp_path, server, 4, spec=spec, max_connections=1, reports=None, unmeasured=("cost",))
    rows = pl.read_parquet(result.record.samples)
    assert rows["sample_score"].to_list() == [1.0, 1.0, 1.0, 0.0]  # the weight is the criterion's
    assert rows["cost_usd"].to_list() == [None] * 4
    decision = result.derived.decision
    assert decision.capped_by == ("cost was declared unmeasured",)
    assert decision.gates[0].unmeasured
    assert verify(result.record).holds


def test_latency_may_not_be_where_a_model_is_asked(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", "at_most = 0.0002\n[measures.latency]\nat_most = 50")
    with running(replies) as server, pytest.raises(ConfigError, match="latency; expected only with recorded outputs"):
        run(tmp_path, server, 1, spec=spec, reports=None, unmeasured=("cost", "latency"))
    assert config(tmp_path, server, 1).unmeasured == ()


def test_it_is_shown_in_dollars(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", "target = 0.00006\nat_most = 0.0002\nweight = 1")
    shown = json.loads(benchbook_here("rubric", "check", spec, "--json").stdout)
    assert shown["measures"] == [{"name": "cost", "target": 0.00006, "at_most": 0.0002, "weight": 1}]
    assert "cost_mean_usd" in shown["aggregates"]
    lines = benchbook_here("rubric", "check", spec).stdout.decode().splitlines()
    assert "  cost: at most $0.0002; target $0.00006, weight 1" in lines
