"""Every writer, as a crash-point test needs it: what it does, what must be there afterwards, and how to go on.

A module that writes is named here, or in ELSEWHERE.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from sqlalchemy import select

import benchbook as bb
import promptfoo_files
from benchbook.ask.providers.calls import Answer
from benchbook.ask.requests import ResponseCache
from benchbook.catalog.database import open_catalog
from benchbook.catalog.database import runs as runs_table
from benchbook.catalog.indexing import refresh
from benchbook.errors import RecordError, UsageError
from benchbook.evalsets.output_set_sources import find_in_table
from benchbook.evalsets.output_sets import read_output_set, write_output_set
from benchbook.evaluators.correctness.tables import score_table
from benchbook.evaluators.joining import check_joined
from benchbook.evaluators.registry import evaluator_of
from benchbook.exchange.every_eval_ever import writing as every_eval_ever
from benchbook.exchange.hf_eval_results import writing as hf_eval_results
from benchbook.exchange.lm_eval.writing import written as write_harness_run
from benchbook.exchange.openai_batch.reading import opened
from benchbook.exchange.openai_batch.writing import written
from benchbook.exchange.tools import opened_logs, tool_named
from benchbook.integrations.checkpoint_evaluation import CheckpointEvaluation
from benchbook.judge_audit.card import audit_card, card_bytes
from benchbook.judge_audit.folder import open_audit
from benchbook.labels.pairs.folder import open_pairs
from benchbook.record.derived_files import sha256_of
from benchbook.record.facts import Reply, RunEnded, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.marks import MarkFile, MarksChange
from benchbook.record.reading import read_journal
from benchbook.server.access import TokenFile
from benchbook.stores.address import StoreAddress
from benchbook.stores.objects import Objects, open_objects
from benchbook.stores.pulling import pull_record
from benchbook.stores.pushing import push_record
from crashing import Say
from exchange.every_eval_ever.test_writing import MadeLog, read_back, sample
from held import ENDED, Writer, command, commands, do, files, or_refused, said_by, unless
from judging import make_set
from labelled import judged_run
from running import benchbook_here
from scored import ITEMS, PREDICTIONS, scored, write_lines

# ── the journal ──────────────────────────────────────────────────────────────────────────────────────────

_TEXTS = [f"answer {number} " + "x" * 100 for number in range(3)]


def _journal(folder: Path) -> None:
    (folder / "journal").mkdir()


def _append(folder: Path, say: Say) -> None:
    """Each fact is synced by itself; each but the first rolls the segment."""
    with JournalWriter(folder / "journal", segment_bytes=200) as writer:
        for number in range(len(_texts(folder)), len(_TEXTS)):
            writer.append(Reply(sample=number, role="candidate", text=_TEXTS[number]))
            writer.sync()
            say(_TEXTS[number])


def _append_all(folder: Path, say: Say) -> None:
    """Facts are acknowledged when the writer was closed, as at the end of a run."""
    with JournalWriter(folder / "journal") as writer:
        for number in range(len(_texts(folder)), len(_TEXTS)):
            writer.append(Reply(sample=number, role="candidate", text=_TEXTS[number]))
    for text in _TEXTS:
        say(text)


def _texts(folder: Path) -> list[str]:
    return [line.fact.text or "" for line in read_journal(folder / "journal") if isinstance(line.fact, Reply)]


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────

_SCORE = ("score", "--evalset", "items.jsonl", "--predictions", "predictions.jsonl", "--run-id", "run")
_RUN = (
    "run", "--evalset", "items.jsonl", "--model", "scripted/m@1", "--judge", "scripted/j@1", "--run-id", "run",
    "--model-path", "script.json", "--judge-path", "script.json", "--reports", "none", "--quiet",
)  # fmt: skip


def _to_score(folder: Path) -> None:
    write_lines(folder / "items.jsonl", ITEMS[:2])
    write_lines(folder / "predictions.jsonl", PREDICTIONS[:2])


def _to_run(folder: Path) -> None:
    made = folder.parent / "made"
    judged_run(made, [(2, 2), (1, 2)])
    for name in ("items.jsonl", "script.json"):
        (folder / name).write_bytes((made / name).read_bytes())


def _ends(folder: Path) -> set[str]:
    """What is acknowledged by a run's end: its last fact."""
    return {ENDED for line in read_journal(folder / "runs" / "run" / "journal") if isinstance(line.fact, RunEnded)}


