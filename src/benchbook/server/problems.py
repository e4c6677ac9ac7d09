"""Errors as they are answered: problem+json (RFC 9457). They say what was wrong, and nothing of the inside."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from benchbook.errors import BenchbookError, RecordError, RecordLockedError, UsageError
from benchbook.server.types import Problem
from benchbook.text import storable

__all__ = ["PROBLEM_MEDIA", "ProblemError", "problem_bytes", "problem_of", "too_large"]


PROBLEM_MEDIA = "application/problem+json"
_LONGEST = 1_000


class ProblemError(Exception):
    """Ends an operation with this status. `detail` goes to whoever asked; `headers` beside it."""

    def __init__(self, status: int, detail: str | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}


def problem_of(error: BenchbookError, folder: str) -> ProblemError:
    """What a reason of ours becomes. The place of the folder of records on this machine is nobody's business."""
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    match error:
        case RecordLockedError():
            status = HTTPStatus.CONFLICT
        case RecordError():
            status = HTTPStatus.CONFLICT  # the record as it is now allows no answer
        case UsageError():
            pass
        case _:
            return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "what is asked for can't be read at the moment")
    return ProblemError(status, str(error).replace(f"{folder}/", "").replace(folder, "runs"))


def problem_bytes(status: int, detail: str | None) -> bytes:
    """The body of an error's answer."""
    text = None if detail is None else storable(detail)[:_LONGEST]
    return msgspec.json.encode(Problem(title=HTTPStatus(status).phrase, status=status, detail=text))


def too_large(most: int) -> ProblemError:
    """A body of more than `most` bytes."""
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: expected at most {most:,} bytes")
