"""Makes the records of today's formats beside it, one of each evaluator: `records/FORMAT/NAME`, whole.

By hand, when the format gets another number, and before the release that has it:
`PYTHONPATH=src:tests python tests/formats/make_records.py`. It makes those that are not there yet, gives each a line of
`index.toml`, and never writes over one: what a record says is what its code once said.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import chdir
from functools import partial
from pathlib import Path

from msgspec import structs

import own_protocol
import own_rubric
import own_scorers
from ask.batches.going import begun, ended, values
from batch_vendors import vendors
from benchbook.ask.identity import code_version
from benchbook.ask.work import run_async
from benchbook.evaluators.joining import join
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.protocol.import_record import ImportConfig, record_judgements
from benchbook.evaluators.registry import start_run
from benchbook.exchange.importing import Wanted, import_log
from benchbook.labels.labels import give_labels, open_labels
from benchbook.labels.state import Given
from benchbook.record.folder import Record
from benchbook.record.format import DERIVATION, FORMAT
from benchbook.record.reading import read_journal
from evaluators.protocol.test_judgement_record import judgement
from evaluators.protocol.test_judging import replying
from judging import make_set
from labelled import judged_run
from panels import replies_of, run_panel
from running import benchbook_here, run
from scored import PREDICTIONS, scored, write_lines
from scored_logs import MadeLog, sample
from scripted_server import always_good, running
from sharded import judged_in_shards, write_judged

RECORDS = Path(__file__).parent / "records"
HERE = Path()  # all paths in a record are relative
CHECKS = """
name = "mine"
version = 3
about = "The number, and a word."

[[checks]]
name = "value"
kind = "number"

[[checks]]
name = "words"
kind = "contains"
expected = "it"
"""


def rubric() -> None:
    with running(always_good) as server:
        run(HERE, server, 4, repeats=2)


def panel() -> None:
    votes = {"a": lambda n: (2, 2), "b": lambda n: (2, n % 3), "c": lambda n: (n % 2, 2)}
    with running(replies_of(votes)) as server:
        run_panel(HERE, server, list(votes), 4)


def own_rubric_run() -> None:
    own_rubric.own_run(HERE, [{"tone": 5, "safe": "yes"}, {"tone": 2, "safe": "no"}], run_id="run")


def correctness() -> None:
    write_lines(Path("log.jsonl"), [{"step": step, "loss": 2.0 / (step + 1)} for step in range(4)])
    scored(HERE, PREDICTIONS, training_metrics=["log.jsonl"], model="org/m@1")


def shipped_checks(spec: str) -> None:
    right, wrong = ("A", "B") if spec == "choice@v1" else ("2", "3")
    items = [{"id": name, "prompt": f"{name}?", "expected_answer": right} for name in "abc"]
    scored(HERE, [{"item_id": "a", "predicted": f"({right})"}, {"item_id": "b", "predicted": wrong}], items, spec=spec)


def own_checks() -> None:
    Path("mine").mkdir()
    Path("mine/spec.toml").write_text(CHECKS, encoding="utf-8")
    items = [{"id": name, "prompt": "1 + 1?", "expected_answer": "2"} for name in "ab"]
    scored(HERE, PREDICTIONS[:2], items, spec="mine")


def scorer() -> None:
    write_lines(Path("predictions.jsonl"), own_scorers.PREDICTIONS)
    own_scorers.scored(HERE, predictions="predictions.jsonl")


def judged() -> None:
    make_set(HERE)
    with running(replying) as server:
        judges = [{"model": f"openai/{name}@2026-01-01", "base_url": server.base_url} for name in ("j", "k")]
        values = {"set": "set", "prompts": "prompts.jsonl", "judges": judges, "run_id": "run", "runs": "runs"}
        run_async(start_run(judging_config_from_mapping(values, "test")))


def own_protocol_run() -> None:
    make_set(HERE, targets=("m", "j"))
    with running(own_protocol.judged) as server:
        own_protocol.experiment(HERE, server, own_protocol.written(Path("shop")))


def judgements() -> None:
    outputs = make_set(HERE)
    record_judgements(outputs, [judgement(outputs, n) for n in range(4)], ImportConfig(runs="runs", run_id="run"))


def imported() -> None:
    held = [sample("a", 1.0), sample("b", 0.0), sample("c")]
    import_log(MadeLog(HERE, held), Wanted(runs="runs", run_id="run"))


def labels() -> None:
    judged_run(HERE, [(2, 2), (1, 2), (2, 0), (2, 2)], run_id="labelled")
    done = benchbook_here("label", "sample", "labelled", "--n", "4", "--seed", "7", "--out", "runs/run")
    assert done.returncode == 0, done.stderr.decode()
    book = open_labels("runs/run")
    given = [Given(n, who, "accuracy_score", 2, "") for n in book.started.samples for who in ("ann", "bob")]
    give_labels(book, given)


def shards() -> None:
    config = structs.replace(write_judged(HERE, 7, 2), evalset="items.jsonl", outputs="outputs.jsonl")
    record = judged_in_shards(structs.replace(config, judge_path="script.json", runs="runs"), 3)
    assert not join(record).findings


def batch() -> None:
    with vendors(Path("vendors")) as server:
        ended(begun(values(HERE, server, "openai", 4)))


# Those that have what only the newest format has.
MAKE_NEWEST: Mapping[str, Callable[[], None]] = {"shards": shards, "batch": batch}
MAKE: Mapping[str, Callable[[], None]] = {
    "rubric": rubric,
    "panel": panel,
    "own_rubric": own_rubric_run,
    "correctness": correctness,
    "choice": partial(shipped_checks, "choice@v1"),
    "contains": partial(shipped_checks, "contains@v1"),
    "number": partial(shipped_checks, "number@v1"),
    "own_checks": own_checks,
    "scorer": scorer,
    "judged": judged,
    "own_protocol": own_protocol_run,
    "judgements": judgements,
    "imported": imported,
    "labels": labels,
}


def make(name: str, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with chdir(folder):
            (MAKE | MAKE_NEWEST)[name]()
        shutil.copytree(Path(folder) / "runs" / "run", target)


def index(place: Path) -> None:
    """Append a record's line to the index."""
    lines = list(read_journal(Record(place).journal))
    found = {"path": place.relative_to(RECORDS.parents[1]).as_posix(), "format": int(place.parent.name)}
    found |= {"spec": getattr(lines[0].fact, "spec", ""), "by": code_version()["git_sha"][:7]}
    with (RECORDS.parent / "index.toml").open("a", encoding="utf-8", newline="\n") as file:
        words = (found | {"sha256": lines[-1].sha256}).items()
        file.write("\n[[record]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in words))


if __name__ == "__main__":
    for wanted in (*MAKE, *MAKE_NEWEST):
        number = FORMAT if wanted in MAKE_NEWEST else DERIVATION
        if not (place := RECORDS / str(number) / wanted).exists():
            make(wanted, place)
            index(place)
