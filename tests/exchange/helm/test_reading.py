"""A run of HELM is read: its requests with their statistics, and which of its numbers follow from them."""

from __future__ import annotations

import json
from collections import defaultdict
from math import sqrt
from pathlib import Path
from statistics import mean, pvariance

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import Claim, ForeignLog, LogFailure, LogSample
from benchbook.exchange.tools import opened_logs, recognised
from exchange.helm.made import TYPOS, WORST, laid, of_instance, stat, state
from support import shared_data


def read(path: Path) -> tuple[ForeignLog, list[LogSample]]:
    (log,) = opened_logs(path)
    with log:
        return log, list(log.samples())


def computed(claim: Claim, samples: list[LogSample]) -> float:
    """A claim's number by its formula, done the plain way."""
    assert claim.only is not None
    name, value = claim.only
    chosen = [one for one in samples if one.metadata[name] == value]
    if claim.formula == "n_samples":
        return len(chosen)
    by_trial: dict[int, list[float]] = defaultdict(list)
    for one in chosen:
        if claim.field is None:
            found = one.scores[claim.scorer].value
            assert found is not None
            by_trial[one.repeat].append(found)
        elif claim.field in one.metadata:
            by_trial[one.repeat].append(one.metadata[claim.field])
    values = (
        [mean(one) for one in by_trial.values()] if claim.of_repeats else [x for one in by_trial.values() for x in one]
    )
    if claim.formula in ("population_var", "population_std"):
        return pvariance(values) if claim.formula == "population_var" else sqrt(pvariance(values))
    formulas = {"mean": mean, "sum": sum, "min": min, "max": max}
    return float(formulas[str(claim.formula)](values))


# ── a real run ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_shared_run() -> None:
    """MMLU philosophy by GPT-2: one right of nine in the test split, none of one in the other."""
    folder = shared_data("foreign-logs") / "helm"
    assert {recognised(one).name for one in (folder, *folder.glob("*.json"))} == {"helm"}
    assert read(folder / "stats.json")[1] == read(folder)[1]
    log, samples = read(folder)
    header = log.header
    assert (header.task, header.model, header.dataset) == ("mmlu:subject=philosophy", "openai/gpt2", "mmlu")
    assert (len(samples), header.n_claimed, header.repeats, header.status) == (10, 10, 1, "complete")
    assert log.notes() == []
    first = samples[0]
    assert (first.id, first.answer, first.references) == ("id147", " D", ("internalmeaning",))
    assert (first.scores["exact_match"].value, first.scores["exact_match"].answer) == (0.0, "meaning in an afterlife")
    assert (first.input_tokens, first.output_tokens, first.latency_ms) == (333, 1, 680)
    claims = {f"{one.scorer} {one.metric}".strip(): one for one in header.claims}
    assert claims["exact_match mean (test)"].value == pytest.approx(1 / 9)
    for one in header.claims:
        if one.formula is not None:
            assert computed(one, samples) == pytest.approx(one.value), one
    untold = [one.metric for one in header.claims if one.formula is None]
    derived = ("perplexity", "bits_per_byte", "logprob_per_byte")
    assert untold == [f"{name} ({split})" for split in ("test", "valid") for name in derived]
    assert {one.why_not for one in header.claims} == {"", "it is of all instances together, and of none alone"}
    assert claims["inference_runtime (test)"].field == "inference_runtime"


# ── trials and perturbations ─────────────────────────────────────────────────────────────────────────────


