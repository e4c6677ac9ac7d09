"""Model ids: `provider/model-name@version`, pinned or floating (SPEC R7.2)."""

from __future__ import annotations

import pytest

from benchbook.ask.identity import model_version
from benchbook.ask.model_id import ModelId, is_dated, parse_model_id
from benchbook.errors import ConfigError
from benchbook.record.state import Reported


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
        pytest.param("openai/gpt-4o", True, id="a-family"),
        pytest.param("openai/openai/gpt-4o", True, id="a-family-behind-a-router"),
        pytest.param("openai/openai/gpt-4o:free", True, id="a-family-with-a-routers-tag"),
        pytest.param("any-llm/anthropic:claude-sonnet-4-5", True, id="a-family-behind-a-vendor"),
        pytest.param("openai/us.anthropic.claude-3-opus", True, id="a-family-behind-dots"),
        pytest.param("openai/GPT-4.1-mini", True, id="a-family-in-capitals"),
        pytest.param("openai/gpt-7-whatever", True, id="a-family-of-tomorrow"),
        pytest.param("openai/gemini-1.5-pro", True, id="gemini"),
        pytest.param("openai/mistral-large-latest", True, id="mistral-latest"),
        pytest.param("openai/mistral-large", True, id="mistral"),
        pytest.param("openai/o3-mini", True, id="o3-mini"),
        pytest.param("openai/gpt-4o@1", True, id="a-familys-version-that-is-no-snapshot"),
        pytest.param("openai/claude-3-5-sonnet@v2", True, id="a-familys-version-with-a-letter"),
        pytest.param("openai/gpt-4o@2024-08-06", False, id="a-family-with-a-dated-snapshot"),
        pytest.param("openai/gpt-4o@gpt-4o-2024-08-06", False, id="a-family-with-a-snapshots-name"),
        pytest.param("openai/gpt-4o@fp_44709d6fcb", False, id="a-family-with-a-fingerprint"),
        pytest.param("openai/mistral-large@2407", False, id="a-family-with-year-and-month"),
        pytest.param("openai/gpt-4o-2024-08-06", False, id="a-snapshot"),
        pytest.param("openai/gpt-4o-2024-08-06@1", False, id="a-snapshot-with-a-version"),
        pytest.param("openai/gpt-4-1106-preview", False, id="a-snapshot-by-month-and-day"),
        pytest.param("openai/mistral-large-2407", False, id="a-snapshot-by-year-and-month"),
        pytest.param("openai/gemini-1.5-pro-002", False, id="a-snapshot-by-number"),
        pytest.param("openai/command-r-plus-08-2024", False, id="a-snapshot-by-month-and-year"),
        pytest.param("openai/anthropic.claude-3-5-sonnet-20241022-v2:0", False, id="bedrock"),
        pytest.param("openai/gpt-oss-120b@1", False, id="open-weights-of-a-vendor"),
        pytest.param("openai/mistral-small-24b-instruct", False, id="open-weights-of-another"),
        pytest.param("openai/chatgpt-4o-latest", True, id="latest-at-the-end"),
        pytest.param("openai/chatgpt-4o-latest@1", True, id="latest-in-spite-of-a-version"),
        pytest.param("openai/m@latest", True, id="latest-as-the-version"),
        pytest.param("openai/m@stable", True, id="stable-as-the-version"),
        pytest.param("openai/m@main", True, id="main-as-the-version"),
        pytest.param("openai/m@CURRENT", True, id="current-as-the-version"),
        pytest.param("openai/m@2-default", True, id="default-in-the-version"),
        pytest.param("openai/m-2026-01-01@stable", True, id="stable-beside-a-date"),
        pytest.param("openai/m@prod", True, id="a-version-that-is-a-word"),
        pytest.param("openai/default", True, id="default-alone"),
        pytest.param("openai/org/current-model@1", True, id="current-behind-a-folder"),
        pytest.param("openai/m:stable", True, id="stable-as-a-tag"),
        pytest.param("openai/latest", True, id="latest-alone"),
        pytest.param("openai/latest-m@1", True, id="latest-at-the-start"),
        pytest.param("openai/m:latest", True, id="latest-as-a-tag"),
        pytest.param("openai/m-LATEST@1", True, id="in-any-case"),
        pytest.param("openai/m.latest_x@1", True, id="between-other-marks"),
        pytest.param("openai/latestmodel@1", False, id="a-longer-word-behind"),
        pytest.param("openai/greatestlatest@1", False, id="a-longer-word-before"),
        pytest.param("openai/mainframe@1", False, id="main-in-a-longer-word"),
        pytest.param("openai/stabilityai/stable-code-3b@1", False, id="a-product-called-stable"),
        pytest.param("openai/stabilityai/stable-code-latest@1", True, id="the-latest-of-such-a-product"),
        pytest.param("openai/my-own-model", False, id="an-unknown-name"),
        pytest.param("openai/my-own-model@1", False, id="a-version-of-ones-own"),
        pytest.param("openai/my-own-model@v1.2.0", False, id="a-semantic-version-of-ones-own"),
        pytest.param("openai/m@deadbee", False, id="a-commit-without-a-digit"),
        pytest.param("local/m-latest@sha256:0123456789ab", False, id="weights-by-their-hash"),
        pytest.param("local/m@stable", True, id="weights-by-a-word"),
        pytest.param("recorded/gpt-4o@1", True, id="recorded-of-a-family"),
        pytest.param("recorded/checkpoint@3", False, id="recorded-of-ones-own"),
    ],
)
def test_what_may_be_another_model_tomorrow_floats(text: str, floating: bool) -> None:  # R7.2
    found = parse_model_id(text, "model")
    assert found.floating is floating
    assert (found.floats_because is not None) is floating


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("openai/m@2", "2"),
        ("openai/m-2026-01-01", "m-2026-01-01"),
        ("openai/m-2026-01-01@3", "3"),
        ("openai/m", None),
        ("openai/mistral-large-2407", "mistral-large-2407"),
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
@pytest.mark.parametrize("derivation", [1, 2, 3])
def test_a_models_version(
    text: str, reported: list[tuple[str | None, str | None]], version: str | None, derivation: int
) -> None:
    found = Reported()
    for model, fingerprint in reported:
        found.add(model, fingerprint)
    assert model_version(parse_model_id(text, "model"), found, derivation) == version


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
    assert model_version(model_id, found[0], 3) == model_version(model_id, found[1], 3)