def _to_join(folder: Path) -> None:
    _to_score(folder)
    assert benchbook_here(*_SCORE, "--shard", "1/2", "--quiet", cwd=folder).returncode == 0


_SHARDS = (
    (*_SCORE, "--shard", "1/2", "--quiet"), (*_SCORE, "--shard", "2/2", "--quiet"),
    ("join", "run", "--reports", "none", "--quiet"),
)  # fmt: skip


def _joined(folder: Path) -> set[str]:
    """What is acknowledged by a join: a set, and all shards as it has them. What follows can be made again."""
    return set() if check_joined(Record(folder / "runs" / "run"))[0] else {ENDED}


def _of_shards(folder: Path) -> dict[str, bytes]:
    """What doesn't depend on when something was recorded."""
    found = files(folder / "runs")
    return {name: data for name, data in found.items() if "/sets/" not in name}


def _to_pull(folder: Path) -> None:
    """A store with two shards that are joined, and a folder that has some of one."""
    _to_join(folder)
    push_record(_store(folder), Record(folder / "runs" / "run"))
    rmtree(folder / "runs" / "run" / "inputs")
    (folder / "runs" / "run" / "inputs").mkdir()
    journal = folder / "runs" / "run" / "shards" / "1" / "journal" / "000001.jsonl"
    whole = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(whole[:2]))


def _store(folder: Path) -> Objects:
    return open_objects(StoreAddress("file", "", (*folder.resolve().parts[1:], "store", "run")))


def _pull(folder: Path, say: Say) -> None:
    pull_record(_store(folder), folder / "runs", "run")
    say(ENDED)


def _pulled(folder: Path) -> set[str]:
    """What is acknowledged by a pull: all that the store has."""
    return set() if pull_record(_store(folder), folder / "runs", "run").n_new else {ENDED}


def _decided(folder: Path) -> dict[str, bytes]:
    """What doesn't depend on how long something took."""
    return {"decision.json": (folder / "runs" / "run" / "decision.json").read_bytes()}


def _derived_before_its_end(folder: Path) -> None:
    """A record whose derived files are of a time when its journal was shorter."""
    _to_score(folder)
    record = scored(folder, PREDICTIONS[:2], ITEMS[:2]).record
    segment = record.journal / "000001.jsonl"
    whole = segment.read_bytes()
    segment.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    do(folder, "rescore", "run", "--reports", "none")
    segment.write_bytes(whole)


def _new_record(folder: Path, say: Say) -> None:
    create_record(folder / "runs", "run", {"evalset": folder / "items.jsonl", "prompt": b"{{prompt}}"}, _first_fact)
    say(ENDED)


def _new_record_unless_there(folder: Path, say: Say) -> None:
    if not (folder / "runs" / "run").exists():
        _new_record(folder, say)


def _first_fact(hashes: dict[str, str]) -> RunStarted:
    return RunStarted(
        run_id="run", spec="rubric@v1", spec_sha256="", plan_sha256="", n_items=2, repeats=1, config={}, inputs=hashes,
        identity={}, code_version={}, environment={},
    )  # fmt: skip


def _begun(folder: Path) -> set[str]:
    """A new record is acknowledged when its first fact and its inputs are there."""
    record = Record(folder / "runs" / "run")
    hashes = record.started().inputs.values()
    return {ENDED} if all(sha256_of(record.input(one)) == one for one in hashes) else set()


def _derived(folder: Path, say: Say) -> None:
    record = Record(folder / "runs" / "run")
    evaluator_of(record).derive(record, record.path)
    say(ENDED)


def _shown(folder: Path) -> Any:
    """What a record's readers show of it: its numbers, and each sample."""
    ways = ((), ("--sample", "1"))  # the second came between the two derivations
    return [said_by("show", "run", *words)(folder) for words in ways]


# ── what users make ──────────────────────────────────────────────────────────────────────────────────────