def test_trials_are_repeats_and_claims_are_of_their_means(tmp_path: Path) -> None:
    """Means of the trials: 1/2 and 1. The mean of these 3/4, their variance 1/16."""
    values = {("id1", 0): 1.0, ("id2", 0): 0.0, ("id1", 1): 1.0, ("id2", 1): 1.0}
    states = [state(name, trial) for name, trial in values]
    log, samples = read(
        laid(tmp_path / "run", states, [of_instance(*key, f1_score=value) for key, value in values.items()],
             [stat("f1_score", 0.5, 1.0), stat("num_instances", 2, 2)], num_train_trials=2)
    )  # fmt: skip
    assert [(one.id, one.repeat, one.scores["f1_score"].value) for one in samples] == [
        ("id1", 0, 1.0), ("id2", 0, 0.0), ("id1", 1, 1.0), ("id2", 1, 1.0),
    ]  # fmt: skip
    assert log.header.n_claimed == 4
    found = {one.metric.removesuffix(" (test)"): one for one in log.header.claims}
    assert {name: (one.value, one.formula) for name, one in found.items()} == {
        "mean": (0.75, "mean"), "sum": (1.5, "sum"), "min": (0.5, "min"), "max": (1.0, "max"),
        "variance": (0.0625, "population_var"), "stddev": (0.25, "population_std"),
        "num_instances": (2.0, None),
    }  # fmt: skip
    for one in log.header.claims[:-1]:
        assert one.of_repeats
        assert computed(one, samples) == pytest.approx(one.value)
    assert found["num_instances"].why_not == "it counts instances, each of which has 2 samples"


def test_numbers_of_one_trial_restate_its_mean_and_those_that_do_not_are_claims(tmp_path: Path) -> None:
    good = stat("f1_score", 0.5)
    log, _ = read(laid(tmp_path / "a", [state()], [of_instance("id1", f1_score=0.5)], [good]))
    assert [one.metric for one in log.header.claims] == ["mean (test)"]
    log, _ = read(
        laid(tmp_path / "b", [state()], [of_instance("id1", f1_score=0.5)], [good | {"max": 0.9, "stddev": 0.2}])
    )
    assert [(one.metric, one.value, one.formula) for one in log.header.claims[1:]] == [
        ("max (test)", 0.9, "mean"), ("stddev (test)", 0.2, "population_std"),
    ]  # fmt: skip


def test_a_perturbed_copy_is_an_item_of_its_own_in_the_group_of_its_original(tmp_path: Path) -> None:
    """The original holds the least of both, and whatever else is of both."""
    states = [state("id1"), state("id1", perturbation=TYPOS, text="Whta?"), state("id2")]
    values = [
        of_instance("id1", f1_score=0.8, num_bytes=4),
        of_instance("id1", perturbation=TYPOS, f1_score=0.2, num_bytes=2),
        of_instance("id2", f1_score=0.6, num_bytes=4),
    ]
    stats = [
        stat("f1_score", 0.7),
        stat("f1_score", 0.2, perturbation=TYPOS),
        stat("f1_score", 0.8, perturbation={**TYPOS, "computed_on": "original"}),  # of id1 alone
        stat("f1_score", 0.2, perturbation={**TYPOS, "computed_on": "worst"}),
        stat("f1_score", 0.4, perturbation=WORST),  # of id1 0.2, of id2 its own 0.6
        stat("f1_score", 0.7, perturbation={**WORST, "name": "fairness"}),  # nothing was perturbed that is of fairness
        stat("num_bytes", 2, perturbation=TYPOS),
        stat("num_bytes", 3, perturbation=WORST),
    ]
    log, samples = read(laid(tmp_path / "run", states, values, stats))
    assert [(one.id, one.group, one.prompt) for one in samples] == [
        ("id1", None, "What is id1?"), ("id1, typos prob=0.5", "id1", "Whta?"), ("id2", None, "What is id2?"),
    ]  # fmt: skip
    assert [(one.metric, one.field or one.scorer, one.only and one.only[1]) for one in log.header.claims] == [
        ("mean (test)", "f1_score", "test"),
        ("mean (test, typos prob=0.5)", "f1_score", "test, typos prob=0.5"),
        ("f1_score (test, original typos prob=0.5)", "f1_score, original typos prob=0.5", "test"),
        ("f1_score (test, worst typos prob=0.5)", "f1_score, worst typos prob=0.5", "test"),
        ("f1_score (test, worst robustness)", "f1_score, worst robustness", "test"),
        ("mean (test, worst fairness)", "f1_score", "test"),
        ("num_bytes (test, typos prob=0.5)", "num_bytes", "test, typos prob=0.5"),
        ("num_bytes (test, worst robustness)", "", None),
    ]
    for one in log.header.claims[:-1]:
        assert computed(one, samples) == pytest.approx(one.value), one
    assert log.header.claims[-1].why_not == "it is of copies and originals together, and of no score"
    assert "f1_score, worst typos prob=0.5" not in samples[2].metadata


