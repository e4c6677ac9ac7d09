"""A key is taken out in every form that a server may send it back in; a short one where it is told to be a key."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.keys import Keys
from echoes import FORMS, OF_SHORT_KEYS, gives_away
from support import examples

KEYS = {
    "a-vendors": "sk-proj-Zm9vYmFy_4711AbCd",
    "slashes-and-more": "aB0/cD1+eF2/gH3=iJ4",
    "quotes-and-backslashes": 'k"e\\y\'1/<2>&3\\"%41+',
    "space": "two words 4711",
    "eight-characters": "hunter42",
    "ends-in-a-backslash": "0123456789\\",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KEYS)
def test_a_key_in_this_form_is_taken_out(kind: str, form: str) -> None:
    key = KEYS[kind]
    told = FORMS[form](key)
    for around in ("{}", "bad key: {}.", '"{}"', "a={}&b=1", "\n{}\n", "{0} and {0}", "Basic {}", "“{}” é"):
        text = around.format(told)
        cleaned = Keys(key).removed_from_text(text)
        assert not gives_away(cleaned, key), (text, cleaned)
        assert "[key removed]" in cleaned
        assert Keys(key).removed_from(text.encode()).decode() == cleaned


@pytest.mark.parametrize("form", [one for one in FORMS if "html" not in one and "code" not in one and "hex" not in one])
@pytest.mark.parametrize("kind", KEYS)
def test_json_that_held_it_is_still_json(kind: str, form: str) -> None:
    """A judge's reply that echoes a key is read as every other, and its parsed texts are without the key, too."""
    key = KEYS[kind]
    reply = json.dumps({"rationale": f"It says:\n{FORMS[form](key)}\n\\", "score": 2})
    for layers in (0, 1, 2):
        text = reply
        for _ in range(layers):
            text = json.dumps({"inner": text})
        cleaned = Keys(key).removed_from_text(text)
        for _ in range(layers):
            cleaned = json.loads(cleaned)["inner"]
        found = json.loads(cleaned)
        assert found["score"] == 2
        assert not gives_away(found["rationale"], key)


printable = st.text(string.digits + string.ascii_letters + string.punctuation + " ", min_size=8, max_size=40)


@examples(150)
@given(printable.map(str.strip).filter(lambda key: len(key) >= 8), st.lists(st.sampled_from(list(FORMS)), max_size=2))
def test_any_key_in_forms_of_forms_is_taken_out(key: str, forms: list[str]) -> None:
    told = key
    for place, form in enumerate(forms):
        if not (place and "base64" in form):  # of what stands in base64, no escapes are undone
            told = FORMS[form](told)
    cleaned = Keys(key).removed_from_text(f"key: {told}, so")
    assert key not in cleaned
    assert told not in cleaned


@given(st.text())
def test_other_texts_stay_as_they_are(text: str) -> None:
    for key in KEYS.values():
        if not gives_away(text, key):
            assert Keys(key).removed_from_text(text) == text


# ── short keys (docs/decisions/0038) ─────────────────────────────────────────────────────────────────────────

WORDS = ["x", "0", "sk", "none", "EMPTY", "ollama", "sk-test", "1234567", "a1b", "token"]


@pytest.mark.parametrize("key", WORDS)
@pytest.mark.parametrize(
    "text", ["{}", "It is {}.", '{{"content":"{}","n":100}}', "the key {}", '"key": "{}"', "Bearer{}", "a token {}"]
)
def test_a_word_for_a_key_stays_in_what_a_model_says(key: str, text: str) -> None:
    said = text.format(key)
    assert Keys(key).removed_from_text(said) == said
    assert not Keys("hunter2").is_a_word
    assert Keys(key).is_a_word


@pytest.mark.parametrize("key", WORDS)
@pytest.mark.parametrize(
    "text",
    [
        "Bearer {}", "Authorization: Bearer {}", '"authorization":"Bearer {}"', '{{\\"api_key\\": \\"{}\\"}}',
        "Incorrect API key provided: {}. You can find", "x-api-key: {}", "api-key={}", "Bearer%20{}",
        "&quot;api_key&quot;:&quot;{}",
    ],
)  # fmt: skip
def test_a_word_for_a_key_is_taken_out_where_it_is_said_to_be_one(key: str, text: str) -> None:
    cleaned = Keys(key).removed_from_text(text.format(key))
    assert cleaned == text.format("[key removed]")


@pytest.mark.parametrize("form", sorted(OF_SHORT_KEYS))
@pytest.mark.parametrize("key", ["hunter2", "a1b2", "p4ss/w"])
def test_a_short_key_that_is_no_word_is_taken_out_wherever_it_stands_alone(key: str, form: str) -> None:
    cleaned = Keys(key).removed_from_text(f"it is '{FORMS[form](key)}'")
    assert not gives_away(cleaned, key)
    assert "[key removed]" in cleaned
    assert Keys(key).removed_from_text(f"x{key}y") == f"x{key}y"


# ── what else holds texts ────────────────────────────────────────────────────────────────────────────────────

KEY = KEYS["quotes-and-backslashes"]


def test_all_texts_of_an_answer_are_without_it() -> None:
    texts = ("text", "finish_reason", "model_reported", "fingerprint")
    answer = Answer(**dict.fromkeys(texts, f"a {KEY} b"), output_tokens=3)  # type: ignore[arg-type]
    cleaned = Keys(KEY).removed_from_answer(answer)
    assert {getattr(cleaned, name) for name in texts} == {"a [key removed] b"}
    assert cleaned.output_tokens == 3
    plain = Answer(text="a b")
    assert Keys(KEY).removed_from_answer(plain) is plain


def test_words_that_are_cut_short_hold_no_half_of_it() -> None:
    def read(data: bytes) -> Answer:
        raise CallFailed("provider_error", data.decode()[:10])

    with pytest.raises(CallFailed) as failed:
        Keys("0123456789abcdef").reading(b"key 0123456789abcdef", read)
    assert failed.value.detail == "key [key r"


def test_several_keys_and_none() -> None:
    keys = Keys("sk-first-0001", "second/pass", "none")
    text = "sk-first-0001, second\\/pass, none; Bearer none"
    assert keys.removed_from_text(text) == "[key removed], [key removed], none; Bearer [key removed]"
    assert Keys().removed_from_text(text) is text
    assert Keys("").removed_from(b"abc") == b"abc"
