"""Aggregates that tell nothing: a sum of tokens that is 0 was never measured.

No call takes no tokens, so such a sum is of calls that did not report how many, or of none. The file keeps its 0: its
bytes follow from the journal. Whoever shows or adds up the number of a whole run asks here.
"""

from __future__ import annotations

from typing import Any

_OF_TOKENS = frozenset({
    "total_input_tokens", "total_output_tokens", "total_tokens", "tokens_per_correct_answer",
    "evaluator_input_tokens", "evaluator_output_tokens",
})  # fmt: skip


def is_measured(name: str, value: Any) -> bool:
    """False of an aggregate, by its own name, that is 0 because nobody reported it."""
    return not (name in _OF_TOKENS and value == 0)