def test_copies_without_their_originals_tell_nothing_of_both(tmp_path: Path) -> None:
    stats = [stat("f1_score", 0.2, perturbation={**TYPOS, "computed_on": "worst"})]
    values = [of_instance("id1", perturbation=TYPOS, f1_score=0.2)]
    log, _ = read(laid(tmp_path / "run", [state("id1", perturbation=TYPOS)], values, stats))
    assert log.header.claims[0].why_not == "it is of originals, too, and they are not in the run"


# ── statistics and requests ──────────────────────────────────────────────────────────────────────────────


def test_each_metric_has_its_own_elements_in_any_order(tmp_path: Path) -> None:
    states = [state("id1"), state("id2")]
    values = [
        of_instance("id1", f1_score=0.1, num_prompt_tokens=7), of_instance("id2", f1_score=0.2, num_prompt_tokens=8),
        of_instance("id2", bleu_1=0.4), of_instance("id1", bleu_1=0.3),
    ]  # fmt: skip
    _, samples = read(laid(tmp_path / "run", states, values, []))
    assert [{name: score.value for name, score in one.scores.items()} for one in samples] == [
        {"f1_score": 0.1, "bleu_1": 0.3}, {"f1_score": 0.2, "bleu_1": 0.4},
    ]  # fmt: skip
    assert [one.input_tokens for one in samples] == [7, 8]


def test_several_requests_of_one_instance_have_the_statistics_in_their_order(tmp_path: Path) -> None:
    """As of the windows of a long text."""
    values = [of_instance("id1", surprise=1.0), of_instance("id1", surprise=2.0)]
    _, samples = read(laid(tmp_path / "run", [state(said="a"), state(said="b")], values, []))
    assert [(one.id, one.answer, one.scores["surprise"].value) for one in samples] == [
        ("id1", "a", 1.0),
        ("id1 #2", "b", 2.0),
    ]


def test_requests_of_each_reference_are_one_sample(tmp_path: Path) -> None:
    """Its answer is the reference that was found likeliest."""
    states = [
        state(reference_index=n, request_mode=mode, said="") for mode in ("original", "calibration") for n in (0, 1)
    ]
    values = [of_instance("id1", exact_match=0.0, predicted_index=1)]
    _, (sample,) = read(laid(tmp_path / "run", states, values, []))
    assert (sample.answer, sample.choices, sample.scores["exact_match"].value) == ("no", ("yes", "no"), 0.0)


def test_a_letter_is_read_by_its_mapping_and_the_likeliest_completion_counts(tmp_path: Path) -> None:
    one = state(output_mapping={"A": "yes", "B": "no"})
    one["result"]["completions"] = [{"text": " B", "logprob": -2.0}, {"text": " A", "logprob": -1.0}]
    _, (sample,) = read(laid(tmp_path / "run", [one], [of_instance("id1", exact_match=1.0)], []))
    assert (sample.answer, sample.scores["exact_match"].answer, sample.choices) == (" A", "yes", ("yes", "no"))
    assert sample.metadata["outputs"] == [" B", " A"]