def _to_judge(folder: Path) -> None:
    """An evaluation set, and a judge's replies about its outputs."""
    outputs = make_set(folder, questions=1, targets=("m",)).outputs
    known = {"judge_model": "j", "method": "cross_judge"}
    replies = [
        known
        | {"question_id": output.question_id, "prompt_variant": output.prompt_variant}
        | {"target_model": output.target_model, "output_id": output.output_id, "reply": "No JSON."}
        for output in outputs
    ]
    write_lines(folder / "replies.jsonl", replies)


def _to_archive(folder: Path) -> None:
    _to_judge(folder)
    do(folder, *_IMPORT, "--record", "run", "--reports", "none")


_IMPORT_LOG = ("import", "results.jsonl", "--run-id", "run", "--reports", "none")
_IMPORT = ("judge", "import", "replies.jsonl", "--set", "set")


def _to_make_a_set(folder: Path) -> None:
    make_set(folder, questions=1, targets=("m",))
    rmtree(folder / "set")


def _a_set(folder: Path, say: Say) -> None:
    write_output_set(find_in_table(folder / "outputs.jsonl").candidates, folder / "set")
    say(ENDED)


def _a_set_unless_there(folder: Path, say: Say) -> None:
    if not (folder / "set").exists():
        _a_set(folder, say)


def _readable_set(folder: Path) -> set[str]:
    """Its texts are not synced: where one is empty, whoever reads the set is told."""
    with suppress(UsageError):
        read_output_set(folder / "set")
    return {ENDED} if (folder / "set").is_dir() else set()


_EXPORT = ("export", "run", "--to", "csv", "--out", "a.csv")
_EXPORT_INSPECT = ("export", "run", "--to", "inspect", "--out", "a.eval")


def _to_export(folder: Path) -> None:
    scored(folder, PREDICTIONS[:2], ITEMS[:2])


def _to_ask_in_a_batch(folder: Path) -> None:
    bodies = [{"model": "m", "messages": [{"role": "user", "content": text}]} for text in "ab"]
    write_lines(folder / "asked.jsonl", [{"custom_id": str(n), "body": body} for n, body in enumerate(bodies)])
    write_lines(folder / "results.jsonl", [{"custom_id": str(n), "error": {"code": "batch_expired"}} for n in range(2)])


def _batch_written(folder: Path, say: Say) -> None:
    (log,) = opened(folder / "results.jsonl")
    with log:
        written(log, folder / "batch")
    say(ENDED)


def _harness_run(folder: Path, say: Say) -> None:
    """As the batch, in the form of lm-evaluation-harness, which has two files."""
    (log,) = opened(folder / "results.jsonl")
    with log:
        write_harness_run(log, folder / "harness")
    say(ENDED)


def _harness_run_unless_there(folder: Path, say: Say) -> None:
    if not (folder / "harness").exists():
        _harness_run(folder, say)


def _batch_unless_there(folder: Path, say: Say) -> None:
    if not (folder / "batch").exists():
        _batch_written(folder, say)


def _to_write_for_promptfoo(folder: Path) -> None:
    promptfoo_files.written(folder, promptfoo_files.document([promptfoo_files.result(n) for n in range(3)]), "in.json")


def _for_promptfoo(folder: Path, say: Say) -> None:
    (log,) = opened_logs(folder / "in.json")
    with log:
        tool_named("promptfoo").writing.written(log, folder / "out.json")
    say(ENDED)


def _for_promptfoo_or_refused(folder: Path, say: Say) -> None:
    with suppress(UsageError):  # it is there already
        _for_promptfoo(folder, say)


def _checkpoint(folder: Path, say: Say) -> None:
    with CheckpointEvaluation(folder / "items.jsonl", folder / "checkpoints") as evaluation:
        evaluation.evaluate(100, lambda prompts: ["2" for _ in prompts])
    say(ENDED)


def _checkpoint_files(folder: Path) -> set[bytes]:
    """A second go of a step takes a name of its own, with the same lines."""
    return {path.read_bytes() for path in (folder / "checkpoints").glob("step-100*.jsonl")}


def _table_scored(folder: Path, say: Say) -> None:
    score_table(folder / "items.jsonl", folder / "predictions.jsonl", folder / "scored.parquet")
    say(ENDED)


