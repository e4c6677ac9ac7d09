"""What makes a judge's replies unreadable (R3.5, P4), and the setting that mends it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchbook.derivations.plan import Panel, Plan, RolePlan
from benchbook.derivations.rubric_steps import History
from benchbook.records.facts import Reply
from benchbook.scorers.judge_protocol_findings import Findings
from benchbook.scorers.judge_protocol_reply import read_reply

__all__ = ["RejectedCounts", "Rejection", "rejection_of_evaluation", "rejections_of"]

_TAG = re.compile(r"\s*<([A-Za-z][\w:-]{0,30})>")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why no reply of a judge was read. `said` and `mended` are the same for all of a kind."""

    judge: int
    reason: str  # of R3.5's closed list; of an evaluation, the code of what was found
    said: str
    mended: str


def rejections_of(history: History) -> list[Rejection]:
    """Of every judge whose replies to this answer were all rejected."""
    found = []
    for number, judging in enumerate(history.judges):
        if judging.error == "parse_error" and judging.rejected is not None:
            plan = history.plan
            said, mended = _explained(
                judging.replies[-1][0], judging.rejected.reason, judging.rejected.detail, plan.judges[number],
                _setting(plan, number),
            )  # fmt: skip
            found.append(Rejection(number, judging.rejected.reason, said, mended))
    return found


def rejection_of_evaluation(reply: Reply, number: int, judge: RolePlan) -> Rejection | None:
    """Of a judge of `judge_protocol@v1` whose reply is no JSON object. To decline is no matter of a setting (P4)."""
    findings = Findings()
    read = read_reply(reply.text or "", judge.reasoning_tags, findings)
    if read.value is not None or findings.counts["declined"]:
        return None
    found = findings.details[0]
    reason = found.code if read.body.strip() else "empty_reply"
    said, mended = _explained(reply, reason, found.message, judge, f"judges[{number}].")
    return Rejection(number, reason, said, mended)


def _setting(plan: Plan, judge: int) -> str:
    """What stands before a setting of this judge."""
    return f"judges[{judge}]." if isinstance(plan.panel, Panel) else "judge_"


def _explained(reply: Reply, reason: str, detail: str, judge: RolePlan, prefix: str) -> tuple[str, str]:
    """What is wrong with a reply, and what mends it."""
    text = reply.text or ""
    if reply.finish_reason == "length":
        limit = judge.params.get("max_tokens")
        said = "it is cut by max_tokens" + (" before any text" if not text.strip() else "")
        return said, f"{prefix}params = {{max_tokens = {2 * limit if isinstance(limit, int) else 2048}}}"
    tag = _TAG.match(text)
    if tag is not None and tag[1] not in judge.reasoning_tags and f"</{tag[1]}>" in text:
        return f"it begins with its thoughts, <{tag[1]}>", f'{prefix}reasoning_tags = ["{tag[1]}"]'
    if reason == "empty_reply":
        apart = " and thoughts apart" if reply.reasoning_characters else ""
        return f"it came without text{apart}", "a server that sends the judge's answer as content, or another judge"
    schema = "another judge" if judge.json_schema else f"{prefix}json_schema = true, where its server takes it"
    if _FENCE.search(text):
        return "its JSON stands in a Markdown fence", schema
    is_no_json = reason in ("malformed_json", "truncated", "not_strict_json")
    if is_no_json and "{" in text and not text.lstrip().startswith("{"):
        return "there is text around its JSON", schema
    return f"{reason}: {detail}" if reason in ("malformed_json", "not_strict_json") else reason, schema


class RejectedCounts:
    """Counts, while samples go by, of which judge nothing could be read, by what was wrong.

    Now and then it happens, and is counted with what was not scored; half of the time something is set wrong.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._n_judged = [0] * len(names)

    def add(self, history: History) -> None:
        for number, judging in enumerate(history.judges):
            self._n_judged[number] += bool(judging.replies)
        for one in rejections_of(history):
            self._counts[one.judge, one.said.partition(":")[0], one.mended] += 1

    def warnings(self) -> list[str]:
        """Of one kind each, most first."""
        return [
            f"Of {n:,} {'answer' if n == 1 else 'answers'} no reply of the {self._names[judge]} could be read: {said}. "
            f"What may mend it, in a new run: {mended}."
            for (judge, said, mended), n in sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
            if 2 * n >= self._n_judged[judge]
        ]
