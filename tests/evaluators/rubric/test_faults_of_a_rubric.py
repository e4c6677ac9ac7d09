"""Every fault of a rubric's files is named by file and line, with what would be right; and none where there is none."""

from __future__ import annotations

from typing import Any

import pytest

from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.specs.faults import SpecError

HEAD = 'name = "own"\nversion = 1\nabout = "x"\n'  # 3 lines
GOOD = '[[criteria]]\nname = "good"\nquestion = "Good?"\nscale = [0, 1, 2]\n'  # 4
OTHER = '[[criteria]]\nname = "safe"\nquestion = "Safe?"\nscale = ["no", "yes"]\n'  # 4
GATE = '[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'
PROMPT = "{{answer}} {{criteria}}\n"


def faults_of(spec: str, **files: str) -> list[str]:
    """What `benchbook rubric check` would say; `files` lie beside the spec, by their names without an ending."""
    beside = {"prompt": PROMPT} | files
    given = {"spec.toml": spec.encode(), **{f"{name}.txt": text.encode() for name, text in beside.items()}}
    try:
        read_rubric(given)
    except SpecError as error:
        return str(error).splitlines()
    return []


WITHOUT_FAULT = [
    HEAD + GOOD + GATE,
    HEAD + GOOD + "quote = true\n" + GATE,
    HEAD + GOOD + "quote = false\n" + GATE,
    HEAD + GOOD + 'quote = "report"\nquote_from = "answer"\n' + GATE,
    HEAD + GOOD + "at_least = 1\n" + OTHER + "[pass]\nat_least = 1\n" + GATE,
    HEAD + GOOD + '[pass]\nrule = "all"\n' + GATE,
    HEAD + GOOD + "[pass]\nmin_score = 1\n" + GATE,
    HEAD + GOOD + '[measures.cost]\nat_most = 0.01\n[[gates]]\naggregate = "cost_mean_usd"\nat_most = 0.005\n',
    HEAD + "[item_criteria]\n" + GATE,
    HEAD + GOOD + "[item_criteria]\nat_least = 0.5\nweight = 2.5\nrationale = true\n[pass]\nat_least = 1\n" + GATE,
    HEAD + '[item_criteria]\n[[gates]]\naggregate = "item_criteria_mean"\nat_least = 0.4\n',
    HEAD + GOOD.replace("good", "cost") + GATE,  # a criterion's name, where cost is not measured
]


@pytest.mark.parametrize("spec", WITHOUT_FAULT)
def test_what_has_no_fault(spec: str) -> None:
    assert faults_of(spec) == []


NO_TRANSCRIPT = "no {{transcript}} in what the judge is asked; expected {{transcript}}, which numbers the turns"
ONE_OF_THE_TWO = "expected one of rule = 'all', min_score and at_least".replace("'", '"')

