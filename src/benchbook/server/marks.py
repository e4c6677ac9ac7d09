"""People's marks on runs: read, and changed so that two who write at once lose nothing of each other's."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus

from msgspec import structs

from benchbook.record.marks import Edit, Marks, MarksChange, marks_words
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import MarksOfRuns
from benchbook.server.runs import run_answer
from benchbook.server.types import MarksChanged, MarksOfRun, Tags


def only_if(asked: str | None, edit: Edit) -> Edit:
    """`edit`, refused where the marks are no longer those that `asked` names: the header If-Match.

    `*` fits any. A weak tag counts as the strong one: a server in front may have compressed what it stood on.
    """

    def checked(run_id: str, before: Marks) -> Marks:
        if asked is not None and not _names(asked, before):
            raise ProblemError(
                HTTPStatus.PRECONDITION_FAILED,
                f"somebody changed these marks meanwhile; now: {marks_words(before)}",
                {"etag": etag_of(before)},
            )
        return edit(run_id, before)

    return checked


def _names(asked: str, marks: Marks) -> bool:
    tags = [one.strip().removeprefix("W/") for one in asked.split(",")]
    return "*" in tags or etag_of(marks) in tags


def etag_of(marks: Marks) -> str:
    return f'"{marks.version}"'


# ── operations ───────────────────────────────────────────────────────────────────────────────────────────────


def get_marks(call: Request) -> MarksOfRun:
    run_id = call.services.run(call.path["run_id"]).row.run_id
    return _answer(call, run_id, call.services.marks.of(run_id))


def change_marks(call: Request) -> MarksOfRun:
    """Raises: ProblemError (428) for a text that would be replaced by somebody who may not have seen it."""
    change: MarksChange = call.body
    asked = call.request_headers.get("if-match")
    if change.replaces_text and asked is None:
        raise ProblemError(
            HTTPStatus.PRECONDITION_REQUIRED,
            "a name and a note replace what stands there: expected the header If-Match, with the etag of the marks "
            "that were seen (or *)",
        )
    run_id = call.path["run_id"]
    made = _changed(call, (run_id,), only_if(asked, lambda _, before: change.of(before)))
    return _answer(call, run_id, made[run_id])


def change_many(call: Request) -> MarksChanged:
    change: MarksOfRuns = call.body
    if change.replaces_text:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, "body: found name or note; expected neither: they are of one run"
        )
    made = _changed(call, dict.fromkeys(change.runs), lambda _, before: change.of(before))
    return MarksChanged(marks=tuple(_marks_of(run_id, marks) for run_id, marks in made.items()))


def put_tags(call: Request) -> Tags:
    """Without If-Match, whatever tags are there are replaced: for a program that owns them."""
    run_id = call.path["run_id"]
    tags = tuple(sorted({*call.body.tags}))
    edit = only_if(call.request_headers.get("if-match"), lambda _, before: structs.replace(before, tags=tags))
    made = _changed(call, (run_id,), edit)[run_id]
    call.headers["etag"] = etag_of(made)
    return Tags(run_id=run_id, tags=made.tags)


def _changed(call: Request, run_ids: Collection[str], edit: Edit) -> dict[str, Marks]:
    """Change marks, and tell those who listen of the runs. Raises: ProblemError (404), with nothing changed."""
    services = call.services
    rows = [services.run(run_id).row for run_id in run_ids]
    made = services.marks.change(run_ids, edit)
    if services.events.n_listeners:
        for row in rows:
            services.events.tell("run", run_answer(services, row))
    return made


def _answer(call: Request, run_id: str, marks: Marks) -> MarksOfRun:
    call.headers["etag"] = etag_of(marks)
    return _marks_of(run_id, marks)


def _marks_of(run_id: str, marks: Marks) -> MarksOfRun:
    return MarksOfRun(run_id=run_id, **structs.asdict(marks), etag=etag_of(marks))
