"""Makes the examples of the API's document: asks a server over real records, and cuts down what it answers.

PYTHONPATH=src:tests python tests/server/examples.py     (writes src/benchbook/server/examples.json)
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import jsonschema_rs

from benchbook.server.access import TokenFile
from benchbook.server.examples import AnswerExample, OperationExamples
from benchbook.server.openapi import openapi_document
from benchbook.server.operations import JSON, Operation
from benchbook.server.operations_list import OPERATIONS
from panels import replies_of, run_panel
from scripted_server import running
from server.making import Api, api_over, make_records
from support import ROOT

FILE = ROOT / "src" / "benchbook" / "server" / "examples.json"
LONGEST = 160  # characters of a text
BY_NAME = {one.name: one for one in OPERATIONS}
BOOK = "people"
OF_RUBRIC = "the hash of its eval set"
NOBODY = "http://127.0.0.1:9/v1"  # whom the run that is started asks, and is cancelled
CONFIG = "judged.toml"
SETTINGS = f"""evalset = "items.jsonl"
model = "openai/m@1"
model_base_url = "{NOBODY}"
judge = "openai/j@1"
judge_base_url = "{NOBODY}"
"""
PAIR = {"run": ["a", "b"]}
THREE = {"run": ["a", "b", "c"]}
ITEMS = [{"id": f"q{number}", "prompt": f"{number} + 1 = ?", "expected_answer": str(number + 1)} for number in (1, 2)]


class Ask(NamedTuple):
    """One question to an operation; `of` names its answer among the examples."""

    operation: str
    asked: Mapping[str, Any] = MappingProxyType({})
    body: Any = None
    of: str = "answer"


# In this order: what is written is read afterwards.
ASKS = (
    Ask("listRuns", {"limit": 1, "sort": "score"}),
    Ask("downloadRuns"), Ask("downloadRunsCsv"), Ask("downloadRunsParquet"), Ask("getTotals"), Ask("getFilters"),
    *(Ask("getRun", {"run_id": run}, of=of) for run, of in (("rubric", "rubric"), ("experiment", "experiment"))),
    *(Ask(name, {"run_id": run}, of=of) for name in ("getManifest", "getAggregates")
      for run, of in (("rubric", "rubric"), ("a", "answers"), ("experiment", "experiment"))),
    *(Ask("getDecision", {"run_id": run}, of=of) for run, of in (("rubric", "gates"), ("a", "verdict"))),
    Ask("getCriteria", {"run_id": "rubric"}),
    Ask("getSlices", {"run_id": "a"}),
    Ask("getPanel", {"run_id": "panel"}),
    Ask("listSplits", {"run_id": "panel", "limit": 1}),
    Ask("changeMarks", {"run_id": "a"}, {"add_tags": ["checked"], "archived": False}),
    Ask("changeManyMarks", {}, {"runs": ["a", "b"], "add_tags": ["release"]}),
    Ask("getMarks", {"run_id": "a"}),
    Ask("putTags", {"run_id": "a"}, {"tags": ["release", "checked"]}),
    Ask("verifyRun", {"run_id": "a"}),
    Ask("beginVerification", {"run_id": "a"}),
    Ask("getVerification", {"run_id": "a"}),
    Ask("listSamples", {"run_id": "rubric", "outcome": "passed", "limit": 1}),
    Ask("getSample", {"run_id": "rubric", "sample": 0}),
    Ask("downloadSamples", {"run_id": "a"}),
    Ask("downloadSamplesCsv", {"run_id": "a"}),
    Ask("downloadSampleTable", {"run_id": "a"}),
    Ask("getTunixPredictions", {"run_id": "a", "limit": 1}, of="available"),
    Ask("getTunixPredictions", {"run_id": "dry"}, of="unavailable"),
    Ask("downloadPredictions", {"run_id": "a"}),
    Ask("beginSubmission", {}, {"run_id": "sent", "evalset": "items.jsonl", "model": "org/m@1"}),
    Ask("putChunk", {"run_id": "sent", "key": "1"}, '{"item_id": "q1", "predicted": "2"}\n'),
    Ask("getSubmission", {"run_id": "sent"}),
    Ask("dropChunk", {"run_id": "sent", "key": "1"}),
    Ask("putChunk", {"run_id": "sent", "key": "1"}, '{"item_id": "q1", "predicted": "2"}\n', of=""),
    Ask("finishSubmission", {"run_id": "sent"}),
    Ask("beginSubmission", {}, {"run_id": "dropped", "evalset": "items.jsonl", "model": "org/m@1"}, of=""),
    Ask("dropSubmission", {"run_id": "dropped"}),
    Ask("getTrainingMetrics", {"run_id": "a", "name": ["loss"]}),
    Ask("getCurve", {"run_id": "a", "metric": "loss"}),
    Ask("listRunsToCompare", THREE),
    Ask("comparePair", PAIR),
    Ask("compareSet", THREE),
    Ask("listComparedItems", {**PAIR, "limit": 1}),
    Ask("getComparedItem", {"position": 0, **PAIR}),
    Ask("summarizeComparedItems", PAIR),
    Ask("downloadComparedItems", PAIR),
    Ask("downloadComparedItemsCsv", PAIR),
    Ask("downloadComparedItemsParquet", PAIR),
    Ask("downloadComparisonReport", PAIR),
    Ask("listItemHistories", {**THREE, "limit": 1}),
    Ask("getHistorySummary", THREE),
    Ask("listEvalSets"),
    Ask("listEvaluators"),
    Ask("getLeaderboard", {"dataset": OF_RUBRIC, "spec": "rubric@v1"}),
    Ask("listExperiments"),
    Ask("getJudges", {"run_id": "experiment"}),
    Ask("listEvaluations", {"run": "experiment", "limit": 1}),
    Ask("getEvaluation", {"sample": 0, "run": "experiment"}),
    Ask("listAudits"),
    Ask("getAudit", {"audit": "tried"}),
    Ask("listPairs"),
    Ask("getPairs", {"pairs": "compared"}),
    Ask("getJudgeCard", {"run_id": "rubric"}),
    Ask("createBook", {}, {"run": "rubric", "book": BOOK, "n": 4}),
    Ask("listBooks"),
    Ask("getBook", {"book": BOOK}),
    Ask("getNextLabel", {"book": BOOK, "labeller": "ann"}),
    *(Ask("giveLabel", {"book": BOOK}, {"labeller": who, "sample": 0, "field": "accuracy_score", "score": score}, of=of)
      for who, score, of in (("ann", 2, "answer"), ("bob", 0, ""))),
    Ask("listDisputes", {"book": BOOK}),
    Ask("getCalibration", {"book": BOOK}),
    Ask("getRunForPeople", {"run_id": "rubric"}),
    Ask("undoLabel", {"book": BOOK}, {"labeller": "ann"}),
    Ask("listConfigs"),
    Ask("getForecast", {"name": CONFIG}),
    Ask("startRun", {}, {"config": {"run_id": "started", "evalset": "items.jsonl", "spec": "rubric@v1",
                                    "model": "openai/m@1",
                                    "judge": "openai/j@1", "model_base_url": NOBODY, "judge_base_url": NOBODY}}),
    Ask("getStart", {"run_id": "started"}),
    Ask("getProgress", {"run_id": "started"}),
    Ask("cancelRun", {"run_id": "started"}),
    Ask("resumeRun", {"run_id": "started"}),
    Ask("cancelRun", {"run_id": "started"}, of=""),
    Ask("getIndexing"), Ask("getMe"), Ask("getHealth"), Ask("getReadiness"), Ask("getMetrics"),
)  # fmt: skip


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────


def address_of(operation: Operation, asked: Mapping[str, Any]) -> str:
    in_path = set(re.findall(r"\{(\w+)\}", operation.path))
    path = re.sub(r"\{(\w+)\}", lambda found: quote(str(asked[found[1]]), safe=""), operation.path)
    query = urlencode({name: value for name, value in asked.items() if name not in in_path}, doseq=True)
    return f"{path}?{query}" if query else path


def answered(api: Api, ask: Ask) -> Any:
    """What the server says: JSON, or text as it comes."""
    operation = BY_NAME[ask.operation]
    more: dict[str, Any] = {} if ask.body is None else {"json": ask.body}
    if isinstance(ask.body, str):
        more = {"content": ask.body, "headers": {"content-type": str(operation.body)}}
    found = api.ask(operation.method, address_of(operation, ask.asked), **more)
    while ask.operation == "resumeRun" and found.status_code == HTTPStatus.CONFLICT:  # it has not ended yet
        time.sleep(0.1)
        api.app.services.watcher.look()
        found = api.ask(operation.method, address_of(operation, ask.asked), **more)
    assert found.status_code == operation.status, (ask, found.text)
    return found.json() if operation.media == JSON else found.content


# ── cutting down ─────────────────────────────────────────────────────────────────────────────────────────────


class Cutter:
    """Cuts values down so far as their schemas allow: of lists and of maps the first, of texts the beginning."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._components = document["components"]

    def fits(self, value: Any, schema: dict[str, Any]) -> bool:
        whole = {**schema, "components": self._components}
        return bool(jsonschema_rs.Draft202012Validator(whole).is_valid(value))

    def small(self, value: Any, schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return self.small(value, self._components["schemas"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self.small(value, next(one for one in schema["anyOf"] if self.fits(value, one)))
        if isinstance(value, list):
            kept = value[:1] if "prefixItems" not in schema and not schema.get("minItems") else value
            return [self.small(one, schema.get("items") or {}) for one in kept]
        if isinstance(value, dict):
            known, rest = schema.get("properties", {}), schema.get("additionalProperties")
            names = [*(name for name in value if name in known), *[name for name in value if name not in known][:1]]
            return {name: self.small(value[name], known.get(name) or (rest if isinstance(rest, dict) else {}))
                    for name in names}  # fmt: skip
        return value[:LONGEST] + "…" if isinstance(value, str) and len(value) > LONGEST else value


def small_text(data: bytes, media: str) -> str:
    """The first lines of another answer."""
    first = 2 if media.startswith("text/csv") else 1
    lines = data.decode().splitlines(keepends=True)[:first]
    return "".join(line if len(line) <= 8 * LONGEST else line[: 8 * LONGEST] + "…" for line in lines)


def made(api: Api) -> Iterator[tuple[str, OperationExamples]]:
    document = json.loads(json.dumps(openapi_document(OPERATIONS)))
    cutter = Cutter(document)
    found: dict[str, OperationExamples] = {}
    sha256 = api.json("/api/v1/runs/rubric")["dataset_sha256"]
    for ask in ASKS:
        ask = ask._replace(asked={name: sha256 if one == OF_RUBRIC else one for name, one in ask.asked.items()})
        operation, answer = BY_NAME[ask.operation], answered(api, ask)
        if not ask.of:
            continue
        before = found.get(ask.operation, OperationExamples(asked=dict(ask.asked), body=ask.body))
        answers = list(before.answers)
        if operation.media == JSON:
            described = document["paths"][operation.path][operation.method.lower()]["responses"][str(operation.status)]
            cut = cutter.small(answer, described["content"][JSON]["schema"])
            answers.append(AnswerExample(of=ask.of, answer=cut))
        elif not operation.is_file:
            answers.append(AnswerExample(of=ask.of, answer=small_text(answer, operation.media)))
        found[ask.operation] = OperationExamples(asked=before.asked, body=before.body, answers=tuple(answers))
    yield from found.items()


def logged_in(folder: Path, runs: Path) -> Iterator[tuple[str, OperationExamples]]:
    """The two operations of a server that asks for tokens; the token in the example is nobody's."""
    tokens = TokenFile(folder / "tokens.json")
    text, _ = tokens.create("ann", ["read", "label"])
    api = api_over(runs, str(folder / "guarded.sqlite"), token_file=tokens.path)
    given = {"token": "bb_0a1b2c3d_" + "0" * 43}
    for name, body, sent in (("login", given, {"json": {"token": text}}), ("logout", None, {})):
        said = api.ask("POST", BY_NAME[name].path, **sent).json()
        yield name, OperationExamples(body=body, answers=(AnswerExample(of="answer", answer=said),))
    api.app.stop()


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = make_records(folder)
        with running(replies_of({"a": lambda _: (2, 2), "b": lambda item: (item % 3, 2)})) as judges:
            run_panel(folder, judges, [{"model": "openai/a@1"}, {"model": "openai/b@1"}], 12, run_id="panel")
        (folder / CONFIG).write_text(SETTINGS, encoding="utf-8")
        (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ITEMS), encoding="utf-8")
        api = api_over(runs, str(folder / "c.sqlite"), inputs=folder, endpoints=(NOBODY,))
        found = {**dict(made(api)), **dict(logged_in(folder, runs))}
        changed = found["getRun"].answers[0].answer
        event = AnswerExample(of="run", answer=f"event: run\ndata: {json.dumps(changed)}\n\n")
        found["listen"] = OperationExamples(answers=(event,))
        api.app.stop()
    lines = (f"{json.dumps(one)}: {json.dumps(without_defaults(found[one]))}" for one in sorted(found))
    text = "{\n" + ",\n".join(lines).replace(f"{folder}/", "") + "\n}\n"
    FILE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{FILE.name}: {len(text):,} bytes\n")


def without_defaults(one: OperationExamples) -> dict[str, Any]:
    answers = [{"of": example.of, "answer": example.answer} for example in one.answers]
    given = {"asked": one.asked, "body": one.body, "answers": answers}
    return {name: value for name, value in given.items() if value}


if __name__ == "__main__":
    main()
