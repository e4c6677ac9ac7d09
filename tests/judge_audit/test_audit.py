"""Audits as users run them: records of each variant, the card, going on after a stop, holding it against itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import ConfigError, UsageError
from benchbook.judge_audit.card import audit_card
from benchbook.judge_audit.folder import open_audit
from benchbook.judge_audit.holding import card_found
from benchbook.judge_audit.variants import VARIANTS
from judge_audit.made import adds_up, planted_judge, sum_items
from scripted_server import running

N = 60
DECLARED = {"evalset": sum_items(N), "model": adds_up, "reports": None}


def padded(answer: str) -> int:
    return -1 if "Nothing further needs" in answer else 0


ASKED: list[str] = []
JUDGE = planted_judge(padded, ASKED)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of sums, and an audit of its judge, which gives padded answers less."""
    folder = tmp_path_factory.mktemp("audited")
    run = bb.run(judge=JUDGE, runs=folder / "runs", run_id="sums", **DECLARED)
    found = bb.audit_judge(run, audits=folder / "audits", audit_id="first")
    assert len(ASKED) == N * (1 + len(found.card.effects))  # what the run had is not asked for again
    return folder


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    shutil.copytree(judged, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.slow
def test_the_card_says_what_was_planted(judged: Path) -> None:
    found = bb.load_audit("first", audits=judged / "audits")
    verdicts = {one.variant: one.verdict for one in found.card.effects}
    assert verdicts["longer"] == "biased"
    assert verdicts["again"] == "none"
    assert {verdicts[name] for name in ("other_reference", "other_answer", "other_answer_praised")} == {"noticed"}
    assert {one for name, one in verdicts.items() if VARIANTS[name].aspect in ("style", "name")} <= {"none", "not_told"}
    assert found.card.not_tried == ("plain",)
    longer = next(one for one in found.card.effects if one.variant == "longer")
    assert longer.passed is not None
    assert longer.passed.before > longer.passed.after
    assert [use.allowed for use in found.card.uses if use.aspect == "length"] == ["no"]
    assert "padded, an answer's score moves by −0." in " ".join(str(found).split())
    assert found.effects.filter(variant="longer")["verdict"].to_list() == ["biased"]


@pytest.mark.slow
def test_records_are_ordinary_ones_of_the_same_answers(judged: Path) -> None:
    audit = open_audit(judged / "audits" / "first")
    source = bb.load(audit.source.path).samples
    for record in audit.asked():
        run = bb.load(record.path)
        assert isinstance(run, bb.RubricRun)
        assert run.verify().holds
        both = run.samples.join(source, on="item_id", suffix="_source")
        assert len(both) == len(run.samples) == N
        for fact in ("latency_e2e_ms", "input_tokens", "output_tokens", "finish_reason"):
            assert both[fact].to_list() == both[f"{fact}_source"].to_list()


@pytest.mark.slow
def test_it_holds_and_every_kind_of_tampering_is_found(folder: Path) -> None:
    path = folder / "audits" / "first"
    whole = bb.load_audit(path).verify()
    assert whole.holds
    assert whole.state == "complete"
    assert bb.load_audit(path).verify(expect=whole.sha256).holds
    assert not bb.load_audit(path).verify(expect="0" * 64).holds

    def findings() -> list[str]:
        from benchbook.exchange.verifying_audits import verify_audit

        return [str(one) for one in verify_audit(open_audit(path)).findings]

    card = (path / "card.json").read_bytes()
    (path / "card.json").write_bytes(card.replace(b'"biased"', b'"none"'))
    assert findings() == ["card.json: is not what follows from the records"]
    (path / "card.json").unlink()
    assert findings() == ["card.json: is missing; `benchbook judge audit --resume` writes it again"]
    (path / "card.json").write_bytes(card)

    plan = (path / "audit.json").read_bytes()
    for old, new, what in (
        (b'"seed":0', b'"seed":1', "inputs: its"),  # the probes draw other answers
        (b'"n_answers":60', b'"n_answers":50', "audit.json: ends is 60; the source has 50"),
        (b'"margin":0.05', b'"margin":0.5', "card.json: is not what follows"),
        (b'"other":"adds_up"', b'"other":"another"', "named_other/inputs: its outputs are not what the rule makes"),
        (b'"longer",', b"", "card.json: is not what follows"),
    ):
        assert old in plan
        (path / "audit.json").write_bytes(plan.replace(old, new))
        assert any(what in one for one in findings()), (old, findings())
    (path / "audit.json").write_bytes(plan)

    # a record of another variant, renamed and begun again under its name, is another's
    other = bb.run(run=bb.load(path / "source"), judge=JUDGE, runs=folder / "other", run_id="longer", reports=None)
    shutil.rmtree(path / "longer")
    shutil.copytree(other.path, path / "longer")
    assert findings() == ["longer/inputs: its outputs are not what the rule makes of the source"]


@pytest.mark.slow
def test_an_audit_goes_on_where_it_ended(folder: Path) -> None:
    """Whichever records are missing, what is left is asked for, and the card comes out the same but for when."""
    path = folder / "audits" / "first"
    before = json.loads((path / "card.json").read_text("utf-8"))
    for name in ("longer", "named_self"):
        shutil.rmtree(path / name)
    with pytest.raises(UsageError, match=r"is not complete \(longer is not\); go on with it: benchbook judge audit"):
        bb.load_audit(path)
    ASKED.clear()
    again = bb.resume_audit(path, judge=JUDGE)
    assert len(ASKED) == 2 * N
    after = json.loads((path / "card.json").read_text("utf-8"))
    own = ("ended_utc", "records")
    assert {k: v for k, v in after.items() if k not in own} == {k: v for k, v in before.items() if k not in own}
    assert again.verify().holds


@pytest.mark.slow
def test_a_judge_that_fails_stops_the_audit_and_loses_nothing(judged: Path, tmp_path: Path) -> None:
    asked: list[str] = []
    sound = planted_judge(padded, asked)
    fails_after = [90]

    def failing(prompt: Any) -> str:
        if len(asked) >= fails_after[0]:
            raise OSError("down")
        return sound(prompt)

    run, audits = bb.load(judged / "runs" / "sums"), tmp_path / "audits"
    stopped = bb.audit_judge(run, judge=failing, audits=audits, audit_id="a", variants=["longer"], n=50)
    assert "down" in str(stopped.stopped)
    assert repr(stopped).endswith("stopped>")
    with pytest.raises(UsageError, match="is not complete"):
        _ = stopped.card
    assert sorted(one.name for one in (audits / "a").iterdir() if one.is_dir()) == ["again", "original", "source"]
    fails_after[0] = 10_000
    found = bb.resume_audit("a", audits=audits, judge=failing)
    assert len(asked) == 150
    assert found.verify().holds


@pytest.mark.slow
def test_another_judge_scores_the_answers_anew(judged: Path, tmp_path: Path) -> None:
    asked: list[str] = []
    blind = planted_judge(asked=asked, reads_reference=False)
    found = bb.audit_judge(
        bb.load(judged / "runs" / "sums"), judge=blind, audits=tmp_path, n=50, variants="other_reference"
    )
    assert len(asked) == 50 * 3  # as they are, again, and with another reference
    assert not found.card.run_judged
    assert {one.variant: one.verdict for one in found.card.effects} == {"again": "none", "other_reference": "missed"}
    assert found.uses["to judge by expected answers: it reads them"] == "no"
    assert found.verify().holds


@pytest.mark.slow
def test_a_drift_since_the_run_shows(judged: Path, tmp_path: Path) -> None:
    """The same judge by its name and version, which gives less than it did."""
    bias = [0]
    drifting = planted_judge(lambda _: bias[0])
    run = bb.run(judge=drifting, runs=tmp_path / "runs", **DECLARED)
    bias[0] = -1
    found = bb.audit_judge(run, audits=tmp_path / "audits", variants="again")
    (again,) = found.card.effects
    assert found.card.run_judged
    assert again.verdict == "biased"
    assert again.score.difference is not None
    assert again.score.difference < -0.3
    assert found.card.noise.same_score.estimate == pytest.approx(0.2, abs=0.1)  # the wrong ones had 0 before


@pytest.mark.slow
def test_until_decided_drops_what_is_told(judged: Path, tmp_path: Path) -> None:
    run = bb.run(evalset=sum_items(200), model=adds_up, judge=JUDGE, runs=tmp_path / "runs", reports=None)
    ASKED.clear()
    found = bb.audit_judge(run, audits=tmp_path / "audits", until_decided=True, n=None, margin=0.2)
    folders = {one.name for one in found.path.iterdir() if one.is_dir()}
    assert "longer" in folders
    assert "longer.2" not in folders
    assert len(ASKED) < 200 * len(found.card.effects) / 2
    verdicts = {one.variant: (one.verdict, one.score.n) for one in found.card.effects}
    assert verdicts["longer"] == ("biased", 50)
    assert "not_told" not in {verdict for verdict, _ in verdicts.values()}
    assert found.verify().holds


@pytest.mark.slow
def test_a_card_holds_for_the_same_judge_rubric_and_set_alone(folder: Path) -> None:
    audits = folder / "audits"
    run = bb.load(folder / "runs" / "sums")
    found = card_found(run.record, audits)
    assert found is not None
    assert found.holds
    assert found.audit_id == "first"

    part = bb.run(judge=JUDGE, runs=folder / "runs", limit=30, **DECLARED)
    found = card_found(part.record, audits)
    assert found is not None
    assert found.holds

    def changed(**settings: Any) -> tuple[str, ...]:
        other = bb.run(runs=folder / "runs", **(DECLARED | {"judge": JUDGE} | settings))
        found = card_found(other.record, audits)
        assert found is not None
        assert not found.holds
        return found.changed

    assert changed(evalset=sum_items(N + 1)) == ("the eval set (dataset_version_or_hash)",)
    assert changed(judge_params={"temperature": 1}) == (
        "the judge (evaluator_generation_params_effective.temperature)",
    )
    another = bb.run(judge=planted_judge(), runs=folder / "runs", **DECLARED)
    assert card_found(another.record, audits) is None
    assert card_found(another.record, folder / "nothing") is None


def test_what_can_not_be_audited(judged: Path, tmp_path: Path) -> None:
    run = bb.load(judged / "runs" / "sums")
    with pytest.raises(UsageError, match=r"variants: found 'louder'; expected some of again, other_order, longer"):
        bb.audit_judge(run, audits=tmp_path, variants="louder")
    for wrong in ({"n": 0}, {"margin": 1.0}, {"confidence": 0.3}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            bb.audit_judge(run, audits=tmp_path, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cache"):
        bb.audit_judge(run, audits=tmp_path, cache=tmp_path / "kept")
    with pytest.raises(UsageError, match="is there already"):
        bb.audit_judge(run, audits=judged / "audits", audit_id="first")
    with pytest.raises(ConfigError, match="audit_id"):
        bb.audit_judge(run, audits=tmp_path, audit_id="../first")
    with pytest.raises(UsageError, match="no audit of a judge"):
        bb.load_audit(judged / "runs" / "sums")
    scored = bb.score(evalset=sum_items(3), predictions=[{"item_id": f"i{k}", "predicted": "1"} for k in range(3)],
                      runs=tmp_path / "scored")  # fmt: skip
    with pytest.raises(UsageError, match=r"judge: found nothing"):
        bb.audit_judge(scored, audits=tmp_path)
    assert not list(tmp_path.glob("*/audit.json"))


@pytest.mark.slow
def test_answers_of_a_run_without_a_judge_can_be_judged(judged: Path, tmp_path: Path) -> None:
    predictions = [{"item_id": f"i{k}", "predicted": f"The sum is {k + k % 7}."} for k in range(40)]
    scored = bb.score(evalset=sum_items(40), predictions=predictions, model="recorded/them", runs=tmp_path / "scored")
    found = bb.audit_judge(
        scored, judge=planted_judge(), spec="rubric@v1", audits=tmp_path / "audits", variants="other_answer"
    )
    assert {one.variant: one.verdict for one in found.card.effects}["other_answer"] == "noticed"
    assert (found.card.n_answers, found.card.run_judged) == (40, False)
    assert found.verify().holds
    assert audit_card(found.audit) == found.card


@pytest.mark.slow
def test_a_judge_that_is_exchanged_within_the_audit_has_no_card_that_holds(judged: Path, tmp_path: Path) -> None:
    """A server that calls itself another version from the 41st verdict on."""
    judge = planted_judge()

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        text = judge(request["messages"][-1]["content"])
        return {"status": 200, "content": text, "model": "j-2026-01-01" if n < 40 else "j-2026-06-01", "usage": usage}

    with running(reply) as server:
        settings = {"judge": "openai/j", "judge_base_url": server.base_url, "max_connections": 1}
        found = bb.audit_judge(
            bb.load(judged / "runs" / "sums"),
            audits=tmp_path / "audits",
            n=20,
            variants=("longer", "hedged"),
            **settings,
        )
        after = bb.run(run=bb.load(judged / "runs" / "sums"), runs=tmp_path / "runs", reports=None, **settings)
    assert found.card.judge.measured["evaluator_model_version"] == "j-2026-01-01 and j-2026-06-01"
    card = card_found(after.record, tmp_path / "audits")
    assert card is not None
    assert card.changed == ("the judge (evaluator_model_version)",)


def test_a_limit_on_seconds_is_on_all_that_is_asked() -> None:
    from benchbook.exchange.records_sitting import RecordsSitting, unheard

    sitting = RecordsSitting("judge audit", {"max_seconds": 100}, {}, list, None, unheard)
    sitting._began -= 40
    assert sitting._time() == {"max_seconds": 59} or sitting._time() == {"max_seconds": 60}
    sitting._began -= 400
    assert sitting._time() == {"max_seconds": 1}
