"""Each reader of the study of published judges, on a few rows made up in the form of its source."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from published_judges.judgement import RIGHT, WRONG, Judgement
from published_judges.readers import READERS
from published_judges.readers.alpaca_eval import arena_elo
from published_judges.readers.replies import grade_at_the_end, letter, stars
from published_judges.readers.summeval import experts_differ
from published_judges.readers.wmt import points
from published_judges.sources import read_sources


def put(folder: Path, name: str, content: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="")


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def read(source: str, folder: Path) -> list[Judgement]:
    return list(READERS[source](folder))


def brief(judgements: list[Judgement]) -> list[tuple[Any, ...]]:
    return [(one.judge, one.model, one.item, one.score, one.people, one.reading) for one in judgements]


def test_every_source_has_its_reader() -> None:
    assert list(read_sources()) == list(READERS)


def test_a_score_outside_of_its_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, not 1\.5"):
        Judgement(source="s", judge="j", model="m", item="i", score=1.5, people=None)


# ── triviaqa ─────────────────────────────────────────────────────────────────────────────────────────────────

HEAD = "model,response,question,references,benchmark,GPT-4,EM,HumanJudgement\r\n"


def test_triviaqa_has_a_judge_a_column_and_an_item_a_question(tmp_path: Path) -> None:
    rows = "m1,x,Who?,y,b,True,False,True\r\nm2,z,Who?,y,b,,False,False\r\nm1,x,When?,y,b,False,True,False\r\n"
    put(tmp_path, "results/Some_V1.csv", HEAD + rows)
    assert brief(read("triviaqa", tmp_path)) == [
        ("V1 GPT-4", "m1", "V1 question 1", 1.0, 1.0, "given"),
        ("V1 EM", "m1", "V1 question 1", 0.0, 1.0, "given"),
        ("V1 GPT-4", "m2", "V1 question 1", None, 0.0, "none"),
        ("V1 EM", "m2", "V1 question 1", 0.0, 0.0, "given"),
        ("V1 GPT-4", "m1", "V1 question 2", 0.0, 0.0, "given"),
        ("V1 EM", "m1", "V1 question 2", 1.0, 0.0, "given"),
    ]


def test_triviaqa_leaves_out_what_nobody_judged_and_what_was_answered_twice(tmp_path: Path) -> None:
    rows = "m1,x,Who?,y,b,True,False,True\r\nm1,again,Who?,y,b,False,False,False\r\nm2,x,Who?,y,b,,,\r\n"
    put(tmp_path, "results/Some_V2.csv", HEAD.replace("HumanJudgement", "Human-Eval") + rows)
    assert [(one.model, one.score) for one in read("triviaqa", tmp_path)] == [("m1", 1.0), ("m1", 0.0)]


# ── summeval ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("It leaves out the main point. Score: 2", (2.0, "strict")),
        ("It is fine. Final score: 4.5.", (4.5, "strict")),
        ("All is there. Score: 4 out of 5.", (4.0, "strict")),
        ("All is there. Score: 4/5", (4.0, "strict")),
        ("I would score it 3, for two of five facts are wrong.", (3.0, "guess")),
        ("The score is a measure of fluency. Score: 3", (3.0, "guess")),  # the word twice
        ("Score: four", (4.0, "guess")),
        ("A clear 4 out of 5 for 17 sentences.", (4.0, "guess")),
        ("Score: 10", (None, "none")),
        ("In 2015 all was well.", (None, "none")),
        ("I can't tell.", (None, "none")),
        ("", (None, "none")),
    ],
)
def test_a_grade_is_read_strictly_or_guessed(reply: str, found: tuple[float | None, str]) -> None:
    assert grade_at_the_end(reply) == found


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("4 stars", (4.0, "strict")),
        (" 3.5 Stars. ", (3.5, "strict")),
        ("1 star", (1.0, "strict")),
        ("I give it 2 stars, since 3 facts are wrong.", (2.0, "guess")),
        ("Four-star work", (4.0, "guess")),
        ("5", (5.0, "guess")),
        ("None.", (None, "none")),
    ],
)
def test_stars_are_read_strictly_or_guessed(reply: str, found: tuple[float | None, str]) -> None:
    assert stars(reply) == found


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("B", ("B", "strict")),
        ("B: the second is better", ("B", "guess")),
        ("Summary A is better", ("A", "guess")),
        ("b", ("B", "guess")),
        ("Both are fine", (None, "none")),
        ("D", (None, "none")),
    ],
)
def test_a_letter_is_the_whole_reply_or_its_beginning(reply: str, found: tuple[str | None, str]) -> None:
    assert letter(reply, "ABC") == found


def annotated(model: str, grades: list[int]) -> dict[str, Any]:
    sides = ("coherence", "consistency", "fluency", "relevance")
    return {"id": "a1", "model_id": model, "expert_annotations": [dict.fromkeys(sides, grade) for grade in grades]}


def test_summeval_grades_are_shares_of_their_scale(tmp_path: Path) -> None:
    put(tmp_path, "model_output_annotations/M1_outputs_annotations.jsonl", lines(annotated("M1", [5, 5, 2])))
    replies = lines({"id": "a1", "resp": "Good. Score: 4"}, {"id": "a1", "resp": "Asked again. Score: 1"})
    put(tmp_path, "eval_model_generations/judge/eval_M1_generations/fluency_rts.txt", replies)
    put(tmp_path, "eval_model_generations/judge/eval_M1_generations/fluency_mcq_old.txt", replies)
    assert brief(read("summeval", tmp_path)) == [("judge rts fluency", "M1", "a1", 0.75, 0.75, "strict")]


def test_experts_differ_where_the_first_two_do(tmp_path: Path) -> None:
    values = lines(annotated("M1", [5, 5, 2]), annotated("M1", [5, 4, 4]))
    put(tmp_path, "model_output_annotations/M1_outputs_annotations.jsonl", values)
    assert experts_differ(tmp_path) == ([False] * 4 + [True] * 4, ["a1"] * 8)


def test_summeval_turns_a_swapped_verdict_back(tmp_path: Path) -> None:
    for model, grade in (("M1", 2), ("M2", 4)):
        put(tmp_path, f"model_output_annotations/{model}_outputs_annotations.jsonl", lines(annotated(model, [grade])))
    put(tmp_path, "comp_res/judge/M1-M2_fluency.result", lines({"id": "a1", "resp": "B"}))
    put(tmp_path, "comp_res/judge/M1-M2_fluency_toggle.result", lines({"id": "a1", "resp": "B: the other"}))
    found = read("summeval", tmp_path)
    assert [(one.model, one.against, one.score, one.people, one.swapped) for one in found] == [
        ("M1", "M2", 0.0, 0.25, False),
        ("M1", "M2", 1.0, 0.25, True),
    ]


# ── the others with people's labels ──────────────────────────────────────────────────────────────────────────


def test_pandalm_prefers_the_first_the_second_or_neither(tmp_path: Path) -> None:
    pairs = [
        {"idx": 0, "cmp_key": "bloom_llama", "annotator1": 1, "annotator2": 1, "annotator3": 0},
        {"idx": 1, "cmp_key": "bloom_llama", "annotator1": 2, "annotator2": 2, "annotator3": 2},
    ]
    put(tmp_path, "data/testset-v1.json", json.dumps(pairs))
    said = [{"idx": 0, "gpt_result": "1"}, {"idx": 1, "gpt_result": "garbage"}]
    put(tmp_path, "data/gpt-3.5-turbo-testset-v1.json", json.dumps(said))
    put(tmp_path, "data/pandalm-7b-testset-v1.json", json.dumps([{"idx": 1, "pandalm_result": 0}]))
    assert brief(read("pandalm", tmp_path)) == [
        ("gpt-3.5-turbo", "bloom", "pair 0", 1.0, pytest.approx(5 / 6), "given"),
        ("gpt-3.5-turbo", "bloom", "pair 1", None, 0.0, "none"),
        ("pandalm-7b", "bloom", "pair 1", 0.5, 0.0, "given"),
    ]


@pytest.mark.parametrize(
    ("marks", "people"),
    [
        ([], 1.0),
        ([["Benign"]], 1.0),
        ([["Benign"], ["Unwanted", "Unwanted.Intrinsic"]], 0.0),
        ([["Questionable"]], 0.0),
    ],
)
def test_faithbench_goes_by_the_worst_mark(marks: list[list[str]], people: float, tmp_path: Path) -> None:
    judges = {"hhem": 0.25, "gpt": 1, "nli": None}
    sample = {
        "source": "s",
        "annotations": [{"label": one} for one in marks],
        "metadata": {"summarizer": "m", "raw_sample_id": 3, **judges},
    }
    put(tmp_path, "data_for_release/batch_1.json", json.dumps({"samples": [sample]}))
    assert brief(read("faithbench", tmp_path)) == [
        ("hhem", "m", "batch_1 source 1", 0.25, people, "given"),
        ("gpt", "m", "batch_1 source 1", 1.0, people, "given"),
        ("nli", "m", "batch_1 source 1", None, people, "none"),
    ]


@pytest.mark.parametrize(
    ("category", "severity", "taken_off"),
    [
        ("No-error", "No-error", 0.0),
        ("Found", "HOTW-test", 0.0),
        ("Source issue", "Major", 0.0),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Fluency/Punctuation", "Major", 5.0),
        ("Style/Awkward", "Minor", 1.0),
        ("Accuracy/Mistranslation", "Major", 5.0),
        ("Non-translation!", "Major", 25.0),
    ],
)
def test_an_error_takes_off_as_its_authors_weigh_it(category: str, severity: str, taken_off: float) -> None:
    assert points(category, severity) == taken_off


def test_wmt_holds_one_translator_against_the_mean_of_the_others(tmp_path: Path) -> None:
    marks = [("r1", "A/M", "Major"), ("r2", "No-error", "No-error"), ("r3", "S", "Minor"), ("r1", "S", "Minor")]
    rows = ["\t".join(("sys", "doc", "1", "9", rater, "s", "t", mark, grave, "{}")) for rater, mark, grave in marks]
    table = "\n".join(["head", *rows, ""]).encode()
    path = tmp_path / "generalMT2023/ende/some.tsv.tar.gz"
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("some.tsv")
        member.size = len(table)
        archive.addfile(member, io.BytesIO(table))
    assert brief(read("wmt", tmp_path)) == [
        ("ende r1", "sys", "ende doc 1", pytest.approx(1 - 6 / 25), pytest.approx(1 - 0.5 / 25), "given"),
        ("ende r2", "sys", "ende doc 1", 1.0, pytest.approx(1 - 3.5 / 25), "given"),
        ("ende r3", "sys", "ende doc 1", pytest.approx(1 - 1 / 25), pytest.approx(1 - 3 / 25), "given"),
    ]


# ── one of two is right ──────────────────────────────────────────────────────────────────────────────────────


def test_judgebench_scores_the_right_answer_wherever_it_stood(tmp_path: Path) -> None:
    def said(decision: str | None, text: str) -> dict[str, Any]:
        return {"decision": decision, "judgment": {"response": text}}

    twice = [said("A>B", "So [[A>B]]"), said("A>B", "[[A=B]] or rather [[A>B]]")]
    never = [said(None, "?"), said("A=B", "[[A=B]]")]
    pairs = [
        {"pair_id": "p1", "response_model": "m", "label": "B>A", "judgments": twice},
        {"pair_id": "p2", "response_model": "m", "label": "A>B", "judgments": never},
    ]
    name = "outputs/dataset=judgebench,response_model=m,judge_name=arena_hard,judge_model=acme.jsonl"
    put(tmp_path, name, lines(*pairs))
    found = read("judgebench", tmp_path)
    assert {(one.judge, one.model, one.against) for one in found} == {("acme (arena_hard; answers of m)", RIGHT, WRONG)}
    assert [(one.item, one.score, one.reading, one.swapped) for one in found] == [
        ("m p1", 0.0, "strict", False),
        ("m p1", 1.0, "guess", True),
        ("m p2", None, "none", False),
        ("m p2", 0.5, "strict", True),
    ]


def test_judgebench_takes_the_numbers_of_reward_models(tmp_path: Path) -> None:
    said = {"decision": "B>A", "judgment": {"response": "", "scores": [-1.0, 2.0]}}
    pair = {"pair_id": "p", "response_model": "m", "label": "B>A", "judgments": [said]}
    put(tmp_path, "outputs/dataset=d,response_model=m,judge_name=reward_model,judge_model=r.jsonl", lines(pair))
    assert [(one.score, one.reading) for one in read("judgebench", tmp_path)] == [(1.0, "given")]


def test_llmbar_has_a_verdict_in_either_order(tmp_path: Path) -> None:
    head = "subset,item,gold,judge,strategy,winner_ab,winner_ba,score_1,score_2\n"
    put(tmp_path, "judgements.csv", head + "Natural,7,2,PaLM2,CoT,2,1,,\nNatural,8,1,PaLM2,CoT,,1,,\n")
    assert [(one.judge, one.item, one.score, one.swapped) for one in read("llmbar", tmp_path)] == [
        ("PaLM2 CoT", "Natural 7", 1.0, False),
        ("PaLM2 CoT", "Natural 7", 0.0, True),
        ("PaLM2 CoT", "Natural 8", None, False),
        ("PaLM2 CoT", "Natural 8", 1.0, True),
    ]


# ── without people ───────────────────────────────────────────────────────────────────────────────────────────


def test_cje_takes_the_stronger_models_grade_of_the_very_answer(tmp_path: Path) -> None:
    sample = "examples/arena_sample"
    draws = [
        {"prompt_id": "p1", "response": "x", "judge_score": 0.8},
        {"prompt_id": "p2", "response": "x", "judge_score": 0.6},
    ]
    probe = [
        {"prompt_id": "p1", "response": "x", "judge_score": 0.8, "oracle_label": 0.5},
        {"prompt_id": "p2", "response": "another", "judge_score": 0.6, "oracle_label": 0.1},
    ]
    put(tmp_path, f"{sample}/fresh_draws/clone_responses.jsonl", lines(*draws))
    put(tmp_path, f"{sample}/probe_slice/clone_probe.jsonl", lines(*probe))
    put(tmp_path, f"{sample}/fresh_draws/base_responses.jsonl", lines({**draws[0], "oracle_label": 0.9}))
    assert [(one.model, one.item, one.score, one.people) for one in read("cje", tmp_path)] == [
        ("base", "p1", 0.8, 0.9),
        ("clone", "p1", 0.8, 0.5),
        ("clone", "p2", 0.6, None),
    ]


def test_alpaca_eval_prefers_a_model_to_its_baseline(tmp_path: Path) -> None:
    said = [{"instruction": f"do {number}", "preference": one} for number, one in enumerate((2.0, 1, 1.25, 0, None))]
    put(tmp_path, "results/acme-1/alpaca_eval_gpt4/annotations.json", json.dumps(said))
    put(tmp_path, "notebooks/benchmarks.csv", 'Model,"Arena Elo\n[April 18, 2024]",MT\nacme-1,1100,\nbolt,,7\nshort\n')
    found = read("alpaca_eval", tmp_path)
    assert [(one.judge, one.model) for one in found] == [("alpaca_eval_gpt4", "acme-1")] * 5
    assert [one.score for one in found] == [1.0, 0.0, 0.25, 0.5, None]
    assert arena_elo(tmp_path) == {"acme-1": 1100.0}


def test_wildbench_grades_are_shares_of_their_scale(tmp_path: Path) -> None:
    said = [
        {"session_id": "s1", "score": "10"},
        {"session_id": "s2", "score": "1"},
        {"session_id": "s3", "score": "N/A"},
    ]
    put(tmp_path, "eval_results/v2.0/score.v2/eval=gpt/acme.json", json.dumps(said))
    assert brief(read("wildbench", tmp_path)) == [
        ("gpt (v2.0)", "acme", "s1", 1.0, None, "given"),
        ("gpt (v2.0)", "acme", "s2", 0.0, None, "given"),
        ("gpt (v2.0)", "acme", "s3", None, None, "none"),
    ]
