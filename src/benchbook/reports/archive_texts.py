"""The Markdown that an archive is read by: the rules of its two folders, and the prompts that were used (SPEC P5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from benchbook.reports.archive_model import Archive, RunLog
from benchbook.reports.archive_names import INVALID, PROMPTS, VALID
from benchbook.reports.markdown import fenced, inline
from benchbook.reports.protocol_words import FLAGS
from benchbook.reports.words import plural
from benchbook.scorers.judge_protocol_findings import FLAG_OF
from benchbook.scorers.judge_protocol_spec import SPEC_ID, protocol

__all__ = ["invalid_readme", "prompt_manifest", "valid_readme"]

_LAYOUT = """\
One file an evaluation: `<method>/<judge>/<question>__<variant>__<target>__<output>.json`, with `__repeat-2` and so on
where an output was judged again. An id that is no plain file name stands as what is legible of it, a `~` and digits of
its SHA-256; the whole id is in the file, under `meta`.
"""


def valid_readme(log: RunLog) -> str:
    """What the files of `valid_evaluations/` are, and the rules by which they are there."""
    spec = protocol()
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
- Every dimension has evidence: a quote of at most {spec.max_quote_words} words with a reason.
- {_evidence_rule(log)}
- The identifiers are those that the judge was asked about, and the judge flags nothing.

## Fields

`meta`, `scores`, `verdict`, `flags` and `evidence` as in the judge's reply. `evidence[].located` says how the quote was
found (`exact`, `normalised`, `fragments`), `spans` where: half-open, in code points of the judged text whose hash is
`text_sha256`. `prompt_sha256` names a file of `../{PROMPTS}/`, `request_sha256` is of what was sent, `fact_seq` is the
reply's place in the record's journal, `raw_reply` what the judge wrote.

Primary statistics use `cross_judge` alone.
"""


def invalid_readme(log: RunLog) -> str:
    """What the files of `invalid_evaluations/` are, and the rules that put them there."""
    codes: defaultdict[str, list[str]] = defaultdict(list)
    for code, flag in FLAG_OF.items():
        codes[flag].append(f"`{code}`")
    rules = "".join(f"- `{flag}`: {FLAGS[flag]}. Codes: {', '.join(codes[flag])}.\n" for flag in protocol().flags)
    return f"""\
# Invalid evaluations

Evaluations that do not count, by `{SPEC_ID}`. Invalid is not low quality: low scores are a `FAIL`, in
`../{VALID}/`. What is here enters no statistic of scores; it is counted.

{_LAYOUT}
Beside each lies the judge's raw reply, byte for byte: the same name, ending in `.reply.txt`.

## Rules

An evaluation is here if any of these flags applies. All that apply are kept (`flags`), with a bounded number of details
(`details`: the code, the field of the reply, and what was found).

{rules}
{_evidence_rule(log)} A cell of the evaluation set that nobody evaluated is `INCOMPLETE_COVERAGE` of the set: it has no
file, and is listed in `../run_log.json` under `gaps`.
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
