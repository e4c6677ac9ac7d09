"""A panel of judges in one run: who is asked, what the rows say, and that the record holds (docs/decisions/0016)."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.ask.settings import only_addresses_differ
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError
from benchbook.evaluators.panel_rules import PANEL_RULES, PanelRule, panel_score
from benchbook.evaluators.registry import resume_run
from benchbook.evaluators.rubric.rows import PanelManifest, PanelRow, RubricManifest
from benchbook.evaluators.settings import config_from_mapping
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from benchbook.record.tables import read_rows
from panels import Said, replies_of, run_panel
from rubric_v1 import PANEL_ROW
from running import benchbook_here, write_items
from scripted_server import running

GOOD = (2, 2)
JUDGES = ("a", "b", "c")


def rows_of(record: Record) -> list[PanelRow]:
    return list(read_rows(record.samples, PANEL_ROW))


def judge_facts(record: Record) -> list[Reply]:
    lines = read_journal(record.journal)
    return [line.fact for line in lines if isinstance(line.fact, Reply) and line.fact.role == "judge"]


@pytest.mark.parametrize("rule", PANEL_RULES)
def test_every_sample_has_the_score_that_the_rule_gives(tmp_path: Path, rule: PanelRule) -> None:
    drawn = random.Random(7)
    votes = {name: [(drawn.randrange(3), drawn.randrange(3)) for _ in range(30)] for name in JUDGES}
    with running(replies_of({name: votes[name].__getitem__ for name in JUDGES})) as server:
        result = run_panel(tmp_path, server, JUDGES, 30, panel_rule=rule)
    rows = rows_of(result.record)
    for item, row in enumerate(rows):
        expected = [panel_score([votes[name][item][field] for name in JUDGES], rule, 0, 2) for field in (0, 1)]
        assert [row.accuracy_score, row.faithfulness_score] == expected
        assert [(vote.accuracy_score, vote.faithfulness_score) for vote in row.votes] == [
            votes[name][item] for name in JUDGES
        ]
    assert result.derived.aggregates.accuracy_counts == {
        str(score): sum(row.accuracy_score == score for row in rows) for score in (0, 1, 2)
    }
    assert verify(result.record).holds


def test_each_judge_is_asked_once_about_each_answer(tmp_path: Path) -> None:
    with running(replies_of({name: lambda _: GOOD for name in JUDGES})) as server:
        result = run_panel(tmp_path, server, JUDGES, 5)
    asked = Counter(request["model"] for request in server.asked["judge"])
    assert asked == {"a": 5, "b": 5, "c": 5}
    assert len(server.asked["candidate"]) == 5
    assert Counter(fact.judge for fact in judge_facts(result.record)) == {0: 5, 1: 5, 2: 5}


def test_a_broken_reply_is_asked_for_again_of_that_judge_alone(tmp_path: Path) -> None:  # R3.5
    with running(replies_of({"a": lambda _: GOOD, "b": lambda _: "no JSON", "c": lambda _: GOOD})) as server:
        result = run_panel(tmp_path, server, JUDGES, 2)
    assert Counter(request["model"] for request in server.asked["judge"]) == {"a": 2, "b": 4, "c": 2}
    for row in rows_of(result.record):
        assert (row.accuracy_score, row.evaluator_error) == (2, None)  # two of three agree, whatever b would say
        assert row.votes[1].parse_error_reason == "malformed_json"
        assert (row.parse_retries, len(row.judge_replies)) == (1, 4)
        assert [len(vote.reply_seqs) for vote in row.votes] == [1, 2, 1]


def test_a_judge_without_a_score_who_could_decide_leaves_the_sample_unscored(tmp_path: Path) -> None:
    votes = {"a": lambda _: GOOD, "b": lambda _: "no JSON", "c": lambda _: (0, 2)}
    with running(replies_of(votes)) as server:
        result = run_panel(tmp_path, server, JUDGES, 3)
    rows = rows_of(result.record)
    assert [(row.accuracy_score, row.faithfulness_score, row.evaluator_error) for row in rows] == [
        (None, None, "parse_error")
    ] * 3
    assert {row.parse_error_reason for row in rows} == {"malformed_json"}
    assert result.derived.aggregates.ledger.unscored_by_reason == {"parse_error:malformed_json": 3}
    assert result.derived.decision is not None
    assert result.derived.decision.decision == "INCONCLUSIVE"  # R6.3: each could be 2 and 2, or 0 and 0


def test_rows_say_how_far_the_judges_are_apart(tmp_path: Path) -> None:
    votes: dict[str, list[Said]] = {
        "a": [GOOD, (0, 0), (2, 2), (1, 2)],
        "b": [GOOD, (2, 2), (1, 1), (2, 1)],
        "c": [GOOD, (2, 1), "no JSON", (2, 2)],
    }
    with running(replies_of({name: votes[name].__getitem__ for name in JUDGES})) as server:
        rows = rows_of(run_panel(tmp_path, server, JUDGES, 4).record)
    assert [row.verdicts_differ for row in rows] == [False, True, False, False]
    assert [row.spread for row in rows] == [0, 4, 2, 2]
    # The panel's scores: 2 2; 2 1; none (2 1 and what c says); 2 2.
    assert [row.n_dissenting for row in rows] == [0, 2, 2, 2]
    assert [row.rationale is None for row in rows] == [False, False, True, False]


def test_the_manifest_names_every_judge(tmp_path: Path) -> None:
    with running(replies_of({name: lambda _: GOOD for name in ("a", "b")})) as server:
        result = run_panel(tmp_path, server, ("a", "b"), 1, panel_rule="worst")
    manifest = result.derived.manifest
    assert manifest.evaluator_model_id == "openai/a@2026-01-01 + openai/b@2026-01-01"
    assert manifest.evaluator_model_version == "a-2026-01-01 + b-2026-01-01"
    assert isinstance(manifest.panel, PanelManifest)
    assert (manifest.panel.rule, [judge.name for judge in manifest.panel.judges]) == ("worst", ["a", "b"])
    assert msgspec.json.decode(result.record.manifest.read_bytes(), type=RubricManifest) == manifest


def test_a_judge_whose_scores_do_not_vary_is_named(tmp_path: Path) -> None:
    votes = {"a": lambda _: GOOD, "b": lambda item: (item % 3, 2 - item % 3)}
    with running(replies_of(votes)) as server:
        result = run_panel(tmp_path, server, ("a", "b"), 6)
    warned = [one for one in result.derived.aggregates.warnings if "the same scores" in one]
    assert len(warned) == 1
    assert warned[0].startswith("The judge a gave all 6 answers")


def test_each_judge_has_its_price(tmp_path: Path) -> None:
    with running(replies_of({name: lambda _: GOOD for name in ("a", "b")})) as server:
        priced = (("a", "1"), ("b", "3"))
        judges = [{"model": f"openai/{name}@1", "input_price": price, "output_price": "0"} for name, price in priced]
        result = run_panel(tmp_path, server, judges, 4)
    cost = result.derived.aggregates.evaluator_cost_usd
    assert Decimal(cost or 0) == Decimal(4 * 100 * (1 + 3)) / 1_000_000


def test_a_stopped_run_goes_on_with_the_judges_that_are_missing(tmp_path: Path) -> None:
    """The second judge refuses the key: the run stops (R3.6), and nothing that was answered is asked again."""
    broken = {"is": True}

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if broken["is"] and request["model"] == "b":
            return {"status": 401, "body": {"error": {"message": "no"}}}
        return replies_of({name: lambda _: GOOD for name in JUDGES})(role, n, request)

    with running(reply) as server:
        stopped = run_panel(tmp_path, server, JUDGES, 4, max_connections=1)
        assert stopped.stop.reason is not None
        assert "the judge b's server at http://" in stopped.stop.reason
        before = Counter((fact.sample, fact.judge) for fact in judge_facts(stopped.record))
        broken["is"] = False
        resumed = run_async(resume_run(stopped.record))
    facts = Counter((fact.sample, fact.judge) for fact in judge_facts(resumed.record))
    assert before == {(0, 0): 1}
    assert facts == {(sample, judge): 1 for sample in range(4) for judge in range(3)}
    assert verify(resumed.record).holds


@pytest.mark.slow
def test_a_panel_that_may_stop_early_does(tmp_path: Path) -> None:
    with running(replies_of({name: lambda _: GOOD for name in JUDGES})) as server:
        result = run_panel(tmp_path, server, JUDGES, 150, until_decided=True, error=0.1)
    assert result.derived.decision is not None
    assert result.derived.decision.decision == "READY"
    assert result.derived.aggregates.ledger.n_attempted < 150
    assert verify(result.record).holds


def test_a_fact_of_a_judge_that_was_not_planned_is_no_part_of_the_record(tmp_path: Path) -> None:
    with running(replies_of({name: lambda _: GOOD for name in ("a", "b")})) as server:
        record = run_panel(tmp_path, server, ("a", "b"), 1).record
    journal = next(record.journal.glob("*.jsonl"))
    journal.write_bytes(journal.read_bytes().replace(b'"judge":1', b'"judge":7'))
    assert not verify(record).holds


PANEL: dict[str, Any] = {
    "evalset": "items.jsonl", "model": "openai/m@1", "panel_rule": "mean",
    "judges": [{"model": "openai/a@1"}, {"model": "openai/b@1"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "setting", "expected"),
    [
        ({"judge": "openai/a@1"}, "judge", "not both"),
        ({"panel_rule": "median"}, "panel_rule", "'median' majority or mean or worst"),
        ({"judges": [{"model": "openai/a@1"}]}, "judges", "at least two"),
        ({"judges": [], "judge": "openai/a@1"}, "panel_rule", "at least two judges"),
        ({"spec": "answer_correctness@v1"}, "judges", "has no judge"),
        ({"judges": [{"model": "openai/a@1"}, {"model": "openai/b@1", "key": "x"}]}, "judges[1]", "key"),
        ({"judges": [{"model": "openai/a@1"}, {"model": "openai/b@1", "input_price": -1}]}, "judges[1].input_price",
         "0 or more"),
    ],
)  # fmt: skip
def test_settings_that_do_not_go_together_are_named(changes: dict[str, Any], setting: str, expected: str) -> None:
    with pytest.raises(ConfigError) as found:
        config_from_mapping(PANEL | changes, "test")
    assert found.value.setting == f"test: {setting}"
    assert expected in f"{found.value.found} {found.value.expected}"


@pytest.mark.parametrize(
    ("judges", "setting"),
    [
        ([{"model": "openai/a@1"}, {"model": "openai/a@2"}], "judges[1].name"),
        ([{"model": "openai/a@1"}, {"model": "recorded/b@1"}], "judges[1].model"),
        ([{"model": "openai/a@1"}, {"model": "nobody/b@1"}], "judges[1].model"),
    ],
)
def test_judges_that_can_not_be_asked_are_told_before_anything_is_written(
    tmp_path: Path, judges: list[dict[str, str]], setting: str
) -> None:
    from benchbook.evaluators.rubric.preparing import prepare

    evalset = str(write_items(tmp_path / "items.jsonl", 1))
    with pytest.raises(ConfigError) as found:
        prepare(config_from_mapping(PANEL | {"judges": judges, "evalset": evalset}, "test"))
    assert found.value.setting == setting


KEY = {"OPENAI_API_KEY": "a-key"}


def test_the_command_line_makes_a_panel_of_several_judges(tmp_path: Path) -> None:
    (tmp_path / "judge.json").write_text(
        '{"replies": [{"contains": "What is 1", "text": "{}"}, {"text": "{\\"accuracy_score\\": 2, '
        '\\"faithfulness_score\\": 2, \\"rationale\\": \\"Yes.\\"}"}]}',
        encoding="utf-8",
    )
    write_items(tmp_path / "items.jsonl", 3)
    (tmp_path / "panel.toml").write_text(
        'evalset = "items.jsonl"\nmodel = "scripted/m@1"\nmodel_path = "judge.json"\npanel_rule = "worst"\n'
        'run_id = "run"\nreports = "none"\n\n'
        '[[judges]]\nmodel = "scripted/a@1"\npath = "judge.json"\n\n'
        '[[judges]]\nmodel = "scripted/b@1"\npath = "judge.json"\n',
        encoding="utf-8",
    )
    ran = benchbook_here("run", "panel.toml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert b"2 judges, worst: the lowest of their scores." in ran.stdout
    told = benchbook_here(
        "run", "panel.toml", "--judge", "openai/x@1", "--judge", "openai/y@1", "--dry-run", cwd=tmp_path, env=KEY
    )
    assert b"3 samples: 9 calls" in told.stdout, told.stderr
    assert b"openai/x@1" in told.stdout
    one = benchbook_here("run", "panel.toml", "--judge", "openai/x@1", "--dry-run", cwd=tmp_path, env=KEY)
    assert one.returncode == 2
    assert b"panel_rule" in one.stderr


def test_a_judge_that_moved_is_asked_elsewhere_when_the_run_is_resumed(tmp_path: Path) -> None:
    def refusing(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if request["model"] == "b":
            return {"status": 401, "body": {"error": {"message": "no"}}}
        return replies_of({name: lambda _: GOOD for name in JUDGES})(role, n, request)

    all_good = replies_of({name: lambda _: GOOD for name in JUDGES})
    with running(refusing) as here, running(all_good) as there:
        stopped = run_panel(tmp_path, here, JUDGES, 4, max_connections=1)
        words = ("run", "--resume", str(stopped.record.path), "--reports", "none", "--quiet", "--move-judge")
        for move, says in (
            ("nobody.base_url=x", "found judge 'nobody'; expected one of a, b, c"),
            ("b.model=x", "expected NAME.SETTING=VALUE"),
            ("b", "expected NAME.SETTING=VALUE"),
        ):
            refused = benchbook_here(*words, move)
            assert refused.returncode == 2
            assert says in refused.stderr.decode()
        done = benchbook_here(*words, f"b.base_url={there.base_url}")
        assert done.returncode == 0, done.stderr
        assert {request["model"] for request in there.asked["judge"]} == {"b"}
    facts = Counter((fact.sample, fact.judge) for fact in judge_facts(stopped.record))
    assert facts == {(sample, judge): 1 for sample in range(4) for judge in range(3)}
    assert verify(stopped.record).holds


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        pytest.param({"base_url": "http://localhost:1/v1"}, True, id="address"),
        pytest.param({"api_key_env": "KEY"}, True, id="key"),
        pytest.param({"path": "x.gguf"}, True, id="path"),
        pytest.param({"params": {"temperature": 1}}, False, id="parameters"),
        pytest.param({"model": "openai/other@1"}, False, id="model"),
        pytest.param({"name": "other"}, False, id="name"),
        pytest.param({"reasoning_tags": ["think"]}, False, id="tags"),
        pytest.param({"unknown": 1}, False, id="unknown"),
    ],
)
def test_only_addresses_of_judges_may_change(change: dict[str, Any], is_same: bool) -> None:
    recorded = [{"model": "openai/a@1", "input_price": "0.40"}, {"model": "openai/b@1", "params": {"temperature": 0}}]
    assert only_addresses_differ(recorded, [recorded[0], recorded[1] | change]) is is_same
    assert only_addresses_differ(recorded, recorded[:1]) is False
    assert only_addresses_differ((), [recorded[0] | change]) is False