# After the three lines of the head.
FAULTS: list[tuple[str, list[str]]] = [
    # the head
    ("", ["spec.toml: criteria: found nothing; expected at least one [[criteria]] table, or [item_criteria]",
          "spec.toml: gates: found nothing; expected at least one [[gates]] table"]),
    (GOOD, ["spec.toml: gates: found nothing; expected at least one [[gates]] table: a run is decided by its gates"]),
    ('criteria = "good"\n' + GATE, ["spec.toml:4: criteria: found 'good'; expected [[criteria]] tables"]),
    (GOOD + GATE + '[extra]\nx = 1\n', ["spec.toml:11: extra: found a key that nothing reads"]),
    (GOOD + GATE + "name\n", ["spec.toml:11: found no TOML"]),
    # a criterion
    ("[[criteria]]\n" + GATE, ["spec.toml:4: criteria[1].name: found nothing; expected a name of at most 48",
                               "spec.toml:4: criteria[1].question: found nothing; expected what the judge is asked",
                               "spec.toml:4: criteria[1].scale: found nothing; expected a scale such as"]),
    (GOOD.replace('"good"', '"Good"') + GATE, ["spec.toml:5: criteria[1].name: found 'Good'; expected a name"]),
    (GOOD.replace('"good"', '"latency"') + GATE,
     ["spec.toml:5: criteria[1].name: found 'latency', whose column latency_norm every record has"]),
    (GOOD + GOOD + GATE, ["spec.toml:9: criteria[2].name: found 'good' a second time; expected a name of its own"]),
    (GOOD.replace('"Good?"', '" "') + GATE,
     ["spec.toml:6: criteria[1].question: found ' '; expected text that is not blank"]),
    (GOOD + "weight = -1\n" + GATE, ["spec.toml:8: criteria[1].weight: found -1; expected a number above 0"]),
    (GOOD + 'no_answer = "worst"\n' + GATE,
     ["spec.toml:8: criteria[1].no_answer: found 'worst'; expected \"lowest\" or \"nothing\""]),
    (GOOD + "not_applicable = 1\n" + GATE,
     ["spec.toml:8: criteria[1].not_applicable: found 1; expected true or false"]),
    (GOOD + 'show = ["men"]\n' + GATE, ["spec.toml:8: criteria[1].show: found 'men'; expected"]),
    (GOOD + "show = []\n" + GATE, ["spec.toml:8: criteria[1].show: found an empty list; expected a list of mean"]),
    (GOOD + "at_least = 0\n" + GATE,
     ["spec.toml:8: criteria[1].at_least: found 0, which every score is at least; expected 1 to 2, or no at_least"]),
    # quotes
    (GOOD + 'quote = "yes"\n' + GATE,
     ["spec.toml:8: criteria[1].quote: found 'yes'; expected true, false, or \"report\""]),
    (GOOD + "quote = 1\n" + GATE, ["spec.toml:8: criteria[1].quote: found 1; expected true, false, or"]),
    (GOOD + 'quote_from = "answer"\n' + GATE,
     ["spec.toml:4: criteria[1].quote: found nothing; expected true or \"report\", for there is a quote_from"]),
    (GOOD + 'quote = false\nquote_from = "answer"\n' + GATE,
     ["spec.toml:8: criteria[1].quote: found nothing; expected true or \"report\""]),
    (GOOD + 'quote = true\nquote_from = "context"\n' + GATE,
     ["spec.toml:9: criteria[1].quote_from: found 'context'; expected \"answer\" or \"transcript\""]),
    (GOOD + 'quote = true\nquote_from = "transcript"\n' + GATE, [f"spec.toml: judge: found {NO_TRANSCRIPT}"]),
    # measures
    (GOOD + "[measures.speed]\nat_most = 5\n" + GATE,
     ["spec.toml:8: measures.speed: found a key that nothing reads; expected one of latency, tokens, cost"]),
    (GOOD + "measures = 5\n".replace("measures", "[measures]\nlatency") + GATE,
     ["spec.toml:9: measures.latency: found 5; expected a table [latency]"]),
    (GOOD + "[measures.tokens]\nat_most = 0\n" + GATE,
     ["spec.toml:9: measures.tokens.at_most: found 0; expected a whole number from 1"]),
    (GOOD + "[measures.tokens]\nat_most = 5\ntarget = 9\nweight = 1\n" + GATE,
     ["spec.toml:10: measures.tokens.target: found 9, more than at_most; expected at most 5"]),
    (GOOD + "[measures.tokens]\nweight = 1\n" + GATE,
     ["spec.toml:8: measures.tokens.target: found nothing; expected a target, for there is a weight"]),
    (GOOD + "[measures.cost]\n" + GATE,
     ["spec.toml:8: measures.cost: found neither at_most nor weight; expected at_most, or target and weight"]),
    (GOOD + "[measures.cost]\nat_most = 0\n" + GATE,
     ["spec.toml:9: measures.cost.at_most: found 0; expected US dollars for one answer, above 0"]),
    (GOOD + '[measures.cost]\nat_most = "0.01"\n' + GATE,
     ["spec.toml:9: measures.cost.at_most: found '0.01'; expected US dollars for one answer, above 0"]),
    (GOOD + "[measures.cost]\nat_most = 0.0000000001\n" + GATE,
     ["spec.toml:9: measures.cost.at_most: found 1E-10; expected US dollars"]),
    (GOOD + "[measures.cost]\nat_most = 0.01\ntarget = 0.02\nweight = 1\n" + GATE,
     ["spec.toml:10: measures.cost.target: found 0.02, more than at_most; expected at most 0.01"]),
    (GOOD.replace('"good"', '"cost"') + "[measures.cost]\nat_most = 0.01\n" + GATE,
     ["spec.toml:5: criteria[1].name: found 'cost', which is measured, too; expected another name"]),
    # when a sample passes
    (GOOD + "[pass]\n" + GATE, [f"spec.toml:8: pass: found nothing; {ONE_OF_THE_TWO}"]),
    (GOOD + "at_least = 1\n[pass]\nmin_score = 0.5\nat_least = 1\n" + GATE,
     [f"spec.toml:9: pass: found min_score and at_least; {ONE_OF_THE_TWO}"]),
    (GOOD + '[pass]\nrule = "any"\n' + GATE, ["spec.toml:9: pass.rule: found 'any'; expected \"all\""]),
    (GOOD + "[pass]\nmin_score = 0\n" + GATE, ["spec.toml:9: pass.min_score: found 0; expected a number above 0"]),
    (GOOD + "[pass]\nmin_score = 1.5\n" + GATE, ["spec.toml:9: pass.min_score: found 1.5; expected a number above 0"]),
    (GOOD + "[pass]\nmin_score = true\n" + GATE, ["spec.toml:9: pass.min_score: found true; expected a number"]),
    (GOOD + "[pass]\nat_least = 1\n" + GATE,
     ["spec.toml:9: pass.at_least: found 1, and no criterion that has an at_least; expected an at_least for each"]),
    (GOOD + "at_least = 1\n" + OTHER + "[pass]\nat_least = 2\n" + GATE,
     ["spec.toml:14: pass.at_least: found 2; expected how many of the 1 criteria with an at_least must be at it"]),
    (GOOD + "[pass]\nmin_scor = 0.5\n" + GATE,
     [f"spec.toml:8: pass: found nothing; {ONE_OF_THE_TWO}",
      "spec.toml:9: pass.min_scor: found a key that nothing reads; expected min_score, which is near"]),
    # items' own criteria
    ("[item_criteria]\nat_least = 2\n" + GATE,
     ["spec.toml:5: item_criteria.at_least: found 2; expected a number above 0, at most 1"]),
    ("[item_criteria]\nat_least = 0\n" + GATE, ["spec.toml:5: item_criteria.at_least: found 0; expected a number"]),
    ("[item_criteria]\nweight = 0\n" + GATE, ["spec.toml:5: item_criteria.weight: found 0; expected a number above 0"]),
    ('[item_criteria]\nrationale = "each"\n' + GATE,
     ["spec.toml:5: item_criteria.rationale: found 'each'; expected true or false"]),
    ("[item_criteria]\nscale = [0, 1]\n" + GATE,
     ["spec.toml:5: item_criteria.scale: found a key that nothing reads; expected"]),
    ("item_criteria = true\n" + GATE, ["spec.toml:4: item_criteria: found true; expected a table [item_criteria]"]),
    (GOOD.replace('"good"', '"item_criteria"') + "[item_criteria]\n" + GATE,
     ["spec.toml:5: criteria[1].name: found 'item_criteria'; expected another name: it is that of [item_criteria]"]),
    # the rest
    ('correct = "god"\n' + GOOD + GATE, ["spec.toml:4: correct: found 'god'; expected good, which is near"]),
    (GOOD + "[reply]\nmax_rationale_words = 0\n" + GATE,
     ["spec.toml:9: reply.max_rationale_words: found 0; expected a whole number from 1"]),
    (GOOD + "[reply]\nwords = 5\n" + GATE, ["spec.toml:9: reply.words: found a key that nothing reads"]),
    # gates
    (GOOD + '[[gates]]\nat_least = 0.5\n', ["spec.toml:8: gates[1].aggregate: found nothing; expected one of"]),
    (GOOD + GATE + GATE, ["spec.toml:12: gates[2].aggregate: found 'pass_rate' a second time; expected one gate"]),
    (GOOD + GATE + "at_most = 0.9\n",
     ["spec.toml:10: gates[1].at_least: found both at_least and at_most; expected one of at_least and at_most"]),
    (GOOD + '[[gates]]\naggregate = "pass_rate"\n', ["spec.toml:8: gates[1].at_least: found nothing; expected one of"]),
    (GOOD + '[[gates]]\naggregate = "pass_rate"\nat_least = 1.5\n',
     ["spec.toml:10: gates[1].at_least: found 1.5; expected a number from 0 to 1, as pass_rate is"]),
    (GOOD + '[[gates]]\naggregate = "pass_rate"\nat_least = "high"\n',
     ["spec.toml:10: gates[1].at_least: found 'high'; expected a number of at most nine decimals"]),
    (GOOD + '[[gates]]\naggregate = "latency_e2e_p95_ms"\nat_least = 5\n',
     ["spec.toml:10: gates[1].at_least: found at_least; expected at_most: a percentile is gated by"]),
    (GOOD + '[[gates]]\naggregate = "total_tokens"\nat_most = -1\n',
     ["spec.toml:10: gates[1].at_most: found -1; expected a number that is not negative"]),
    (GOOD + '[[gates]]\naggregate = "good_quote_found_rate"\nat_least = 0.9\n',
     ["spec.toml:9: gates[1].aggregate: found 'good_quote_found_rate'; expected"]),
    (GOOD + '[[gates]]\naggregate = "cost_mean_usd"\nat_most = 0.9\n',
     ["spec.toml:9: gates[1].aggregate: found 'cost_mean_usd'; expected"]),
    ('[item_criteria]\n[[gates]]\naggregate = "item_criteria_mean"\nat_least = 2\n',
     ["spec.toml:7: gates[1].at_least: found 2; expected a number from 0 to 1, as item_criteria_mean is"]),
    # the judge's messages
    (GOOD + GATE + '[judge]\nmessage = 1\n', ["spec.toml:12: judge.message: found a key that nothing reads"]),
    (GOOD + GATE + '[[judge.messages]]\nrole = "tool"\nfile = "prompt.txt"\n',
     ["spec.toml:12: judge.messages[1].role: found 'tool'; expected \"system\", \"user\" or \"assistant\""]),
    (GOOD + GATE + '[[judge.messages]]\nrole = "user"\n',
     ["spec.toml:11: judge.messages[1].file: found nothing; expected the name of a file beside the spec"]),
    (GOOD + GATE + '[[judge.messages]]\nrole = "user"\nfile = "other.txt"\n',
     ["other.txt: found no such file; expected a file beside the spec; there are prompt.txt"]),
]  # fmt: skip


