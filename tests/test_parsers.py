"""Parsers take any bytes: they give a value, or say no by an error of ours, and raise nothing else.

The files in `tests/corpus` come first: what was once right, and what once broke a parser. Then what chance makes of
them; `script/test --attack` tries much more of that.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings

from fuzzing import CORPUS, hostile
from parsers import PARSERS
from support import examples

SEEDS = {name: [path.read_bytes() for path in sorted((CORPUS / name).iterdir())] for name in PARSERS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("parsers") / "each"
    made.mkdir()
    return made


def test_every_parser_has_a_corpus_and_every_corpus_a_parser() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)
    assert all(SEEDS.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "file"), [(name, path.name) for name in PARSERS for path in sorted((CORPUS / name).iterdir())]
)
def test_what_is_in_the_corpus_is_read_or_refused(name: str, file: str, folder: Path) -> None:
    parser = PARSERS[name]
    with suppress(*parser.says_no):
        parser.read((CORPUS / name / file).read_bytes(), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_what_chance_makes_of_it_is_read_or_refused(name: str, folder: Path) -> None:
    parser = PARSERS[name]

    @settings(examples(parser.examples), derandomize=True, database=None)
    @given(hostile(SEEDS[name]))
    def read(data: bytes) -> None:
        with suppress(*parser.says_no):
            parser.read(data, folder)

    read()
