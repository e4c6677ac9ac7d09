"""The frozen specs: their bytes are pinned, and a changed one is not used (SPEC C1, R2.1, R2.2)."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import SpecChangedError, UsageError
from benchbook.specs import FROZEN, Template, folders, load_spec
from support import SHARED, cases

SPECS = Path(folders.__file__).parent
PROMPT = load_spec("rubric@v1").text("prompt.txt")
NAMES = ("task", "reference_answer", "provided_context", "candidate_answer")


# ── the rubric's prompt (R2.1) ───────────────────────────────────────────────────────────────────────────


def test_the_rubrics_prompt_has_its_bytes() -> None:
    data = load_spec("rubric@v1").files["prompt.txt"]
    assert len(data) == 969
    assert hashlib.sha256(data).hexdigest() == "2f0450df19818e3bab9f3f5bc753fb3eb791430370b26e058a316b84ea548e11"


def test_the_rubrics_prompt_is_the_text_of_its_source() -> None:
    sources = sorted(SHARED.glob("seeds/000_*.txt"))
    if not sources:
        pytest.skip("source 000 is not here (set BENCHBOOK_SHARED)")
    text = sources[0].read_text(encoding="utf-8")
    assert re.findall(r"^```text\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL) == [PROMPT]


def test_the_rubrics_prompt_has_its_four_places() -> None:
    assert Template(PROMPT).names == NAMES


# ── every spec (C1) ──────────────────────────────────────────────────────────────────────────────────────


def test_the_frozen_specs_are_these() -> None:
    """A change here is a change to every record that names one of them: add a version, alter none."""
    assert dict(FROZEN) == {
        "answer_correctness@v1": "df63c01ff789290bcb8d6b8ab13fd804dd9bb77cf67d1f0ebad4209844d3db62",
        "candidate_prompt@v1": "2bcc30b53c1ebcb864b07959a4b666a220f3fde7326409549e9b0c6424b18775",
        "choice@v1": "1c1d6d010806a10eee8975a4160d27f1221ad5a75ef4e54e29421a97966cd785",
        "contains@v1": "8bf545a1d5acde46e7862c9d68f94aa4681a92b056b5bfc32dfbad5a1e0af645",
        "judge_protocol@v1": "348b2320560a9d2a3e5b61b221f033f7d7b39476bc6ba95c8e7c089b52de8796",
        "number@v1": "9726f124ce5f7c77099882bb89cfa2b6baa29d5aeaa61e38ebd6e3c3d89413db",
        "rubric@v1": "3641a5931c63cbdbd7d33e1e29a56a12e934f4074622e49e15f57dbeaea1fe63",
    }


def test_every_folder_of_a_spec_is_frozen() -> None:
    folders = {path.name for path in SPECS.iterdir() if re.fullmatch(r"\w+_v\d+", path.name)}
    assert folders == {spec_id.replace("@", "_") for spec_id in FROZEN}


@pytest.mark.parametrize("spec_id", sorted(FROZEN))
def test_the_hash_is_over_names_and_hashes_of_the_files_in_order(spec_id: str) -> None:
    """As `sha256sum` and `sort` give it: nobody needs Benchbook to check it."""
    folder = SPECS / spec_id.replace("@", "_")
    lines = [
        name.encode() + b"\0" + hashlib.sha256((folder / name).read_bytes()).hexdigest().encode() + b"\n"
        for name in sorted(path.name for path in folder.iterdir())
    ]
    assert hashlib.sha256(b"".join(lines)).hexdigest() == FROZEN[spec_id] == load_spec(spec_id).sha256


@pytest.mark.parametrize("spec_id", sorted(FROZEN))
def test_a_spec_names_itself(spec_id: str) -> None:
    spec = load_spec(spec_id)
    assert f"{spec.settings['name']}@v{spec.settings['version']}" == spec.id == spec_id


@pytest.mark.parametrize("spec_id", sorted(FROZEN))
def test_its_files_are_utf_8_with_lf(spec_id: str) -> None:
    for name, data in load_spec(spec_id).files.items():
        assert b"\r" not in data, name
        assert not data.startswith(b"\xef\xbb\xbf"), name
        data.decode("utf-8")


def test_a_file_has_a_hash_of_its_own() -> None:
    spec = load_spec("rubric@v1")
    assert spec.file_sha256("prompt.txt") == hashlib.sha256(PROMPT.encode()).hexdigest()


@pytest.mark.parametrize("name", ["", "rubric", "rubric@v2", "rubric_v1", "../rubric@v1", "Rubric@v1", "rubric@v1 "])
def test_an_unknown_spec_is_told_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match="there are answer_correctness@v1, candidate_prompt@v1") as caught:
        load_spec(name)
    assert repr(name) in str(caught.value)


# ── changed files ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def changeable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the specs that is read instead."""
    for spec_id in FROZEN:
        name = spec_id.replace("@", "_")
        shutil.copytree(SPECS / name, tmp_path / name)
    monkeypatch.setattr(folders, "_FOLDER", tmp_path)
    monkeypatch.setattr(folders, "load_spec", load_spec.__wrapped__)
    return tmp_path


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


