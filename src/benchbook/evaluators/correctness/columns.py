"""`answer_correctness@v1` over whole columns: the same results as the reference on every string (SPEC A1, A2, A7).

ASCII text is compared in Polars. Polars has no `str.casefold`, so a row with any other character goes through the
reference, unless its two texts are the same to begin with, which is most of them.
"""

from __future__ import annotations

import polars as pl

from benchbook.errors import UsageError
from benchbook.evaluators.answers.scorecard import GROUPINGS, ScorecardTally
from benchbook.evaluators.correctness.scorecard import tally_columns
from benchbook.evaluators.correctness.scoring import REASONS, AnswerFormat, MissReason, compared_text, reason
from benchbook.evaluators.exact import DECIMAL, same_number

# The characters that str.strip takes (a test goes through all of Unicode). Polars' default leaves out U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_NUMBER = f"^(?:{DECIMAL})$"


def score_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """`correctness` (0.0 or 1.0) and `reason` (null where correct), a row for each row of `frame` in its order.

    `frame` has the texts `expected` and `predicted` (null: no prediction), and maybe `answer_format`; further columns
    are ignored.

    Raises: UsageError naming the row (from 1) where `expected` is null or blank, or an `answer_format` is unknown.
    """
    expected, compared = frame["expected"], _compared(frame)
    _refuse_missing(expected)
    rows = pl.DataFrame({"expected": expected, "compared": compared}).with_row_index("row")
    unlike = rows.filter(pl.col("expected") != pl.col("compared")).with_columns(
        ascii=_is_ascii("expected") & _is_ascii("compared"),
        wanted=_ascii_normalized("expected"),
        found=_ascii_normalized("compared"),
    )
    missed = unlike.filter(~(pl.col("ascii") & (pl.col("wanted") == pl.col("found"))))
    reasons = pl.concat([_ascii_reasons(missed.filter("ascii")), _reference_reasons(missed.filter(~pl.col("ascii")))])
    return (
        rows.select("row")
        .join(reasons, on="row", how="left", maintain_order="left")
        .select(correctness=pl.when(pl.col("reason").is_null()).then(1.0).otherwise(0.0), reason="reason")
    )


def _compared(frame: pl.DataFrame) -> pl.Series:
    """The compared texts (SPEC A2), null predictions as the empty string: both are `no_prediction`."""
    predicted = frame["predicted"].fill_null("")
    if "answer_format" not in frame.columns:
        return predicted
    formats = frame["answer_format"]
    known: AnswerFormat = "answer_prefix"
    unknown = formats.is_not_null() & (formats != known)
    if unknown.any():
        row = unknown.arg_true()[0]
        raise UsageError(f"row {row + 1}: answer_format {formats[row]!r} is not known; expected {known} or nothing")
    # Some characters fold to ASCII from outside it (U+017F is an s), so only an ASCII text surely has no prefix.
    may_have = pl.col("predicted").str.contains_any(["answer:"], ascii_case_insensitive=True) | ~_is_ascii("predicted")
    rows = pl.DataFrame({"predicted": predicted}).select(has=may_have)["has"] & formats.is_not_null()
    places = rows.arg_true()
    extracted = [compared_text(text, known) for text in predicted.gather(places).to_list()]
    return predicted.scatter(places, pl.Series(extracted, dtype=pl.String)) if extracted else predicted


def _refuse_missing(expected: pl.Series) -> None:
    missing = expected.is_null() | (expected.str.strip_chars(WHITE_SPACE) == "")
    if missing.any():
        raise UsageError(
            f"row {missing.arg_true()[0] + 1}: the expected answer is missing: an error in the eval set, not a score"
        )


def _is_ascii(column: str) -> pl.Expr:
    return pl.col(column).str.len_bytes() == pl.col(column).str.len_chars()


def _ascii_normalized(column: str) -> pl.Expr:
    """`normalize`, right only for ASCII."""
    return pl.col(column).str.strip_chars(WHITE_SPACE).str.to_lowercase()


def _ascii_reasons(missed: pl.DataFrame) -> pl.DataFrame:
    no_prediction, inside, equal, different = REASONS
    numbers = pl.col("wanted").str.contains(_NUMBER) & pl.col("found").str.contains(_NUMBER)
    reasons = missed.select(
        "row", "wanted", "found",
        reason=pl.when(pl.col("found") == "")
        .then(pl.lit(no_prediction))
        .when(pl.col("found").str.contains(pl.col("wanted"), literal=True))
        .then(pl.lit(inside))
        .when(~numbers)
        .then(pl.lit(different)),
    )  # fmt: skip
    two_numbers = reasons.filter(pl.col("reason").is_null())
    decided = [
        equal if same_number(wanted, found) else different
        for wanted, found in zip(two_numbers["wanted"].to_list(), two_numbers["found"].to_list(), strict=True)
    ]
    rest = two_numbers.select("row", reason=pl.Series(decided, dtype=pl.String))
    return pl.concat([reasons.filter(pl.col("reason").is_not_null()).select("row", "reason"), rest])


def _reference_reasons(missed: pl.DataFrame) -> pl.DataFrame:
    """The reasons, row by row; null where the texts turn out to be the same once folded."""
    reasons: list[MissReason | None] = [
        reason(expected, compared)
        for expected, compared in zip(missed["expected"].to_list(), missed["compared"].to_list(), strict=True)
    ]
    return missed.select("row", reason=pl.Series(reasons, dtype=pl.String))


def with_results(rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` with `correctness` and `miss_reason` beside them. Raises: UsageError as `score_columns` does."""
    return rows.hstack(score_columns(rows)).rename({"reason": "miss_reason"})


def tally_rows(rows: pl.DataFrame) -> ScorecardTally:
    """The counts of such rows. Those of a table are the sum of its parts', however it is cut."""
    names = [name for name in GROUPINGS if name in rows.columns]
    return tally_columns(rows.select(*names, reason="miss_reason"))