def test_a_failed_request_is_no_wrong_answer(tmp_path: Path) -> None:
    """HELM goes on after some errors, and scores an empty text."""
    failed = state("id1", said="")
    failed["result"] |= {"success": False, "error": "content filter"}
    unsent = state("id2")
    del unsent["result"]
    values = [of_instance("id1", exact_match=0.0), of_instance("id2")]
    _, samples = read(laid(tmp_path / "run", [failed, unsent], values, []))
    assert [one.failure for one in samples] == [
        LogFailure(message="content filter"), LogFailure(message="it was never sent", kind="cancelled")
    ]  # fmt: skip
    score = samples[0].scores["exact_match"]
    assert (score.value, score.unscored, score.said, samples[0].answer) == (None, "its request failed", "0.0", None)


def test_a_statistic_that_is_not_there_is_no_score(tmp_path: Path) -> None:
    """HELM leaves out what is NaN; one without a value has a count of 0."""
    values = [of_instance("id1", f1_score=1.0), of_instance("id2"), of_instance("id3", f1_score=None)]
    _, samples = read(laid(tmp_path / "run", [state(f"id{n}") for n in (1, 2, 3)], values, []))
    assert [one.scores["f1_score"].value for one in samples] == [1.0, None, None]
    assert samples[1].scores["f1_score"].unscored == "no statistic of it, as where it was NaN"


def test_means_of_more_and_of_fewer_values_are_not_added_up_again(tmp_path: Path) -> None:
    """HELM weighs each by its values; where all have as many it makes no difference."""

    def claims(*counts: int, worst: bool = False) -> list[Claim]:
        values = [of_instance(f"id{n}") for n in range(len(counts))]
        for one, count in zip(values, counts, strict=True):
            one["stats"] = [stat("toxicity", *[0.5] * count)]
        states = [state(f"id{n}") for n in range(len(counts))]
        of_all = stat("toxicity", 0.5, **({"perturbation": WORST} if worst else {}))
        return list(read(laid(tmp_path / f"{counts}{worst}", states, values, [of_all]))[0].header.claims)

    assert [one.formula for one in claims(2, 2)] == ["mean"]
    assert claims(2, 2, worst=True)[0].why_not.startswith("it is of the least of an instance's several values")
    assert claims(2, 3)[0].why_not == "instances have means of more and of fewer values, and how many is not in it"


def test_scales_and_directions_are_those_of_known_metrics(tmp_path: Path) -> None:
    values = [of_instance("id1", **{"exact_match@5": 1.0, "wer_score": 0.2, "stars": 4.0})]
    log, _ = read(laid(tmp_path / "run", [state()], values, []))
    assert [(one.name, one.lowest, one.highest, one.higher_is_better) for one in log.header.scorers] == [
        ("exact_match@5", 0.0, 1.0, True), ("wer_score", None, None, False), ("stars", None, None, True),
    ]  # fmt: skip


def test_what_was_sent_and_said_beside_it(tmp_path: Path) -> None:
    one = state(sub_split="hard", annotations={"jury": [{"score": 4}]})
    one["request"] = {"messages": [{"role": "user", "content": "Yes?"}]}
    one["instance"]["input"] = {"text": "", "messages": [{"role": "user", "content": "Yes or no?"}]}
    log, (sample,) = read(laid(tmp_path / "run", [one], [], []))
    assert (sample.prompt, sample.messages, sample.category) == (
        "Yes or no?",
        [{"role": "user", "content": "Yes?"}],
        "hard",
    )
    assert sample.metadata["annotations"] == {"jury": [{"score": 4}]}
    assert log.header.metadata["run"] == "yes_no:model=acme_m1"
    assert (log.header.task, sample.finish_reason, sample.latency_ms) == ("yes_no:hard=True", "stop", 250)
    assert [one.metadata for one in log_again(tmp_path / "run")] == [{"context": "test/hard"}]


def log_again(path: Path) -> list[LogSample]:
    """As an audit reads it."""
    (log,) = opened_logs(path)
    with log:
        return list(log.samples(whole=False))


# ── what is not there, and what is broken ────────────────────────────────────────────────────────────────


