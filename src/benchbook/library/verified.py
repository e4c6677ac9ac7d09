"""A verification as `bb.verify` gives it: it prints well, and shows itself in a notebook."""

from __future__ import annotations

from dataclasses import fields

from benchbook.evaluators.verify import Verification


class Verified(Verification):
    """`holds` is true where nothing was found; `findings` name every byte that was changed, by file and line."""

    __slots__ = ()

    @classmethod
    def of(cls, found: Verification) -> Verified:
        """The same, to be shown."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def __str__(self) -> str:
        from benchbook.views.terminal import document_lines
        from benchbook.views.verification import verification_document

        return "\n".join(document_lines(verification_document(self))).strip("\n")

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment
        from benchbook.views.verification import verification_document

        return fragment(verification_document(self))
