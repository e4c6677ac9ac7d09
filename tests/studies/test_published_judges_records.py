"""Records of published judges, of a few files in the form of the sources: they verify, and say what the study says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
import records
from published_judges.records import SETS
from published_judges.records.checking import checked, held_pairs, summed_up
from published_judges.records.inputs import plain
from published_judges.records.making import MadeSet, labelled, make
from published_judges.records.published import PublishedSet

VERSION = "made-up-1"
N = 56  # items: more than twice the labels of a drawing


def put(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="")


def lines(values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def triviaqa(folder: Path) -> None:
    """Two models; GPT-4 says as people do, EM nothing of m2's first answer, and the other way round of every third."""
    rows = ["model,response,question,references,benchmark,GPT-4,EM,HumanJudgement"]
    for model, least in (("m1", 14), ("m2", 40)):
        for item in range(N):
            people = str(item < least)
            em = "" if (model, item) == ("m2", 0) else str((item < least) is (item % 3 > 0))
            rows.append(f"{model},Q: {item}? A:,{item}?,yes,b,{people},{em},{people}")
    put(folder, "results/Made_V1.csv", "\r\n".join(rows) + "\r\n")


SIDES = ("coherence", "consistency", "fluency", "relevance")


def summeval(folder: Path) -> None:
    """Of fluency, two judges: one replies as it was asked to, half grades too; thirty of the other's are guesses."""
    for model, better in (("M1", 0), ("M2", 2)):
        summaries = []
        for item in range(N):
            experts = [1 + better, 1 + better, 3] if item % 2 else [1 + better, 3, 2 + better]
            summaries.append({
                "id": f"a{item}", "model_id": model, "text": f"Article {item}.", "decoded": f"{model} on {item}.",
                "expert_annotations": [dict.fromkeys(SIDES, grade) for grade in experts],
            })  # fmt: skip
        put(folder, f"model_output_annotations/{model}_outputs_annotations.jsonl", lines(summaries))
        strict = [
            {"id": f"a{item}", "resp": f"So so. Score: {1.5 + better if item % 2 else 2 + better}"} for item in range(N)
        ]
        guessed = [
            {"id": f"a{item}", "resp": "I'd score it 2, or less." if item < 30 else "Score: 4"} for item in range(N)
        ]
        for judge, replies in (("good", strict), ("loose", guessed)):
            put(folder, f"eval_model_generations/{judge}/eval_{model}_generations/fluency_rts.txt", lines(replies))


def faithbench(folder: Path) -> None:
    samples = [
        {
            "source": f"Source {item}.",
            "summary": f"{model} on {item}.",
            "annotations": [{"label": ["Unwanted.Intrinsic"]}] if item % 2 else [{"label": ["Benign"]}],
            "metadata": {"summarizer": model, "raw_sample_id": item, "hhem": 0.125, "gpt": int(item % 4 > 0)},
        }
        for model in ("o/m-1", "o/m-2")
        for item in range(4)
    ]
    put(folder, "data_for_release/batch_1.json", json.dumps({"samples": samples}))


def cje(folder: Path) -> None:
    draws = [
        {
            "prompt_id": f"p{item}",
            "prompt": f"Say {item}.",
            "response": f"{item}",
            "judge_score": score,
            "oracle_label": 1,
        }
        for item, score in enumerate((0.85, 0.29, 1.0, 0.0))
    ]
    put(folder, "examples/arena_sample/fresh_draws/base_responses.jsonl", lines(draws))


SOURCES = {"triviaqa": triviaqa, "summeval": summeval, "faithbench": faithbench, "cje": cje}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MadeSet]:
    """The records of all sources, by set; of SummEval the side alone that a judge graded."""
    folder = tmp_path_factory.mktemp("published")
    found = {}
    for key, write in SOURCES.items():
        write(folder / key)
        for published in SETS[key](folder / key):
            if published.judgements:
                found[published.key] = make(published, VERSION, folder / "records")
    return found


def record(made: MadeSet, judge: str, model: str) -> Any:
    (found,) = (one.run for one in made.records if (one.judge, one.model) == (judge, model))
    return found


def scores(run: Any) -> list[float | None]:
    return list(run.samples.sort("sample")["sample_score"])


def test_every_source_with_texts_has_its_records() -> None:
    assert list(SETS) == list(SOURCES)


@pytest.mark.parametrize(
    ("key", "n_records", "samples", "no_score", "label_folders", "labels", "moved"),
    [
        ("triviaqa-v1", 4, 4 * N, 1, 2, 2 * N, 0),
        ("summeval-fluency", 4, 4 * N, 60, 2, 4 * N, 2),
        ("faithbench", 2, 8, 0, 2, 8, 0),
        ("cje", 1, 4, 0, 0, 0, 0),
    ],
)
def test_records_verify_and_their_means_are_the_studys(
    made: dict[str, MadeSet],
    key: str,
    n_records: int,
    samples: int,
    no_score: int,
    label_folders: int,
    labels: int,
    moved: int,
) -> None:
    assert checked(made[key]) == {
        "records": n_records,
        "samples": samples,
        "no_score": no_score,
        "label_folders": label_folders,
        "labels": labels,
        "not_labelled": 0,
        "verified": n_records,
        "labels_verified": label_folders,
        "as_in_the_study": n_records,
        "moved": moved,
    }


def test_a_record_has_what_its_judge_said(made: dict[str, MadeSet]) -> None:
    assert scores(record(made["triviaqa-v1"], "V1 GPT-4", "m1")) == [1.0] * 14 + [0.0] * (N - 14)
    assert scores(record(made["summeval-fluency"], "good rts fluency", "M1"))[:2] == [0.25, 0.125]
    assert scores(record(made["faithbench"], "gpt", "o/m-2")) == [0.0, 1.0, 1.0, 1.0]
    assert scores(record(made["cje"], "the sample's judge", "base")) == [0.85, 0.29, 1.0, 0.0]