def test_files_that_are_absent_are_told(tmp_path: Path) -> None:
    stats = [stat("f1_score", 0.5)]
    log, samples = read(laid(tmp_path / "a", [state()], None, stats))
    assert (log.header.claims[0].why_not, samples[0].scores) == ("the statistics of instances are absent", {})
    assert [one.words for one in log.notes()] == ["per_instance_stats.json is not in the folder"]
    log, samples = read(laid(tmp_path / "b", None, [of_instance("id1", f1_score=0.5)], stats))
    assert [(one.id, one.prompt, one.answer, one.scores["f1_score"].value) for one in samples] == [
        ("id1", "", None, 0.5)
    ]
    log, samples = read(laid(tmp_path / "c", None, None, stats))
    assert samples == []
    assert log.header.status == "not_known"


def test_statistics_of_no_request_are_told(tmp_path: Path) -> None:
    values = [of_instance("id1", f1_score=1.0), of_instance("id9", f1_score=0.0)]
    log, _ = read(laid(tmp_path / "run", [state()], values, []))
    assert [(one.code, one.n) for one in log.notes()] == [("stats_without_sample", 1)]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("run_spec.json", "[]", "run_spec.json: another form"),
        ("run_spec.json", '{"name": "x"', "run_spec.json: no whole JSON"),
        ("per_instance_stats.json", '[{"instance_id": "id1", "stats": 3}]', "[0]: another form"),
        ("per_instance_stats.json", '[{"instance_id": "id1", "st', "the file's end in the middle of it"),
        ("stats.json", '[{"name": "f1"}]', "[0]: another form"),
        (
            "stats.json",
            '[{"name": {"name": "x"}, "more": ' + "[" * 10_000 + "]" * 10_000 + "}]",
            "JSON nested too deeply",
        ),
        ("scenario_state.json", '{"request_states": [{"instance": {}}]}', "request_states[0]: another form"),
        ("scenario_state.json", '{"request_states": [{"instance": {"input"', "the file's end in the middle of it"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(tmp_path: Path, name: str, text: str, where: str) -> None:
    folder = laid(tmp_path / "run", [state()], [of_instance("id1", f1_score=1.0)], [])
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(InputError) as error:
        read(folder)
    assert where in str(error.value)


def test_odd_values_are_read_as_they_are(tmp_path: Path) -> None:
    """NaN and Infinity as Python writes them, an id that is half a surrogate pair, and escapes of a terminal."""
    folder = laid(
        tmp_path / "run",
        [state(said="\x1b[2J")],
        [of_instance("id1", f1_score=float("nan"))],
        [stat("f1_score", float("inf"))],
    )
    for name in ("scenario_state.json", "per_instance_stats.json"):
        text = (folder / name).read_text("utf-8").replace('"id1"', '"\\ud800"')
        (folder / name).write_text(text, "utf-8")
    log, (sample,) = read(folder)
    assert (sample.id, sample.answer, sample.scores["f1_score"].value) == ("\\ud800", "\x1b[2J", None)
    assert log.header.claims[0].value is None


def test_a_folder_of_runs_has_each(tmp_path: Path) -> None:
    for name in ("a", "b"):
        laid(tmp_path / "runs" / name, [state()], [], [])
    (tmp_path / "runs" / "eval_cache").mkdir()
    logs = list(opened_logs(tmp_path))
    assert len(logs) == 2
    for log in logs:
        log.close()


def test_other_folders_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "stats.json").write_text(json.dumps([]), "utf-8")
    with pytest.raises(InputError, match="without any log"):
        list(opened_logs(tmp_path))


def test_numbers_beyond_any_count_are_none(tmp_path: Path) -> None:
    values = [of_instance("id1", num_prompt_tokens=1e300)]
    log, (sample,) = read(laid(tmp_path / "run", [state()], values, [stat("num_instances", 1e300)]))
    assert (sample.input_tokens, log.header.n_claimed) == (None, None)
    with pytest.raises(InputError, match="train_trial_index"):
        read(laid(tmp_path / "late", [state(trial=1 << 40)], [], []))