@pytest.mark.parametrize(
    ("text", "reported", "before", "since"),
    [
        pytest.param("openai/mistral-large-latest", "mistral-large-2407", None, "mistral-large-2407", id="yymm-told"),
        pytest.param("openai/gemini-1.5-pro-002", None, None, "gemini-1.5-pro-002", id="a-numbered-snapshot"),
        pytest.param("openai/command-r-08-2024@x1", "command-r-08-2024", "x1", "command-r-08-2024", id="mm-yyyy"),
    ],
)
def test_snapshots_of_all_vendors_are_versions_since_derivation_3(
    text: str, reported: str | None, before: str | None, since: str
) -> None:
    found = Reported()
    found.add(reported, None)
    assert [model_version(parse_model_id(text, "model"), found, one) for one in (2, 3)] == [before, since]


def test_in_a_benchmark_the_version_of_what_floats_is_a_snapshot_or_nothing() -> None:  # R7.2
    told, untold = Reported(), Reported()
    told.add("gpt-4o-2024-08-06", "fp")
    untold.add("gpt-4o", "fp")
    model_id = parse_model_id("openai/gpt-4o@1", "model")
    assert model_version(model_id, told, 3, only_snapshot=True) == "gpt-4o-2024-08-06"
    assert model_version(model_id, untold, 3, only_snapshot=True) is None
    assert model_version(model_id, untold, 3) == "1"