# ── what a server keeps ──────────────────────────────────────────────────────────────────────────────────


def _tokens(folder: Path, say: Say) -> None:
    """A second go makes what is not there yet."""
    file = TokenFile(folder / "server" / "tokens.json")
    names = [token.name for token in file.tokens()]
    for name in ("ann", "bob"):
        if name not in names:
            file.create(name, ("read",))
            say(name)


def _token_names(folder: Path) -> list[str]:
    return [token.name for token in TokenFile(folder / "server" / "tokens.json").tokens()]


def _marks(folder: Path, say: Say) -> None:
    """The file of lines that only grow, as the audit log is."""
    try:
        marks = MarkFile(folder)
        for run_id in ("a", "b"):
            marks.change((run_id,), lambda _, before: MarksChange(add_tags=("new",)).of(before))
            say(run_id)
    except OSError as error:  # which the server answers with 507
        raise RecordError(str(error)) from None


def _marked(folder: Path) -> list[str]:
    return sorted(run_id for run_id, marks in MarkFile(folder).all().items() if marks.tags == ("new",))


def _answers(folder: Path, say: Say) -> None:
    """The cache may forget: a run goes on where it can't be written, and asks again."""
    cache = ResponseCache(folder / "cache.sqlite")
    for name in ("a", "b"):
        cache.put("scope", "candidate", name, Answer(text=name))
    cache.close()


def _cached(folder: Path) -> list[str | None]:
    cache = ResponseCache(folder / "cache.sqlite")
    found = [cache.get("scope", "candidate", name) for name in ("a", "b")]
    cache.close()
    return [None if one is None else one.text for one in found]


def _two_runs(folder: Path) -> None:
    scored(folder, run_id="a")
    scored(folder, PREDICTIONS[:2], run_id="b")


def _indexed(folder: Path, say: Say) -> None:
    with closing(open_catalog(folder / "catalog.sqlite")) as catalog:
        refresh(catalog, folder / "runs")
    say(ENDED)


def _in_catalog(folder: Path) -> list[str]:
    with closing(open_catalog(folder / "catalog.sqlite")) as catalog, catalog.read() as connection:
        return sorted(connection.execute(select(runs_table.c.run_id)).scalars())


# ── other tools' forms ───────────────────────────────────────────────────────────────────────────────────


def _as_every_eval_ever(folder: Path, say: Say) -> None:
    if not (folder / "out").exists():
        every_eval_ever.written(MadeLog([sample()]), folder / "out")
    say(ENDED)


def _as_evaluation_results(folder: Path, say: Say) -> None:
    with suppress(FileExistsError):
        hf_eval_results.written(MadeLog([sample()]), folder / "out.yaml")
    say(ENDED)


def _read_every_eval_ever(folder: Path) -> set[str]:
    _, samples = read_back(folder / "out")
    return {ENDED} if samples else set()


# ── an audit of a judge ──────────────────────────────────────────────────────────────────────────────────

_AUDIT = ("judge", "audit", "run", "--audit-id", "a", "--variants", "longer", "--quiet")


def _to_audit(folder: Path) -> None:
    judged_run(folder, [(2, 2), (1, 1)])


def _audit_facts(folder: Path) -> set[str]:
    """What was acknowledged: the facts of all records, from which the rest can be made again."""
    return {ENDED} if _ended(open_audit(folder / "audits" / "a").asked()) == ["again", "longer"] else set()


def _audit_card(folder: Path) -> dict[str, Any]:
    audit = open_audit(folder / "audits" / "a")
    assert audit.card.read_bytes() == card_bytes(audit_card(audit))
    return {one.variant: one.score for one in audit_card(audit).effects}


# ── runs in pairs ────────────────────────────────────────────────────────────────────────────────────────

_PAIRS = ("judge", "pairs", "a", "b", "--judge", "scripted/j@1", "--judge-path", "referee.json", "--pairs-id", "p",
          "--quiet")  # fmt: skip


