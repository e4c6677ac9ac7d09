"""The Markdown that an archive is read by: the rules of its two folders, and the prompts that were used (SPEC P5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from benchbook.evaluators.document import Table
from benchbook.evaluators.protocol.evaluation_rows import CoverageGap
from benchbook.evaluators.protocol.findings import Edition, Flag, codes_of
from benchbook.evaluators.protocol.rows import Analysis
from benchbook.evaluators.protocol.spec import Protocol, form, scores_words
from benchbook.evaluators.quotes import CHARACTERS_PER_WORD
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.markdown import fenced, inline, table_markdown
from benchbook.views.protocol import tables
from benchbook.views.protocol.archive_model import INVALID, PROMPTS, VALID, Archive, JudgeUsed, RunLog
from benchbook.views.protocol.tables import FLAGS, GAPS

_LAYOUT = """\
One file an evaluation: `<method>/<judge>/<question>__<variant>__<target>__<output>.json`, with `__repeat-2` and so on
where an output was judged again. An id that is no plain file name stands as what is legible of it, a `~` and digits of
its SHA-256; the whole id is in the file, under `meta`.
"""


_WORDS_BEFORE_3 = (
    "",
    "",
    f"""\
`meta`, `scores`, `verdict`, `flags` and `evidence` as in the judge's reply. `evidence[].located` says how the quote was
found (`exact`, `normalised`, `fragments`), `spans` where: half-open, in code points of the judged text whose hash is
`text_sha256`. `prompt_sha256` names a file of `../{PROMPTS}/`, `request_sha256` is of what was sent, `fact_seq` is the
reply's place in the record's journal, `raw_reply` what the judge wrote.
""",
)
_WORDS = (
    ", or {characters} characters of text without spaces, and of at least {least} characters{cjk},",
    "\n- `meta.timestamp` is a date of the calendar, `YYYY-MM-DD`.",
    f"""\
`meta`, `scores`, `verdict`, `flags`, `evidence` and `notes` as the judge wrote them, or as a declared mapping put them
into this form: a file is a reply that is valid when it is read again. `asked` is what the judge was asked about; under
`meta` it may have used another declared name of a model. `evidence[].located` says how the quote was found (`exact`,
`normalised`, `fragments`), `spans` where: half-open, in code points of the judged text whose hash is `text_sha256`.
`prompt_sha256` names a file of `../{PROMPTS}/` (null: not known), `request_sha256` is of what was sent (null: nobody
was asked here), `fact_seq` is the reply's place in the record's journal. `raw_reply` is what the judge wrote, `read_as`
what was read of it where that is not all of it as it stands.
""",
)
_INVALID_FIELDS = """ What an \
import took out of a larger file is that part of it.

In the JSON file, `meta`, `scores`, `verdict`, `evidence` and `notes` are as the judge wrote them, as far as they are
there and of the type that the protocol asks for; what is not there was not written so. `flags` and `details` are what
was found, `asked` is what the judge was asked about. `reply_is_utf8` is false where the raw reply is no UTF-8.
`read_as` is what was read, where that is not all of the reply as it stands: without declared thoughts, or put into the
protocol's form by a declared mapping; the fields are then of that."""
_NOT_THERE_YET = """ A cell
whose judge was not reached, or not asked so far, is listed there without a flag: it is not there yet."""


