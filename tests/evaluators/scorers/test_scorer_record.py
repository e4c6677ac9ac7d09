"""Records that a function scored: its outcomes are facts, held, resumed, told apart, and read where it is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import benchbook as bb
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.answers.tables import DERIVED_FILES
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.scorers import metric
from benchbook.evaluators.scorers.outcome import EXPECTED
from benchbook.record.facts import Outcome, Outcomes, RunEnded
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal, segment_files
from benchbook.server.running import make_app
from own_scorers import ITEMS, PREDICTIONS, Asking, changed, equal, near, outcomes_in, scored
from running import benchbook_here, write_items
from scripted_server import Reply, running
from server.making import Api, settings

# ── what a run is ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_by_hand(tmp_path: Path) -> None:
    made = scored(tmp_path)
    assert isinstance(made, bb.ScorerRun)
    samples = made.samples
    assert samples["score"].to_list() == [1.0, 0.5, None, None, 0.0, 0.0]
    assert samples["passed"].to_list() == [True, False, None, None, False, False]
    assert samples["miss_reason"].to_list() == [None, "not_passed", None, None, "no_prediction", "no_prediction"]
    assert samples["unscored"].to_list()[2:4] == [
        "ValueError: could not convert string to float: 'three'",
        f"returned nan; expected {EXPECTED}",
    ]
    assert samples["values"].to_list()[:2] == ['{"off":0.0,"why":"off by 0"}', '{"off":1.0,"why":"off by 1"}']
    file = made.aggregates
    counted = (file.n_items, file.n_scored, file.n_skipped, file.n_unscored, file.n_passed, file.pass_rate)
    assert counted == (6, 2, 2, 2, 1, 0.25)
    assert file.primary_score == 0.375
    assert (file.values["off"].mean, file.values["off"].n, {*file.values}) == (0.5, 2, {"off"})
    assert [(one.n_items, one.why[:10]) for one in file.unscored] == [(1, "ValueError"), (1, "returned n")]
    assert file.n_warnings_first == 1
    assert file.warnings[0].startswith(
        "2 of 6 items are unscored by a fault of the scorer near@v1, not of the model, and left out of the score: "
        "ValueError: could not convert string to float: 'three' (1); returned nan"
    )
    assert made.decision.verdict == "pass"
    assert made.values.rows() == [(0, "i0", 0.0, "off by 0"), (1, "i1", 1.0, "off by 1")]
    assert repr(made) == "<ScorerRun run: 0.375, 1 of 6 passed>"
    assert "6 items: 4 with a prediction (2 unscored), 2 without" in str(made)


def test_truths_are_a_share_and_have_its_interval(tmp_path: Path) -> None:
    by = bb.scorer(name="equal")(equal)
    texts = [{"item_id": f"i{n}", "predicted": str(n + n % 2)} for n in range(6)]
    by_function = scored(tmp_path, by, texts, "ours")
    by_checks = bb.score(ITEMS, texts, spec="contains@v1", runs=tmp_path / "runs", run_id="theirs")
    assert by_function.aggregates.primary_score == by_checks.aggregates.primary_score == 0.5
    assert by_function.aggregates.intervals["primary_score"] == by_checks.aggregates.intervals["primary_score"]


def test_one_that_always_raises_gives_no_score_at_all(tmp_path: Path) -> None:
    @bb.scorer(name="broken")
    def broken(item: Any, answer: str) -> bool:
        raise KeyError(item["id"] + answer)

    made = scored(tmp_path, broken, PREDICTIONS[:4])
    assert made.samples["score"].to_list()[:4] == [None] * 4
    assert (made.decision.verdict, made.decision.reason) == ("fail", "no item has a score")
    assert bb.verify(made.path).holds


def test_reasons_that_are_all_others_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "_MOST_KINDS", 2)

    @bb.scorer(name="talking")
    def talking(item: Any, answer: str) -> bool:
        raise ValueError(item.id + answer)

    made = scored(tmp_path, talking, [{"item_id": f"i{n}", "predicted": "x"} for n in (0, 1, 2, 3)])
    found = {one.why: one.n_items for one in made.aggregates.unscored}
    assert found == {"other reasons": 2, "ValueError: i0x": 1, "ValueError: i1x": 1}
    assert made.samples["unscored"].to_list()[3] == "ValueError: i3x"


def test_a_run_that_crashed_scores_nothing_but_zero(tmp_path: Path) -> None:
    made = scored(tmp_path, run_status="crashed", reason="out of memory")
    assert made.samples["score"].to_list() == [0.0] * 6
    assert (made.aggregates.primary_score, made.aggregates.n_unscored, made.decision.verdict) == (0.0, 0, "fail")
    assert bb.verify(made.path).holds


def test_slices_leave_out_what_has_no_score(tmp_path: Path) -> None:
    items = [item | {"section": "core" if n < 3 else "edge_case"} for n, item in enumerate(ITEMS)]
    made = bb.score(near, items, PREDICTIONS, runs=tmp_path)
    assert [(one.value, one.n_items, one.n_scored, one.n_unscored, one.mean) for one in made.aggregates.section] == [
        ("core", 3, 2, 1, 0.75),
        ("edge_case", 3, 0, 1, 0.0),
    ]


# ── what is recorded ─────────────────────────────────────────────────────────────────────────────────────────


def test_outcomes_are_facts_with_what_said_them(tmp_path: Path) -> None:
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    (fact,) = [one for one in facts if isinstance(one, Outcomes)]
    source = made.record.input(fact.source_sha256).read_text("utf-8")
    assert source == near.source
    assert "near(item: Any, answer: str)" in source
    assert (fact.scorer, [one.sample for one in fact.outcomes]) == ("near@v1", [0, 1, 2, 3])
    assert isinstance(facts[-1], RunEnded)
    said = made.manifest.scorer
    assert (said.name, said.version, said.function, said.passes_at) == ("near", 1, "near", 0.75)
    assert (said.source_sha256, said.python) == (fact.source_sha256, [fact.python])
    assert fact.python == made.manifest.environment["python"]


def test_verify_says_what_it_can_not_compute_again(tmp_path: Path) -> None:
    made = scored(tmp_path)
    found = made.verify()
    source = made.manifest.scorer.source_sha256
    assert found.holds
    assert found.not_computed == (
        "4 outcomes of near@v1 can't be computed again: a Python function said them, and they are facts, held byte for "
        "byte. All that follows from them was computed again. What scored stands in "
        f"inputs/{source}, to be read; it is never run"
    )
    shown = benchbook_here("verify", str(made.path)).stdout.decode()
    assert f"{found.not_computed}." in shown
    assert json.loads(benchbook_here("verify", str(made.path), "--json").stdout)["not_computed"] == found.not_computed
    assert any("can't compute it again" in one for one in made.aggregates.warnings)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"score":0.5', b'"score":0.7'),
        (b'"why":"off by 1"', b'"why":"off by 2"'),
        (b'"fault":"Value', b'"fault":"Valve'),
    ],
)
def test_an_outcome_that_was_changed_is_found(tmp_path: Path, before: bytes, after: bytes) -> None:
    made = scored(tmp_path)
    (segment,) = segment_files(made.path / "journal")
    data = segment.read_bytes()
    assert data.count(before) == 1
    segment.write_bytes(data.replace(before, after))
    (finding, *_) = bb.verify(made.path).findings
    line = data[: data.index(before)].count(b"\n") + 1
    assert finding.what == f"prev is not the hash of 000001.jsonl:{line}: one of the two lines was changed"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scorer": "near@v2"}, "these outcomes are of another scorer"),
        ({"source_sha256": "0" * 64}, "these outcomes are of another scorer"),
        ({}, "a sample has two outcomes"),
    ],
)
def test_outcomes_that_do_not_belong_are_found_with_an_unbroken_chain(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    """By whoever writes a whole journal anew; only --expect tells of another score."""
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    shutil.rmtree(made.path / "journal")
    (made.path / "journal").mkdir()
    with JournalWriter(made.path / "journal") as writer:
        for fact in facts:
            if isinstance(fact, Outcomes):
                writer.append(msgspec.structs.replace(fact, **changes))
                if changes:
                    continue
            writer.append(fact)
    assert benchbook_here("rescore", str(made.path), "--reports", "none").returncode == 0
    assert [one.what for one in bb.verify(made.path).findings if said in one.what]


def test_a_score_that_no_scorer_gives_is_found(tmp_path: Path) -> None:
    made = scored(tmp_path)
    facts = [line.fact for line in read_journal(made.path / "journal")]
    shutil.rmtree(made.path / "journal")
    (made.path / "journal").mkdir()
    with JournalWriter(made.path / "journal") as writer:
        for fact in facts:
            other = [Outcome(sample=1, score=7)]
            writer.append(msgspec.structs.replace(fact, outcomes=other) if isinstance(fact, Outcomes) else fact)
    found = [one.what for one in bb.verify(made.path).findings]
    assert found == ["sample 1: its outcome has a score beyond 0 to 1, which no scorer gives"]
    assert benchbook_here("rescore", str(made.path)).returncode == 3


def test_an_outcome_of_no_sample_is_damage(tmp_path: Path) -> None:
    made = scored(tmp_path)
    with JournalWriter(made.path / "journal") as writer:
        writer.append(Outcomes(scorer="near@v1", source_sha256="", python="3", outcomes=[Outcome(sample=6, score=1)]))
    found = [str(one) for one in bb.verify(made.path).findings]
    assert any("sample 6 is none of the 6 that were planned" in one for one in found)


def test_a_source_that_was_changed_is_found(tmp_path: Path) -> None:
    made = scored(tmp_path)
    path = made.record.input(made.manifest.scorer.source_sha256)
    path.write_text(path.read_text("utf-8").replace("1 +", "2 +"), encoding="utf-8")
    assert [one.file for one in bb.verify(made.path).findings] == [f"inputs/{path.name}"]


def test_a_record_is_read_where_the_function_is_not(tmp_path: Path) -> None:
    calls: list[str] = []

    @bb.scorer(name="counting")
    def counting(item: Any, answer: str) -> bool:
        calls.append(answer)
        return bool(item["level"] % 2)

    made = scored(tmp_path, counting)
    path, n_calls = made.path, len(calls)
    assert n_calls == 4
    del counting, made
    loaded = bb.load(path)
    assert type(evaluator_of(loaded.record)).__name__ == "ScorerEvaluator"
    assert (loaded.aggregates.primary_score, loaded.spec) == (0.333333333, "counting@v1")
    assert bb.verify(path).holds
    before = [(path / name).read_bytes() for name in DERIVED_FILES]
    for words in (
        ("rescore", str(path), "--reports", "none"),
        ("show", str(path), "--failed"),
        ("gate", str(path), "--min-score", "0.3"),
    ):
        assert benchbook_here(*words).returncode == 0, words
    assert [(path / name).read_bytes() for name in DERIVED_FILES] == before
    assert len(calls) == n_calls


def test_a_record_that_does_not_say_what_scored_it_is_refused(tmp_path: Path) -> None:
    made = scored(tmp_path)
    started = made.record.started()
    other = msgspec.structs.replace(started, identity=started.identity | {"scorer": {"name": "x"}})
    shutil.rmtree(made.path / "journal")
    (made.path / "journal").mkdir()
    with JournalWriter(made.path / "journal") as writer:
        writer.append(other)
    with pytest.raises(RecordError, match="was not scored by a function of a user's own"):
        evaluator_of(Record(made.path))


# ── beside other runs ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_runs_are_compared_and_a_version_used_twice_is_told(tmp_path: Path) -> None:
    first = scored(tmp_path, bb.scorer(name="own")(equal), run_id="first")
    second = scored(tmp_path, bb.scorer(name="own")(changed), run_id="second")
    third = scored(tmp_path, bb.scorer(name="own")(equal), PREDICTIONS[:1], run_id="third")
    same = bb.compare(first, third)
    assert same.pairs[0].measured == ()
    assert same.pairs[0].counts["same_correct"] == 1
    sources = [one.manifest.scorer.source_sha256[:12] for one in (first, second)]
    told = (
        f"Both scorers call themselves own@v1, and are not the same: own@v1 (source {sources[0]}), and own@v1 (source "
        f"{sources[1]}). A changed scorer is a new version."
    )
    assert told in " ".join(str(bb.compare(first, second)).replace("\n", " ").split())
    runs = str(tmp_path / "runs")
    gated = benchbook_here("gate", "second", "--baseline", "first", "--runs", runs)
    assert (gated.returncode, b"what was measured differs: spec" in gated.stdout) == (1, True)
    listed = json.loads(benchbook_here("leaderboard", "--runs", runs, "--json").stdout)
    assert {one["run"] for one in listed["places"]} == {"first", "third"}


def test_what_has_no_score_is_a_pair_that_is_missing(tmp_path: Path) -> None:
    first = scored(tmp_path, run_id="first")
    better = [{"item_id": f"i{n}", "predicted": str(n + 1)} for n in range(6)]
    second = scored(tmp_path, predictions=better, run_id="second")
    pair = bb.compare(first, second).pairs[0]
    assert (pair.n_compared, pair.counts["improved"], pair.counts["only_in_b"]) == (4, 3, 2)
    assert pair.score.difference == pytest.approx(1 - 0.375)


def test_the_answers_of_a_record_are_scored_by_another_version(tmp_path: Path) -> None:
    asking = Asking()
    made = bb.score(asking.scorer(), ITEMS, model=asking.model(), runs=tmp_path, run_id="first")
    again = bb.score(near, ITEMS, made.path / "samples.jsonl", runs=tmp_path, run_id="second")
    assert again.aggregates.primary_score == 1.0


def test_reports_lists_and_labels(tmp_path: Path) -> None:
    made = scored(tmp_path)
    html, markdown = (path.read_text("utf-8") for path in made.write_reports(tmp_path / "reports"))
    assert "near@v1" in html
    for text in ("Answers without a score", "What the scorer named", "off by 1"):
        assert text in html
        assert text in markdown
    runs = str(tmp_path / "runs")
    assert json.loads(benchbook_here("runs", "--runs", runs, "--json").stdout)[0]["run"] == "run"
    drawn = benchbook_here("label", "sample", "run", "--runs", runs, "--n", "2", "--out", str(tmp_path / "book"))
    assert drawn.returncode == 0, drawn.stderr.decode()


def test_what_the_model_said_is_shown_as_what_it_is(tmp_path: Path) -> None:
    @bb.scorer(name="echo")
    def echo(item: Any, answer: str) -> Any:
        if item["id"] == "i0":
            raise ValueError(answer)
        return {"score": 0, "why": answer}

    bad = "<script>alert(1)</script>\x1b[2J=1+1"
    made = scored(tmp_path, echo, [{"item_id": name, "predicted": bad} for name in ("i0", "i1")])
    html = made.write_reports(tmp_path / "reports")[0].read_text("utf-8")
    assert "<script>alert" not in html
    assert "\x1b" not in html + str(made)


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_line_takes_a_function_of_a_file(tmp_path: Path) -> None:
    items = write_items(tmp_path / "items.jsonl", 3)
    predictions = tmp_path / "predictions.jsonl"
    rows = [{"item_id": f"i{n}", "predicted": str(n + 1)} for n in range(2)]
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "own.py").write_text(
        "import benchbook as bb\n\n@bb.scorer(name='own')\ndef right(item, answer):\n"
        "    return item.expected_answer == answer\n", encoding="utf-8",
    )  # fmt: skip
    asked = ("score", f"{tmp_path / 'own.py'}:right", "--evalset", str(items), "--runs", str(tmp_path / "runs"))
    made = benchbook_here(*asked, "--predictions", str(predictions), "--run-id", "run", "--reports", "none")
    assert made.returncode == 0, made.stderr.decode()
    assert b"Score 0.6667 by own@v1" in made.stdout
    refused = benchbook_here("score", f"{tmp_path / 'own.py'}:left", "--evalset", str(items), "--predictions", "p")
    assert refused.returncode == 2
    assert b"left is no scorer; expected" in refused.stderr


def test_the_command_line_resumes_with_the_function(tmp_path: Path) -> None:
    items = write_items(tmp_path / "items.jsonl", 2)
    own = tmp_path / "own.py"
    own.write_text(
        "import benchbook as bb\n\n@bb.scorer(name='own')\ndef right(item, answer):\n"
        "    return item.expected_answer == answer\n", encoding="utf-8",
    )  # fmt: skip
    runs, broken = ("--runs", str(tmp_path / "runs")), [True]

    def answer(role: str, n: int, request: dict[str, Any]) -> Reply:
        del role, n
        if "What is 1" in request["messages"][-1]["content"] and broken[0]:
            return {"status": 500, "body": {}}
        return {"status": 200, "content": "1", "usage": {"prompt_tokens": 5, "completion_tokens": 1}}

    with running(answer) as server:
        asked = ("--model", "openai/m@2026-01-01", "--model-base-url", server.base_url, "--max-retries", "0")
        by = f"{own}:right"
        stopped = benchbook_here("score", by, "--evalset", str(items), *asked, *runs, "--run-id", "run", "--quiet")
        assert stopped.returncode == 3
        broken[0] = False
        without = benchbook_here("score", "--resume", "run", *runs)
        assert without.returncode == 2
        assert b"is scored by a function, own@v1, that is not here" in without.stderr
        whole = benchbook_here("score", by, "--resume", "run", *runs, "--reports", "none")
    assert whole.returncode == 0, whole.stderr.decode()
    assert b"Score 0.5000 by own@v1" in whole.stdout
    assert outcomes_in(tmp_path / "runs" / "run") == [0, 1]
    assert bb.load(tmp_path / "runs" / "run").manifest.config["spec"] == "own@v1"


def test_settings_that_come_from_elsewhere_run_no_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')\n", encoding="utf-8")
    with pytest.raises(UsageError):
        bb.score(ITEMS, PREDICTIONS, spec=str(tmp_path / "own.py:right"), runs=tmp_path / "runs")


def test_the_server_lists_and_shows_it(tmp_path: Path) -> None:
    scored(tmp_path)
    app = make_app(settings(tmp_path / "runs", str(tmp_path / "catalog.sqlite")))
    api = Api(app)
    listed = api.json("/api/v1/runs")["runs"]
    assert [(one["spec"], one["primary"], one["n_scored"], one["n_unscored"]) for one in listed] == [
        ("near@v1", 0.375, 2, 4)
    ]
    assert api.json("/api/v1/runs/run/aggregates")["n_unscored"] == 2
    assert api.json("/api/v1/runs/run/manifest")["scorer"]["name"] == "near"
    assert api.json("/api/v1/runs/run/samples/2")["row"]["unscored"].startswith("ValueError")
    missed = api.json("/api/v1/runs/run/samples?outcome=failed")["samples"]
    unscored = api.json("/api/v1/runs/run/samples?outcome=unscored")["samples"]
    assert [[one["item_id"] for one in found] for found in (missed, unscored)] == [["i1", "i4", "i5"], ["i2", "i3"]]
    rows = api.json("/api/tunix/runs/run/predictions")["predictions"]
    assert [one["correctness"] for one in rows] == [1.0, 0.5, None, None, 0.0, 0.0]
    app.stop()
