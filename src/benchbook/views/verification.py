"""A verification as a document: whether the record holds, and what was changed in it."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.evaluators.document import TERMINAL, Document, Fact, Listed, Notices, Opening, Paragraph, Tone
from benchbook.evaluators.verify import Verification
from benchbook.text import plural

_MOST = 100  # findings that are listed
_HELD: Mapping[bool, tuple[str, Tone]] = {True: ("Verified", "good"), False: ("Does not hold", "bad")}


def verification_document(found: Verification) -> Document:
    """Its verdict, then every finding, then what was held byte for byte alone."""
    state = f"The record is {found.state}; everything in it that is computed was computed again from its journal."
    says = state if found.holds else plural(len(found.findings), "finding")
    headline, tone = _HELD[found.holds]
    listed = Listed(tuple(str(one) for one in found.findings[:_MOST]))
    facts = (Fact("Facts", f"{found.n_facts:,}", plain=True), Fact("Record", digest=found.sha256))
    others = () if found.not_computed is None else (f"{found.not_computed}.",)
    opening = Opening(headline, tone, None, (says,), (listed,) if found.findings else (), facts)
    named = Paragraph(f"record hash: {found.sha256}", only=TERMINAL)
    return Document("Verification", "verification", [opening, named, Notices((*others, *found.notes))])
