"""What was expected, without Python's names for it."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

from benchbook.ask.settings import expected_words


class Settings(msgspec.Struct):
    count: int = 0
    kind: Literal["a", "b"] | None = None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Expected `int` >= 1", "a whole number, 1 or more"),
        ("Expected `int` <= 1000", "a whole number, 1000 or less"),
        ("Expected `float` > 0.5", "a number, more than 0.5"),
        ("Expected `str`, got `int`", "text"),
        ("Expected `array`, got `str`", "a list"),
        ("Expected `int | null`, got `object`", "a whole number or nothing"),
        ("Expected `object`, got `array`", "a table"),
        ("Object contains unknown field `nam`", "Object contains unknown field `nam`"),
    ],
)
def test_a_type_has_a_plain_name(said: str, words: str) -> None:
    assert expected_words(said, Settings, "count") == words


def test_a_word_of_a_few_is_one_of_them() -> None:
    assert expected_words("Invalid enum value 'x'", Settings, "kind") == "a or b"
    assert expected_words("Invalid enum value 'x'", Settings, "unknown") == "Invalid enum value 'x'"
