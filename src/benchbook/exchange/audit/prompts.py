"""Prompts that occur again: with another reference, or as another item altogether.

Of very many prompts a part is looked at, by their checksums: memory has an end, a prompt that is looked at is looked at
wherever it stands, and another audit looks at the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from zlib import crc32

from benchbook.exchange.audit.result import AuditFinding
from benchbook.exchange.log import LogSample
from benchbook.text import plural, shorten

_MOST = 1 << 15
_EXAMPLES = 3


class Prompts:
    """The prompts seen so far, of 1 in `share` of all that there are."""

    def __init__(self) -> None:
        self.share = 1
        self._checksums = array("I")
        self._prompts, self._references = array("q"), array("q")
        self._ids: list[str] = []

    def see(self, sample: LogSample) -> None:
        if not sample.prompt.strip():
            return
        checksum = crc32(sample.prompt.encode("utf-8", "surrogatepass"))
        if checksum % self.share or len(self._ids) > _MOST:  # more, where nothing can be thinned out: all are one
            return
        self._checksums.append(checksum)
        self._prompts.append(hash((sample.prompt, sample.choices, sample.context)))
        self._references.append(hash(tuple(sorted(sample.references))) if sample.references else 0)
        self._ids.append(sample.id)
        if len(self._ids) > _MOST:
            self._thin_out()

    def _thin_out(self) -> None:
        while len(self._ids) > _MOST // 2 and self.share < 1 << 32:
            self.share *= 2
            kept = [at for at, checksum in enumerate(self._checksums) if not checksum % self.share]
            self._checksums = array("I", (self._checksums[at] for at in kept))
            self._prompts = array("q", (self._prompts[at] for at in kept))
            self._references = array("q", (self._references[at] for at in kept))
            self._ids = [self._ids[at] for at in kept]

    def findings(self) -> Iterator[AuditFinding]:
        n_differing, n_again, differing, again = 0, 0, [], []
        for places in self._occurring_again():
            ids = list(dict.fromkeys(self._ids[at] for at in places))
            references = {self._references[at] for at in places} - {0}
            example = " = ".join(shorten(one, 60) for one in ids[:3])
            if len(references) > 1:
                n_differing += 1
                differing.append(example)
            elif len(ids) > 1:
                n_again += len(ids) - 1
                again.append(example)
        part = f" (looked at: 1 in {self.share:,} prompts)" if self.share > 1 else ""
        if n_differing:
            have = "has" if n_differing == 1 else "have"
            words = f"{plural(n_differing, 'prompt')} {have} different references in different samples{part}"
            yield AuditFinding(
                code="different_references", words=words, n=n_differing, examples=tuple(differing[:_EXAMPLES])
            )
        if n_again:
            asks = "asks" if n_again == 1 else "ask"
            words = f"{plural(n_again, 'item')} {asks} what another item asks, with the same reference{part}"
            yield AuditFinding(code="identical_items", words=words, n=n_again, examples=tuple(again[:_EXAMPLES]))

    def _occurring_again(self) -> Iterator[list[int]]:
        first: dict[int, int] = {}
        more: dict[int, list[int]] = {}
        for at, asked in enumerate(self._prompts):
            before = first.setdefault(asked, at)
            if before != at and (
                self._ids[before] != self._ids[at] or self._references[before] != self._references[at] or asked in more
            ):
                more.setdefault(asked, [before]).append(at)
        yield from more.values()