def valid_readme(log: RunLog, spec: Protocol, derivation: int) -> str:
    """The README of `valid_evaluations/`: what its files are, and the rules by which they are there."""
    evidence, meta, fields = _WORDS_BEFORE_3 if derivation < 3 else _WORDS
    if derivation >= 3:
        least, cjk = spec.length.min_length, -(-spec.length.min_length // spec.length.cjk_character_length)
        characters = CHARACTERS_PER_WORD * spec.max_quote_words
        evidence = evidence.format(characters=characters, least=least, cjk=f" ({cjk} where it is CJK)")
    return f"""\
# Valid evaluations

Evaluations that count, by `{spec.id}`. Valid is not about quality: a `FAIL` may be valid, a `PASS` invalid.

{_LAYOUT}
## Rules

An evaluation is here if no rule of `../{INVALID}/README.md` applies to it:

- The judge's reply is exactly one strict JSON object with `meta`, `scores`, `verdict`, `flags` and `evidence`.
- {_scored(spec)}
- `overall_score` is their sum. The verdict is `FAIL` up to {spec.fail_at_most}, `PASS` from {spec.pass_at_least} on,
  else `PARTIAL`. `FAIL` goes first.
- {_who_has_evidence(spec)}: a quote of at most {spec.max_quote_words} words{evidence} with a reason.
- {_evidence_rule(log)}
- The identifiers are those that the judge was asked about, and the judge flags nothing.{meta}

## Fields

{fields}
Primary statistics use `cross_judge` alone.
"""


def _scored(spec: Protocol) -> str:
    """Which dimensions there are, and what they may be scored."""
    if spec.one_scale is None:
        each = ", ".join(f"`{one.name}` {scores_words(one.scores)}" for one in spec.dimensions)
        return f"Each dimension is scored: {each}."
    dimensions = ", ".join(f"`{name}`" for name in spec.names)
    many = ("dimensions", "are each") if len(spec.names) > 1 else ("dimension", "is")
    return f"The {many[0]} {dimensions} {many[1]} scored {spec.scale_words}."


def _who_has_evidence(spec: Protocol) -> str:
    quoted = [f"`{one.name}`" for one in spec.dimensions if one.must_quote]
    if len(quoted) == len(spec.dimensions):
        return "Every dimension has evidence"
    return f"Evidence is there for {', '.join(quoted)}" if quoted else "Evidence may be there"


def invalid_readme(log: RunLog, spec: Protocol, derivation: int) -> str:
    """The README of `invalid_evaluations/`: what its files are, and the rules that put them there."""
    edition: Edition = 1 if derivation < 3 else 2
    codes = {flag: ", ".join(f"`{code}`" for code in codes_of(flag, edition)) for flag in get_args(Flag)}
    fields, waiting = ("", "") if derivation < 3 else (_INVALID_FIELDS, _NOT_THERE_YET)
    rules = "".join(f"- `{flag}`: {FLAGS[flag]}. Codes: {codes[flag]}.\n" for flag in form().flags)
    return f"""\
# Invalid evaluations

Evaluations that do not count, by `{spec.id}`. Invalid is not low quality: low scores are a `FAIL`, in
`../{VALID}/`. What is here enters no statistic of scores; it is counted.

{_LAYOUT}
Beside each lies the judge's raw reply, byte for byte: the same name, ending in `.reply.txt`.{fields}

## Rules

An evaluation is here if any of these flags applies. All that apply are kept (`flags`), with a bounded number of details
(`details`: the code, the field of the reply, and what was found).

{rules}
{_evidence_rule(log)} A cell of the evaluation set that nobody evaluated is `INCOMPLETE_COVERAGE` of the set: it has no
file, and is listed in `../run_log.json` under `gaps`.{waiting}
"""


def _evidence_rule(log: RunLog) -> str:
    ways = "as it stands, or but for spacing, case and typography, or in fragments joined by an ellipsis"
    if log.evidence == "report":
        return (
            f"Quotes are looked up in the judged text ({ways}). This experiment declared before its first call that "
            "one that is not found is counted, and invalidates nothing."
        )
    return f"Every quote stands in the judged text: {ways}."


def prompt_manifest(archive: Archive) -> Iterator[str]:
    """`used_prompt_manifest.md`: every judge prompt with its hash and who was asked by it."""
    used: defaultdict[str | None, Counter[tuple[str, str]]] = defaultdict(Counter)
    for row in archive.rows:
        used[row.prompt_sha256][row.method, row.judge_model] += 1
    yield "# Judge prompts used\n\n"
    yield (
        f"A prompt is named by the SHA-256 of its file in `{PROMPTS}/`. It is the template: what was sent for one "
        "evaluation, with the task and the judged text in it, has its own hash (`request_sha256`) there.\n\n"
    )
    given = {prompt.sha256: prompt for prompt in archive.prompts}
    for sha256, prompt in sorted(given.items(), key=lambda pair: (pair[1].name, pair[0])):
        yield f"## {inline(prompt.name)}\n\n- SHA-256: `{sha256}`\n- File: `{PROMPTS}/{sha256}.txt`\n"
        yield from _users(used[sha256])
        yield f"\n{fenced(prompt.text)}\n"
    for missing in sorted(one for one in used if one is not None and one not in given):
        yield f"## Not kept\n\n- SHA-256: `{inline(missing)}`\n"
        yield from _users(used[missing])
        yield "\n"
    if used[None]:
        yield "## Not known\n\nOf these evaluations nobody recorded the prompt.\n\n"
        yield from _users(used[None])


def _users(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    for (method, judge), count in sorted(counts.items()):
        yield f"- `{method}` by {inline(judge)}: {plural(count, 'evaluation')}\n"
    if not counts:
        yield "- Used by no evaluation of this archive\n"


MAX_GAPS = 50  # listed; run_log.json has all


def results_analysis(archive: Archive) -> Iterator[str]:
    """The document, in pieces."""
    found, log, spec = archive.analysis(), archive.run_log, archive.protocol
    confidence = numbers.limit("rate", found.confidence)
    yield f"# Results: {inline(log.experiment)}\n\n"
    yield (
        f"Made from this archive's files alone. Scores are those of valid `cross_judge` evaluations, unless a section "
        f"says otherwise; intervals are two-sided at {confidence}, each for itself. Where there are too few outputs or "
        "questions for a statement, the value is what was seen, and it is said.\n\n"
    )
    if not isinstance(log.warnings, msgspec.UnsetType) and log.warnings:
        yield "## Read this first\n\n" + "".join(f"- {inline(warning)}\n" for warning in log.warnings) + "\n"
    yield from _run(log, len(archive.rows))
    yield from _section("What counts", tables.methods_table(found), tables.flags_table(found))
    yield from _gaps(log)
    yield from _section("Targets", tables.targets_table(found, spec), tables.dimensions_table(found, spec))
    yield from _section("Drift", tables.drift_table(found), empty="No target was judged under two variants.")
    yield from _judges(found, spec)
    yield from _section(
        "Self-judging",
        tables.self_table(found, spec),
        empty="No model judged an output of its own that others judged too.",
    )
    if found.probes:
        yield from _section("Probes", tables.probes_table(found))


def _run(log: RunLog, n_rows: int) -> Iterator[str]:
    yield "## Run\n\n"
    yield f"- {plural(log.n_samples, 'sample')}, {plural(n_rows, 'evaluation')}\n"
    yield f"- {inline(when(log))}\n"
    yield f"- Spec {inline(log.spec)} ({inline(log.spec_sha256)}), evidence rule {inline(log.evidence)}\n"
    for judge in log.judges:
        yield f"- Judge {inline(judge.judge_model)}: {inline(_judge(judge))}\n"
    yield "\n"


def when(log: RunLog) -> str:
    """The time range (P7); of judgements made elsewhere, that of the dates that they bear."""
    started, ended = log.started_utc or "not known", log.ended_utc or "not known"
    if isinstance(log.imported_utc, msgspec.UnsetType):
        return f"Began: {started}; ended: {ended}"
    return f"First evaluation: {started}; last: {ended}, by their own dates; imported: {log.imported_utc}"


def _judge(judge: JudgeUsed) -> str:
    known = None if judge.params is None else ", ".join(f"{name} {v}" for name, v in sorted(judge.params.items()))
    params = "parameters not known" if known is None else known or "no parameters"
    tools = "not known" if judge.tools is None else ", ".join(judge.tools) or "none"
    web = {None: "not known", True: "yes", False: "no"}[judge.web_access]
    return f"version {judge.version or 'not known'}; {params}; tools: {tools}; web access: {web}"


def _gaps(log: RunLog) -> Iterator[str]:
    omitted = [gap for gap in log.gaps if gap.flag is not None]
    waiting = [gap for gap in log.gaps if gap.flag is None]
    if omitted:
        yield f"## Not evaluated\n\n{plural(len(omitted), 'cell')} of the evaluation set, `INCOMPLETE_COVERAGE`:\n\n"
        yield from _gap_lines(omitted)
    if waiting:
        yield f"## Not there yet\n\n{plural(len(waiting), 'cell')}, by no fault of a judgement:\n\n"
        yield from _gap_lines(waiting)


def _gap_lines(gaps: Sequence[CoverageGap]) -> Iterator[str]:
    for gap in gaps[:MAX_GAPS]:
        cell = f"{gap.question_id} / {gap.prompt_variant} / {gap.target_model} / {gap.output_id}"
        why = "" if isinstance(gap.why, msgspec.UnsetType) else f": {GAPS[gap.why]}"
        yield f"- {inline(cell)}, by {inline(gap.judge_model or 'no judge')}{why}\n"
    if len(gaps) > MAX_GAPS:
        yield f"- and {len(gaps) - MAX_GAPS:,} more, in `run_log.json`\n"
    yield "\n"


def _judges(found: Analysis, spec: Protocol) -> Iterator[str]:
    yield from _section(
        "Judges",
        tables.judges_table(found),
        tables.evidence_table(found),
        tables.pairs_table(found),
        empty="Nobody judged anything.",
    )
    yield (
        "Severity is a judge's overall score minus that of the other judges on the same outputs: below 0 it is "
        "harsher. Agreement is the mean of Gwet's AC2 with each other judge.\n\n"
    )
    yield from _section("League", tables.league_table(found, spec), empty="There is no judge.")
    yield "The rules:\n\n" + "".join(f"- {inline(rule)}\n" for rule in tables.league_notes(found, spec)) + "\n"


def _section(title: str, *tables: Table, empty: str = "Nothing was judged.") -> Iterator[str]:
    yield f"## {title}\n\n"
    shown = [table for table in tables if table]
    if not shown:
        yield f"{empty}\n\n"
    for table in shown:
        yield f"{inline(table.caption)}:\n\n{table_markdown(table)}"