CHANGES: list[Any] = [
    pytest.param(flip_a_bit, id="one-bit"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes() + b"\n"), id="a-line-end-more"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")), id="crlf"),
    pytest.param(lambda path: path.unlink(), id="gone"),
    pytest.param(lambda path: path.rename(path.with_suffix(".old")), id="renamed"),
    pytest.param(lambda path: (path.parent / "more.txt").write_bytes(b""), id="a-file-more"),
]


def test_an_unchanged_copy_is_taken(changeable: Path) -> None:
    for spec_id in FROZEN:
        assert folders.load_spec(spec_id) == load_spec(spec_id)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("spec_id", sorted(FROZEN))
def test_a_changed_spec_is_refused(changeable: Path, spec_id: str, change: Callable[[Path], object]) -> None:
    change(changeable / spec_id.replace("@", "_") / "spec.toml")
    with pytest.raises(SpecChangedError) as caught:
        folders.load_spec(spec_id)
    assert str(caught.value).startswith(f"{spec_id}: its files hash to ")
    assert FROZEN[spec_id] in str(caught.value)
    assert "make a new version beside it" in str(caught.value)


def test_two_files_that_swap_their_texts_are_a_change(changeable: Path) -> None:
    folder = changeable / "rubric_v1"
    prompt, schema = (folder / name for name in ("prompt.txt", "reply.schema.json"))
    texts = prompt.read_bytes(), schema.read_bytes()
    schema.write_bytes(texts[0])
    prompt.write_bytes(texts[1])
    with pytest.raises(SpecChangedError):
        folders.load_spec("rubric@v1")


# ── templates (R2.2) ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("template"))
def test_the_rendered_prompt(case: dict[str, Any]) -> None:
    rendered = Template(PROMPT).render(case["values"])
    for text in case["expect"]["contains"]:
        assert text in rendered
    data = rendered.encode("utf-8")
    assert (len(data), hashlib.sha256(data).hexdigest()) == (case["expect"]["bytes"], case["expect"]["sha256"])


@pytest.mark.parametrize(
    ("text", "values", "rendered"),
    [
        pytest.param("a {{x}} b", {"x": "1"}, "a 1 b", id="one"),
        pytest.param("{{x}}{{x}}", {"x": "1"}, "11", id="twice"),
        pytest.param("{{x}}|{{y}}", {}, "|", id="missing-is-empty"),
        pytest.param("{{x}}", {"x": ""}, "", id="empty"),
        pytest.param("no place", {"x": "1"}, "no place", id="none"),
        pytest.param("", {}, "", id="nothing"),
        pytest.param("{{x}}{{y}}", {"x": "{{y}}", "y": "{{x}}"}, "{{y}}{{x}}", id="values-are-not-read-again"),
        pytest.param("{{x}}", {"x": r"\1 \g<0> $1 %s {0}"}, r"\1 \g<0> $1 %s {0}", id="no-back-references"),
        pytest.param("{{ x }}{{X}}{x}{{x-y}}{{1}}", {"x": "1"}, "{{ x }}{{X}}{x}{{x-y}}{{1}}", id="other-braces-stay"),
        pytest.param("{{{x}}}", {"x": "1"}, "{1}", id="braces-around"),
        pytest.param(
            "{{x}}", {"x": {"b": 1, "a": [True, None, "é"]}}, '{"a":[true,null,"é"],"b":1}', id="canonical-json"
        ),
        pytest.param("{{x}}", {"x": None}, "null", id="null-is-a-value"),
        pytest.param("{{x}}", {"x": 0.1}, "0.1", id="a-number"),
        pytest.param("{{x}}", {"x": "\ud800"}, "\ud800", id="lone-surrogate"),
        pytest.param("\r\n{{x}}\n", {"x": "a\nb"}, "\r\na\nb\n", id="line-ends-stay"),
    ],
)
def test_a_template_is_filled_in_one_pass(text: str, values: dict[str, Any], rendered: str) -> None:
    assert Template(text).render(values) == rendered


def test_what_json_has_no_word_for_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Template("{{x}}").render({"x": float("nan")})


hostile = st.text() | st.sampled_from(["{{task}}", "{{candidate_answer}}", "}}", "{{", r"\g<task>"])


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, hostile)))
def test_any_values_are_inserted_as_they_are(values: dict[str, str]) -> None:
    rest = Template(PROMPT).render(values)
    for name, literal in zip((*NAMES, None), re.split(r"\{\{[a-z_]+\}\}", PROMPT), strict=True):
        assert rest.startswith(literal)
        rest = rest.removeprefix(literal)
        if name is not None:
            assert rest.startswith(values[name])
            rest = rest.removeprefix(values[name])
    assert rest == ""


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_a_value_that_is_no_string_reads_back_from_the_prompt(value: Any) -> None:
    rendered = Template("{{x}}").render({"x": [value]})
    assert json.loads(rendered) == [value]
