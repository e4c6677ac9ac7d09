"""Model ids: `provider/model-name@version`, pinned or floating (SPEC R7.2)."""

from __future__ import annotations

import pytest

from benchbook.derivations.identity import Reported, model_version
from benchbook.derivations.model_id import ModelId, is_dated, parse_model_id
from benchbook.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "provider", "name", "version"),
    [
        pytest.param("openai/gpt-4.1@2025-04-14", "openai", "gpt-4.1", "2025-04-14", id="plain"),
        pytest.param("openai/gpt-4.1", "openai", "gpt-4.1", None, id="no-version"),
        pytest.param("openai/meta-llama/Llama-3-8B@v2", "openai", "meta-llama/Llama-3-8B", "v2", id="a-slash-in-it"),
        pytest.param("any-llm/mistral:large@2407", "any-llm", "mistral:large", "2407", id="a-colon-in-it"),
        pytest.param("local/qwen@sha256:ab12", "local", "qwen", "sha256:ab12", id="a-hash"),
        pytest.param("openai/org@team/m@1", "openai", "org@team/m", "1", id="the-last-at-sign-counts"),
        pytest.param("openai/モデル@1", "openai", "モデル", "1", id="any-script"),
    ],
)
def test_an_id_is_read_and_written_back(text: str, provider: str, name: str, version: str | None) -> None:
    found = parse_model_id(text, "model")
    assert (found.provider, found.name, found.version) == (provider, name, version)
    assert str(found) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt-4.1",
        "/gpt-4.1",
        "openai/",
        "openai/@1",
        "openai/gpt-4.1@",
        "openai/gpt 4",
        " openai/m@1",
        "openai/m@1\n",
    ],
)
def test_what_is_no_id_is_named_with_its_form(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_model_id(text, "judge")
    assert str(error.value) == (
        f"judge: found {text!r}; expected provider/model-name@version, such as openai/gpt-4.1@2025-04-14"
    )


@pytest.mark.parametrize(
    ("name", "dated"),
    [
        ("gpt-4o-2024-08-06", True),
        ("claude-3-5-sonnet-20241022", True),
        ("claude-sonnet-4@20250514", True),
        ("gpt-4-0613", True),
        ("m-2026-01-01-preview", True),
        ("gpt-4o", False),
        ("gpt-4.1", False),
        ("llama-3.1-405b", False),
        ("m-2024-13-01", False),
        ("m-2024-00-10", False),
        ("m-20240832", False),
        ("m-120240806", False),
        ("m-1999-01-01", False),
        ("m-1342", False),
        ("qwen2.5-0.5b", False),
        ("", False),
    ],
)
def test_a_snapshot_is_told_by_its_date(name: str, dated: bool) -> None:
    assert is_dated(name) is dated


@pytest.mark.parametrize(
    ("text", "floating"),
    [
        pytest.param("openai/gpt-4o", True, id="a-known-alias"),
        pytest.param("openai/openai/gpt-4o", True, id="a-known-alias-behind-a-router"),
        pytest.param("openai/gpt-4o@2024-08-06", False, id="an-alias-with-a-version"),
        pytest.param("openai/gpt-4o-2024-08-06", False, id="a-snapshot"),
        pytest.param("openai/chatgpt-4o-latest", True, id="latest-at-the-end"),
        pytest.param("openai/chatgpt-4o-latest@1", True, id="latest-in-spite-of-a-version"),
        pytest.param("openai/m@latest", True, id="latest-as-the-version"),
        pytest.param("openai/latest", True, id="latest-alone"),
        pytest.param("openai/latest-m@1", True, id="latest-at-the-start"),
        pytest.param("openai/m:latest", True, id="latest-as-a-tag"),
        pytest.param("openai/m-LATEST@1", True, id="in-any-case"),
        pytest.param("openai/m.latest_x@1", True, id="between-other-marks"),
        pytest.param("openai/latestmodel@1", False, id="a-longer-word-behind"),
        pytest.param("openai/greatestlatest@1", False, id="a-longer-word-before"),
        pytest.param("openai/my-own-model", False, id="an-unknown-name"),
    ],
)
def test_latest_as_a_whole_segment_and_known_aliases_float(text: str, floating: bool) -> None:
    assert parse_model_id(text, "model").floating is floating


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("openai/m@2", "2"),
        ("openai/m-2026-01-01", "m-2026-01-01"),
        ("openai/m-2026-01-01@3", "3"),
        ("openai/m", None),
    ],
)
def test_a_version_is_declared_behind_the_at_sign_or_by_a_date(text: str, declared: str | None) -> None:
    assert parse_model_id(text, "model").declared_version == declared


# ── what it turns out to be (R7.1) ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "reported", "version"),
    [
        pytest.param("openai/gpt-4o", [("gpt-4o-2024-08-06", None)], "gpt-4o-2024-08-06", id="the-snapshot-told"),
        pytest.param("openai/m@2", [("m-2026-01-01", "fp")], "m-2026-01-01", id="told-before-declared"),
        pytest.param("openai/m@2", [("m", "fp")], "2", id="declared-before-the-fingerprint"),
        pytest.param("openai/m", [("m", "fp_1")], "fp_1", id="the-fingerprint"),
        pytest.param("openai/m", [("m", None)], None, id="nobody-tells"),
        pytest.param("openai/m", [(None, None)], None, id="nothing-told"),
        pytest.param("openai/m@2", [], "2", id="nobody-answered"),
        pytest.param("openai/m", [], None, id="nobody-answered-nor-declared"),
        pytest.param(
            "openai/m",
            [("m-2026-01-01", None), ("m-2026-02-02", None), ("m-2026-02-02", None)],
            "m-2026-02-02",
            id="the-most-frequent",
        ),
    ],
)
def test_a_models_version(text: str, reported: list[tuple[str | None, str | None]], version: str | None) -> None:
    found = Reported()
    for model, fingerprint in reported:
        found.add(model, fingerprint)
    assert model_version(parse_model_id(text, "model"), found) == version


@pytest.mark.parametrize(
    ("reported", "changed"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param([("m", "a"), ("m", "a")], False, id="the-same"),
        pytest.param([("m", "a"), ("n", "a")], True, id="another-model"),
        pytest.param([("m", "a"), ("m", "b")], True, id="another-fingerprint"),
        pytest.param([("m", "a"), ("m", None), (None, "a")], False, id="left-out-once"),
        pytest.param([("m", None), (None, "a"), ("n", None)], True, id="another-model-after-one-left-out"),
    ],
)
def test_a_model_that_names_itself_otherwise_has_changed(
    reported: list[tuple[str | None, str | None]], changed: bool
) -> None:
    found = Reported()
    for model, fingerprint in reported:
        found.add(model, fingerprint)
    assert found.changed is changed


def test_a_version_does_not_depend_on_the_order_of_replies() -> None:  # SPEC C2
    model_id = ModelId("openai", "m", None)
    kinds = [("m-2026-01-01", None), ("m-2026-02-02", None)]
    found = [Reported(), Reported()]
    for one, order in zip(found, (kinds, kinds[::-1]), strict=True):
        for model, fingerprint in order:
            one.add(model, fingerprint)
    assert model_version(model_id, found[0]) == model_version(model_id, found[1])