@pytest.mark.parametrize(("more", "faults"), FAULTS)
def test_a_fault_is_named_by_its_line(more: str, faults: list[str]) -> None:
    found = faults_of(HEAD + more)
    assert len(found) == len(faults), found
    for one, start in zip(found, faults, strict=True):
        assert one.startswith(start), found


@pytest.mark.parametrize(
    ("more", "files", "fault"),
    [
        ("", {"prompt": "Judge it. {{criteria}}"}, "spec.toml: judge: found no {{answer}} in what the judge is asked"),
        ("", {"prompt": "{{answer}}\n{{ansver}}"}, "prompt.txt:2: found '{{ansver}}'; expected answer, which is near"),
        ("", {"prompt": "{{answer}}\n\n{{item.critera}}"}, "prompt.txt:3: found '{{item.critera}}'; expected"),
        ("[item_criteria]\n", {"prompt": "{{answer}}"}, "spec.toml: judge: found no {{criteria}} in what the judge"),
    ],
)
def test_a_fault_of_what_the_judge_is_asked(more: str, files: dict[str, Any], fault: str) -> None:
    (found,) = faults_of(HEAD + GOOD + more + GATE, **files)
    assert found.startswith(fault)


def test_all_faults_are_told_at_once() -> None:
    spec = (
        'name = "Own"\nversion = 0\nabout = ""\n'
        + GOOD
        + "quote = 1\n[pass]\nmin_score = 2\n[measures.cost]\nat_most = -1\n[item_criteria]\nweight = 0\n"
    )
    found = faults_of(spec, prompt="{{answer}} {{x}}")
    assert found[-1].startswith("prompt.txt:1: found '{{x}}'")
    assert [one.partition(": ")[2].partition(":")[0] for one in found[:-1]] == [
        "judge", "gates", "name", "version", "about", "criteria[1].quote", "pass.min_score", "measures.cost.at_most",
        "item_criteria.weight",
    ]  # fmt: skip
