"""Why an answer ended, in one vocabulary: servers have many words for the same (SPEC R3.6)."""

from __future__ import annotations

import re

__all__ = ["is_fault", "normalised"]

_WORDS = {
    "stop": ("stop", "endturn", "eos", "eostoken", "stopsequence", "complete", "completed", "endoftext"),
    "length": (
        "length", "maxtokens", "maxlength", "maxoutputtokens", "maxnewtokens", "maxcompletiontokens", "modellength",
        "tokenlimit", "modelcontextwindowexceeded", "contextlengthexceeded",
    ),
    "content_filter": (
        "contentfilter", "contentfiltered", "safety", "recitation", "refusal", "blocklist", "prohibitedcontent", "spii",
        "sensitive", "guardrailintervened", "errortoxic", "imagesafety", "moderation",
    ),
}  # fmt: skip
_NORMALISED = {alias: word for word, aliases in _WORDS.items() for alias in aliases}
# The server broke off, and not the model: DeepSeek, vLLM, z.AI, Ollama, OpenRouter, Cohere have one each.
_FAULTS = frozenset({
    "error", "abort", "aborted", "networkerror", "insufficientsystemresource", "insufficientsystemresources", "load",
    "unload", "servererror", "internalerror", "modelerror", "timeout", "cancelled", "canceled", "usercancel",
})  # fmt: skip
_PREFIX = re.compile(r"^finishreason")


def normalised(reason: str | None) -> str | None:
    """`stop`, `length` or `content_filter` where the word means that; any other as it came."""
    if reason is None or reason in _WORDS:
        return reason
    return _NORMALISED.get(_bare(reason.partition(":")[0]), reason)


def is_fault(reason: str | None) -> bool:
    """Whether the server says that it broke the answer off."""
    return reason is not None and _bare(reason.partition(":")[0]) in _FAULTS


def _bare(word: str) -> str:
    return _PREFIX.sub("", re.sub(r"[\W_]+", "", word[:60]).lower())
