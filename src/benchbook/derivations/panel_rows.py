"""The rows of samples.parquet where several judges scored each answer: what each of them said, beside the panel's."""

from __future__ import annotations

import msgspec

from benchbook.derivations.rows import JudgeReply, RubricRow

__all__ = ["CausedPanelRow", "PanelRow", "PanelVote", "judge_of_reply"]


class PanelVote(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said of an answer. `reply_seqs` are the facts of its replies, which are in `judge_replies`."""

    judge: int  # its number in the plan, from 0
    name: str
    accuracy_score: int | None
    faithfulness_score: int | None
    rationale: str | None
    passed: bool | None  # whether the sample would pass by this judge alone; None where it gave no score
    evaluator_error: str | None
    parse_error_reason: str | None
    error_detail: str | None
    latency_ms: int | None  # of the last reply
    input_tokens: int | None  # of all replies
    output_tokens: int | None
    model_reported: str | None
    fingerprint: str | None
    reply_seqs: list[int]


class PanelRow(RubricRow, frozen=True, kw_only=True):
    """A row with every judge's vote. Scores are the panel's, by the plan's rule; they are null where a judge who gave
    none might have changed them.

    `rationale` is that of the first judge who gave the panel's scores. `evaluator_*` add up all judges; who answered
    stands in the votes.
    """

    votes: list[PanelVote]  # one for each judge; none where no answer came
    verdicts_differ: bool  # the sample would pass by some judges and fail by others
    spread: int  # highest less lowest accuracy, plus the same of faithfulness: 0 to 4
    n_dissenting: int  # votes with other scores than the panel's; with any, where the panel has none


class CausedPanelRow(PanelRow, frozen=True, kw_only=True):
    """The same of derivation 3 and later, as `CausedRow` is of one judge."""

    candidate_error: str | None


def judge_of_reply(row: RubricRow, reply: JudgeReply) -> str | None:
    """Whose reply it is, by name; None where there is one judge."""
    votes = row.votes if isinstance(row, PanelRow) else ()
    return next((vote.name for vote in votes if reply.seq in vote.reply_seqs), None)