def _to_pair(folder: Path) -> None:
    for run_id in ("a", "b"):
        judged_run(folder, [(2, 2), (1, 1)], run_id=run_id)
    verdict = {"better_score": "first", "usable_score": "yes", "rationale": "so"}
    (folder / "referee.json").write_text(json.dumps({"replies": [{"text": json.dumps(verdict)}]}), "utf-8")


def _pairs_facts(folder: Path) -> set[str]:
    """What was acknowledged: the facts of both orders, from which all else can be made again."""
    return {ENDED} if _ended(open_pairs(folder / "pairs" / "p").asked()) == ["1-2", "2-1"] else set()


def _pairs_ranked(folder: Path) -> Any:
    return bb.rank_pairs(folder / "pairs" / "p").found


def _ended(records: Iterable[Record]) -> list[str]:
    return [
        one.path.name for one in records if any(isinstance(line.fact, RunEnded) for line in read_journal(one.journal))
    ]


WRITERS = {
    "every-eval-ever": Writer(
        modules=("exchange/every_eval_ever/writing.py",), act=_as_every_eval_ever, kept=_read_every_eval_ever,
        seen=lambda folder: files(folder / "out"),
    ),
    "evaluation-results": Writer(
        modules=("exchange/hf_eval_results/writing.py",), act=_as_evaluation_results,
        kept=lambda folder: {ENDED} if (folder / "out.yaml").read_bytes() else set(),
    ),
    "journal": Writer(modules=("record/journal.py",), prepare=_journal, act=_append, kept=_texts, seen=_texts),
    "journal-at-its-end": Writer(
        modules=("record/journal.py",), prepare=_journal, act=_append_all, kept=_texts, seen=_texts
    ),
    "new-record": Writer(
        modules=("record/folder.py", "writing.py"), prepare=_to_score, act=_new_record, kept=_begun,
        again=_new_record_unless_there, seen=lambda folder: (_begun(folder), files(folder / "runs")),
    ),
    "derived-files": Writer(
        modules=(
            "record/derived_files.py", "record/tables.py", "evaluators/answers/tables.py",
            "evaluators/rubric/tables.py", "evaluators/protocol/tables.py",
        ),
        prepare=_derived_before_its_end, act=_derived, seen=lambda folder: files(folder / "runs"), told=_shown,
    ),
    "score": Writer(
        modules=("evaluators/answers/predictions.py",), is_slow=True,
        prepare=_to_score, act=command(*_SCORE, "--reports", "none"), kept=_ends,
        again=unless("runs/run", _SCORE, ("rescore", "run", "--reports", "none")),
        seen=lambda folder: files(folder / "runs"),
    ),
    "shards": Writer(
        modules=("record/shards.py", "record/sets.py", "evaluators/joining.py", "ask/sharding.py"), is_slow=True,
        prepare=_to_join, act=partial(commands, _SHARDS), kept=_joined, seen=_of_shards,
    ),
    "pull": Writer(
        modules=("stores/pulling.py", "stores/objects.py"), prepare=_to_pull, act=_pull, kept=_pulled,
        seen=lambda folder: files(folder / "runs"),
    ),
    "run": Writer(
        modules=("ask/starting.py",), is_slow=True,
        prepare=_to_run, act=command(*_RUN), kept=_ends, seen=_decided,
        again=unless("runs/run", _RUN, ("run", "--resume", "run", "--reports", "none", "--quiet")),
    ),
    "judge-audit": Writer(
        modules=("exchange/auditing_judges.py", "cli/judge_audit.py"), is_slow=True,
        prepare=_to_audit, act=command(*_AUDIT), kept=_audit_facts, seen=_audit_card,
        again=unless("audits/a", _AUDIT, ("judge", "audit", "--resume", "a", "--quiet")),
    ),
    "judge-pairs": Writer(
        modules=("exchange/asking_pairs.py", "record/planned_folders.py"), is_slow=True,
        prepare=_to_pair, act=command(*_PAIRS), kept=_pairs_facts, seen=_pairs_ranked,
        again=unless("pairs/p", _PAIRS, ("judge", "pairs", "--resume", "p", "--quiet")),
    ),
    "reports": Writer(
        modules=("views/views.py", "cli/summary.py", "library/objects.py"), is_slow=True,
        prepare=_two_runs, act=command("rescore", "a"), seen=lambda folder: files(folder / "reports"),
    ),
    "comparison": Writer(
        modules=("views/comparison_data.py", "cli/judges.py"), is_slow=True,
        prepare=_two_runs, act=command("compare", "a", "b", "--html", "c.html", "--parquet", "c.parquet"),
    ),
    "baseline": Writer(
        modules=("comparison/records.py",), prepare=_two_runs, act=command("baseline", "set", "a"),
        seen=lambda folder: files(folder)["runs/baseline.json"],
        kept=lambda folder: {ENDED} if (folder / "runs" / "baseline.json").read_bytes() else set(),
    ),
    "init": Writer(
        modules=("cli/init.py",), act=command("init"), again=command("init", "--force"),
        kept=lambda folder: {ENDED} if (folder / "benchbook.toml").read_bytes() else set(),
    ),
    "new-eval-set": Writer(
        modules=("evalsets/starting.py",), act=command("evalset", "new", "set.jsonl"),
        again=or_refused("evalset", "new", "set.jsonl"),
        kept=lambda folder: {ENDED} if (folder / "set.jsonl").read_bytes() else set(),
    ),
    "own-spec": Writer(
        modules=("cli/own_specs.py",), act=command("rubric", "init", "mine"),
        again=unless("mine@v1", ("rubric", "init", "mine"), ("rubric", "check", "mine@v1")),
        kept=lambda folder: {ENDED} if all(files(folder).values()) else set(),
    ),
    "output-set": Writer(
        modules=("evalsets/output_sets.py",), prepare=_to_make_a_set, act=_a_set, kept=_readable_set,
        again=_a_set_unless_there,
        seen=lambda folder: sorted(path.name for path in folder.rglob("[!.]*")),
    ),
    "judgements": Writer(
        modules=("evaluators/protocol/importing.py",), prepare=_to_judge, act=command(*_IMPORT, "--out", "out.jsonl"),
        again=or_refused(*_IMPORT, "--out", "out.jsonl"),
        kept=lambda folder: {ENDED} if (folder / "out.jsonl").read_bytes() else set(),
    ),
    "batch": Writer(
        modules=("exchange/openai_batch/writing.py",), prepare=_to_ask_in_a_batch, act=_batch_written,
        again=_batch_unless_there, seen=lambda folder: files(folder / "batch"),
        kept=lambda folder: {ENDED} if all(files(folder / "batch").values()) else set(),
    ),
    "imported-log": Writer(
        modules=("exchange/importing.py",), prepare=_to_ask_in_a_batch, act=command(*_IMPORT_LOG),
        again=unless("runs/run", _IMPORT_LOG, ("rescore", "run", "--reports", "none")), is_slow=True,
    ),
    "harness-run": Writer(
        modules=("exchange/lm_eval/writing.py",), prepare=_to_ask_in_a_batch, act=_harness_run,
        again=_harness_run_unless_there, seen=lambda folder: len(files(folder / "harness")),
        kept=lambda folder: {ENDED} if len(files(folder / "harness")) == 2 else set(),
    ),
    "promptfoo": Writer(
        modules=("exchange/promptfoo/writing.py",), prepare=_to_write_for_promptfoo, act=_for_promptfoo,
        again=_for_promptfoo_or_refused, seen=lambda folder: (folder / "out.json").read_bytes(),
        kept=lambda folder: {ENDED} if (folder / "out.json").read_bytes() else set(),
    ),
    "archive": Writer(
        modules=("views/protocol/archive.py", "views/protocol/report.py",  "evaluators/protocol/import_record.py"),
        prepare=_to_archive, act=command("judge", "archive", "run", "--out", "archive"),
        seen=lambda folder: files(folder / "archive"), is_slow=True,
    ),
    "export": Writer(
        modules=("exchange/exporting.py",), prepare=_to_export, act=command(*_EXPORT), again=or_refused(*_EXPORT),
        seen=lambda folder: (folder / "a.csv").read_bytes(),
    ),
    "export-inspect": Writer(
        modules=("exchange/inspect/writing.py",), prepare=_to_export, is_slow=True,
        act=command(*_EXPORT_INSPECT), again=or_refused(*_EXPORT_INSPECT),
        seen=lambda folder: (folder / "a.eval").read_bytes(),
    ),
    "checkpoint": Writer(
        modules=("integrations/checkpoint_evaluation.py",), prepare=_to_score, act=_checkpoint, seen=_checkpoint_files,
        kept=lambda folder: {ENDED} if all(_checkpoint_files(folder)) else set(),
    ),
    "scored-table": Writer(
        modules=("evaluators/correctness/tables.py",), prepare=_to_score, act=_table_scored,
        kept=lambda folder: {ENDED} if (folder / "scored.parquet").read_bytes() else set(),
    ),
    "tokens": Writer(modules=("server/access.py",), act=_tokens, kept=_token_names, seen=_token_names),
    "marks": Writer(
        modules=("record/lines.py", "record/marks.py", "server/audit.py"), act=_marks, kept=_marked, seen=_marked
    ),
    "cache": Writer(modules=("ask/requests.py",), act=_answers, seen=_cached, is_slow=True, may_forget=True),
    "catalog": Writer(
        modules=("catalog/database.py",), prepare=_two_runs, act=_indexed, seen=_in_catalog, is_slow=True,
        kept=lambda folder: {ENDED} if _in_catalog(folder) else set(), may_forget=True,
    ),
}  # fmt: skip