def test_a_judges_own_words_are_the_rationale(made: dict[str, MadeSet]) -> None:
    run = record(made["summeval-fluency"], "good rts fluency", "M2")
    assert run.samples.sort("sample")["rationale"][1] == "So so. Score: 3.5"
    assert run.samples["item_id"].n_unique() == N


def test_what_can_only_be_guessed_stays_as_it_is_and_unread(made: dict[str, MadeSet]) -> None:
    """Thirty in a row, of which ten stop a run: it is gone on with."""
    run = record(made["summeval-fluency"], "loose rts fluency", "M1")
    assert scores(run) == [None] * 30 + [0.75] * (N - 30)
    assert set(run.samples.sort("sample")["parse_error_reason"][:30]) == {"malformed_json"}
    said = [file.read_text(encoding="utf-8") for file in (run.path / "journal").glob("*.jsonl")]
    assert sum(part.count("I'd score it 2, or less.") for part in said) == 60  # each is asked for twice
    assert run.state == "complete"


def test_nothing_is_made_up_about_tokens(made: dict[str, MadeSet]) -> None:
    samples = record(made["cje"], "the sample's judge", "base").samples
    assert samples["input_tokens"].null_count() == samples["output_tokens"].null_count() == 4


@pytest.mark.slow
def test_two_models_differ_in_the_records_as_in_the_study(made: dict[str, MadeSet]) -> None:
    for key, n_pairs in (("triviaqa-v1", 2), ("summeval-fluency", 1), ("faithbench", 0), ("cje", 0)):
        found = summed_up(held_pairs(made[key]))
        assert found["n"] == found["means"] == found["judged"] == found["all_labels"] == found["few_labels"] == n_pairs
        assert found["others"] == []
        assert found["alike"] == n_pairs
    (good,) = held_pairs(made["summeval-fluency"])
    assert (good.judge, good.judged, good.all_labels, good.few_labels) == ("good rts fluency", (1, 1), (1, 1), (1, 1))


def test_labels_of_three_experts_stand_by_their_median(made: dict[str, MadeSet]) -> None:
    labels = made["summeval-fluency"].labels["M1"]
    origins = labels.progress.by_field["fluency_score"]
    assert (origins["agreed"], origins["adjudicated"], origins["disputed"]) == (N // 2, N // 2, 0)
    names = {row["sample"]: row["item_id"] for row in labels.sheet.iter_rows(named=True)}
    golds = {names[sample]: labels.book.state.gold(sample, "fluency_score").score for sample in names}
    assert (golds["a1"], golds["a0"]) == (0, 2)  # of 1, 1, 3 and of 1, 3, 2, in half grades above 1


def test_people_and_judge_are_held_against_each_other(made: dict[str, MadeSet]) -> None:
    one = made["triviaqa-v1"]
    card = bb.calibrate(record(one, "V1 GPT-4", "m2"), one.labels["m2"])
    assert f"agrees with people on {N} of {N} answers" in str(card)


def test_labels_of_some_items_alone(made: dict[str, MadeSet], tmp_path: Path) -> None:
    one = made["triviaqa-v1"]
    few = labelled(one.published, one.records[0], tmp_path / "few", {"V1 question 3", "V1 question 5"})
    assert few.progress.by_field["right_score"]["single"] == 2


def test_two_names_that_are_one_folder_are_refused(tmp_path: Path) -> None:
    cje(tmp_path / "cje")
    (published,) = SETS["cje"](tmp_path / "cje")
    make(published, VERSION, tmp_path / "records")
    with pytest.raises(ValueError, match="a second judge and model of this name"):
        make(published, VERSION, tmp_path / "records")


@pytest.mark.parametrize(
    ("name", "found"),
    [("V1 GPT-4", "v1-gpt-4"), ("../a/B_1.5", "a-b-1.5"), ("the sample's judge", "the-sample-s-judge")],
)
def test_a_name_of_others_is_a_plain_part_of_a_path(name: str, found: str) -> None:
    assert plain(name) == found


# ── the script ───────────────────────────────────────────────────────────────────────────────────────────────


def run_script(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["records.py", *words])
    return records.main()


@pytest.mark.slow
def test_the_script_makes_the_records_of_one_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faithbench(tmp_path / "data/faithbench")
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records.json")
    words = (str(tmp_path / "data"), "--to", str(tmp_path / "made"))
    assert run_script(monkeypatch, *words, "--only", "faithbench") == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["sets"]["faithbench"]["verified"] == 2
    assert "faithbench: 2 records" in told.err
    assert not (tmp_path / "records.json").exists()  # that has all sources
    found = bb.load("faithbench-gpt-o-m-1", runs=tmp_path / "made/runs")
    assert found.manifest.model_id == "recorded/o/m-1@FaithBench-cf89797d"
    with pytest.raises(SystemExit):
        run_script(monkeypatch, *words)
    assert "is there already" in capsys.readouterr().err


def test_a_source_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match=r"cje: no such folder; `python fetch\.py"):
        run_script(monkeypatch, str(tmp_path), "--to", str(tmp_path / "made"), "--only", "cje")
    with pytest.raises(SystemExit):
        run_script(monkeypatch, str(tmp_path), "--to", str(tmp_path / "made"), "--only", "wmt")


def test_a_grade_that_the_scale_does_not_have_is_none(made: dict[str, MadeSet]) -> None:
    published: PublishedSet = made["summeval-fluency"].published
    assert published.question.grade_of(0.125) == "1 and a half"
    assert published.question.grade_of(0.4) is None
