"""The Markdown that an archive is read by: the rules of its two folders, and the prompts that were used (SPEC P5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import get_args

from benchbook.reports.archive_model import Archive, RunLog
from benchbook.reports.archive_names import INVALID, PROMPTS, VALID
from benchbook.reports.markdown import fenced, inline
from benchbook.reports.protocol_words import FLAGS
from benchbook.reports.words import plural
from benchbook.scorers.judge_protocol_findings import Edition, Flag, codes_of
from benchbook.scorers.judge_protocol_spec import SPEC_ID, protocol

__all__ = ["invalid_readme", "prompt_manifest", "valid_readme"]

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
    ", or 120 characters of text without spaces, and of at least 4 characters (2 where it is CJK),",
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


def valid_readme(log: RunLog, derivation: int) -> str:
    """What the files of `valid_evaluations/` are, and the rules by which they are there."""
    spec = protocol()
    evidence, meta, fields = _WORDS_BEFORE_3 if derivation < 3 else _WORDS
    dimensions = ", ".join(f"`{name}`" for name in spec.dimensions)
    return f"""\
# Valid evaluations

Evaluations that count, by `{SPEC_ID}`. Valid is not about quality: a `FAIL` may be valid, a `PASS` invalid.

{_LAYOUT}
## Rules

An evaluation is here if no rule of `../{INVALID}/README.md` applies to it:

- The judge's reply is exactly one strict JSON object with `meta`, `scores`, `verdict`, `flags` and `evidence`.
- The dimensions {dimensions} are each scored 0, 1 or 2.
- `overall_score` is their sum. The verdict is `FAIL` up to {spec.fail_at_most}, `PASS` from {spec.pass_at_least} on,
  else `PARTIAL`. `FAIL` goes first.
- Every dimension has evidence: a quote of at most {spec.max_quote_words} words{evidence} with a reason.
- {_evidence_rule(log)}
- The identifiers are those that the judge was asked about, and the judge flags nothing.{meta}

## Fields

{fields}
Primary statistics use `cross_judge` alone.
"""


def invalid_readme(log: RunLog, derivation: int) -> str:
    """What the files of `invalid_evaluations/` are, and the rules that put them there."""
    edition: Edition = 1 if derivation < 3 else 2
    codes = {flag: ", ".join(f"`{code}`" for code in codes_of(flag, edition)) for flag in get_args(Flag)}
    rules = "".join(f"- `{flag}`: {FLAGS[flag]}. Codes: {codes[flag]}.\n" for flag in protocol().flags)
    return f"""\
# Invalid evaluations

Evaluations that do not count, by `{SPEC_ID}`. Invalid is not low quality: low scores are a `FAIL`, in
`../{VALID}/`. What is here enters no statistic of scores; it is counted.

{_LAYOUT}
Beside each lies the judge's raw reply, byte for byte: the same name, ending in `.reply.txt`.{_fields(derivation)}

## Rules

An evaluation is here if any of these flags applies. All that apply are kept (`flags`), with a bounded number of details
(`details`: the code, the field of the reply, and what was found).

{rules}
{_evidence_rule(log)} A cell of the evaluation set that nobody evaluated is `INCOMPLETE_COVERAGE` of the set: it has no
file, and is listed in `../run_log.json` under `gaps`.{"" if derivation < 3 else _NOT_THERE_YET}
"""


def _fields(derivation: int) -> str:
    return "" if derivation < 3 else _INVALID_FIELDS


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