# Modules that write, whose writers are tested elsewhere, or need no test.
ELSEWHERE = {
    "cli/commands.py": "writes help, and no file",
    "exchange/redaction.py": "a new folder, whole or not at all; it can be made again",
    "evaluators/signing.py": "statements and signatures, each by `write_file`: it can be signed again",
    "record/ssh_signatures.py": "a temporary folder, which goes",
    "system/pythons.py": "a pipe to whoever began it",
    "cli/shards.py": "a proof, by `write_file`: it can be made again",
    "evalsets/opening.py": "rows in memory: a temporary folder, which goes; a record keeps what was in it",
    "cli/demo_parts.py": "a temporary folder, which goes",
    "exchange/first_answers.py": "a temporary folder, which goes",
    "exchange/answers.py": "a temporary folder, which goes",
    "evaluators/correctness/large_tables.py": "a temporary folder, which goes; the table is written as any",
    "system/posix.py": "the moves of `writing.py`",
    "system/windows.py": "tests/system/test_both_systems.py: it is not the system of these tests",
    "labels/labels.py": "tests/labels/test_label_crashes.py",
    "record/anchor.py": "tests/labels/test_label_crashes.py",
    "server/submissions.py": "tests/server/test_submissions_killed.py",
    "server/submission_store.py": "tests/server/test_submissions_killed.py",
    "server/starting.py": "a copy of a record's input, by `write_file`",
    "server/child.py": "the log of a run that was started; its record is what counts",
    "server/running.py": "makes the folder of records, and no file",
    "server/site/writing.py": "a new folder, in which site.json comes last; nothing in it can't be made again",
    "server/comparison_downloads.py": "a temporary file, which has no name",
    "views/csv_blocks.py": "into memory",
    "server/run_downloads.py": "a temporary file, which has no name",
    "evalsets/evalset.py": "a temporary file, which has no name",
    "spilled.py": "a temporary file, which has no name",
    "system/panics.py": "a temporary file, which has no name",
    "exchange/batches/batch_file.py": "a temporary file, which has no name",
    "exchange/batches/ids.py": "a temporary database, which has no name",
    "ask/batches/request_file.py": "tests/ask/batches/test_killed.py",
    "ask/batches/running.py": "tests/ask/batches/test_killed.py",
    "ask/batches/sitting.py": "tests/ask/batches/test_killed.py",
    "ask/batches/standing.py": "tests/ask/batches/test_killed.py",
    "evalsets/extraction.py": "a temporary file, which has no name",
    "exchange/on_disk.py": "a temporary file, which has no name",
    "integrations/trackers/mlflow.py": "a temporary folder, out of which MLflow takes its artifacts",
    "integrations/trackers/wandb.py": "makes the folder in which W&B writes its own files",
    "cli/main.py": "the null device, where a stream was closed",
}
