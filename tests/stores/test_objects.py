"""Objects in a bucket of a real server: created once, however many try, and through whatever goes wrong."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from benchbook.errors import ConfigError, StoreError, UsageError
from benchbook.stores.address import StoreAddress, is_address, store_address
from benchbook.stores.objects import Objects, open_objects
from s3_server import BUCKET, KEYS, S3Server, proxied

# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        ("s3://bucket//a", "s3://bucket/a"),
        ("gs://bucket/a", "gs://bucket/a"),
        ("az://container/a", "az://container/a"),
        ("file:///some/folder", "file:///some/folder"),
    ],
)
def test_an_address_names_a_place(words: str, shown: str) -> None:
    assert str(store_address(words)) == shown
    assert is_address(words)


@pytest.mark.parametrize(
    "words",
    [
        "", "bucket", "/some/folder", "s3:bucket", "s3://", "s3:///a", "http://localhost/bucket", "s3://bucket/../other",
        "s3://bucket/./a", "s3://bucket/a%2f..", "s3://bucket/a#b", "file://host/folder", "file:///", "s3://bucket/a\nb",
        "s3://bucket/a\\b", "s3://[", "memory://a",
    ],
)  # fmt: skip
def test_what_names_no_place_is_refused(words: str) -> None:
    with pytest.raises(ConfigError, match="store: found"):
        store_address(words)


@pytest.mark.parametrize("words", ["s3://AKIAKEY:sesame@bucket/a", "s3://bucket/a?secret=sesame", "s3://sesame@bucket"])
def test_keys_in_an_address_are_refused_and_not_repeated(words: str) -> None:
    with pytest.raises(ConfigError, match="keys are read from the environment") as caught:
        store_address(words)
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize("words", ["s3://bucket", "s3://bucket/.run", "s3://bucket/a b"])
def test_a_record_has_an_id_in_its_address(words: str) -> None:
    with pytest.raises(ConfigError, match="its run id"):
        store_address(words).of_run()


# ── created once ─────────────────────────────────────────────────────────────────────────────────────────────


def at(url: str) -> Objects:
    return open_objects(store_address(url))


def got(found: Objects, name: str, path: Path) -> str:
    with path.open("wb") as file:
        return found.get_to(name, file)


def test_objects_are_created_once(url: str, tmp_path: Path) -> None:
    found = at(url)
    assert found.put_new("sets/1", b"one")
    assert not found.put_new("sets/1", b"two")
    assert found.get("sets/1", 3) == b"one"
    found.put("other", b"three")
    found.put("other", b"four")
    assert found.list() == {"sets/1": 3, "other": 4}
    assert found.list("sets") == {"sets/1": 3}
    assert found.list("set") == {}
    with pytest.raises(StoreError, match="has 3 bytes; expected at most 2"):
        found.get("sets/1", 2)
    assert got(found, "other", tmp_path / "file") == "04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00"
    assert (tmp_path / "file").read_bytes() == b"four"


def test_a_large_object_goes_in_pieces(url: str, tmp_path: Path) -> None:
    data = bytes(range(256)) * 80_000
    (tmp_path / "large").write_bytes(data)
    at(url).put("large", tmp_path / "large")
    assert got(at(url), "large", tmp_path / "back") == hashlib.sha256(data).hexdigest()
    assert (tmp_path / "back").read_bytes() == data


def test_of_many_at_once_one_creates_it(url: str) -> None:
    def created(number: int) -> list[bool]:
        found = at(url)
        return [found.put_new(f"race/{n}", str(number).encode() * 500) for n in range(20)]

    with ThreadPoolExecutor(6) as pool:
        by_writer = list(pool.map(created, range(6)))
    assert [sum(wins) for wins in zip(*by_writer, strict=True)] == [1] * 20


def test_a_listing_has_more_than_one_page(url: str) -> None:
    found = at(url)
    for number in range(1_005):
        found.put(f"many/{number}", b"x")
    assert len(found.list("many")) == 1_005


# ── whatever goes wrong ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("what", ["503", "SlowDown", "cut", "cut-answer", "409"])
def test_a_bad_moment_is_waited_out(
    url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch, what: str, tmp_path: Path
) -> None:
    """Every third request goes wrong; a try whose answer was lost may have created the object."""
    with proxied(
        server, lambda number, method, _: what if number % 3 == 0 and (method == "PUT" or what != "409") else None
    ) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        found = at(url)
        for number in range(5):
            data = f"data {number}".encode()
            assert found.put_new(f"a/{number}", data) or found.get(f"a/{number}", 100) == data
        found.put("b", b"other")
        assert got(found, "b", tmp_path / "b") == "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"
        assert len(found.list()) == 6
        assert not found.put_new("a/1", b"another's")
        assert found.get("a/1", 100) == b"data 1"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("503", r"did not answer as it should \(HTTP 503 ServiceUnavailable\), 6 times"),
        ("cut", r"did not answer as it should \(.*\), 6 times"),
        ("409", "says that it is there, and that it is not, 6 times"),
    ],
)
def test_one_that_lasts_is_said(
    url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch, what: str, words: str
) -> None:
    with proxied(server, lambda _, method, __: what if method == "PUT" else None) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        with pytest.raises(StoreError, match=words) as caught:
            at(url).put_new("a", b"x")
        assert proxy.n_puts == 6
    assert not any(key in str(caught.value) for key in KEYS.values() if key != KEYS["AWS_REGION"])


def test_a_server_that_keeps_no_condition_is_found_out(
    url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(url).put("there", b"another's")
    with proxied(server, lambda *_: "forgets") as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        assert not at(url).put_new("there", b"x")
        assert at(url).get("there", 100) == b"another's"
        with pytest.raises(StoreError, match="does not keep `If-None-Match: \\*`"):
            at(url).put_new("a", b"x")


def test_a_server_is_tried_once_for_its_conditions(url: str, server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with proxied(server) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.environment["AWS_ENDPOINT_URL"])
        found = at(url)
        for number in range(4):
            assert found.put_new(f"a/{number}", b"x")
        assert proxy.n_puts == 5


def test_a_bucket_that_is_not_there_is_said_at_once(url: str) -> None:
    found = at(url.replace(BUCKET, "no-such-bucket"))
    for ask in (lambda: found.put_new("a", b"x"), lambda: found.list()):
        with pytest.raises(StoreError, match="there is no such bucket: make it first"):
            ask()


def test_nobody_there_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(StoreError, match=r"did not answer as it should \(no answer\), 6 times"):
        at(url).list()


def test_that_there_are_no_keys_is_said(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(StoreError, match=r"there are no keys in the environment \(AWS_ACCESS_KEY_ID …\)"):
        at(url).list()


def test_without_obstore_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    with pytest.raises(UsageError, match=r"pip install 'benchbook\[store\]'"):
        open_objects(StoreAddress("s3", "bucket", ("a",)))


def test_a_folder_is_a_store_too(tmp_path: Path) -> None:
    found = at(f"file://{tmp_path}/store")
    assert found.put_new("a/b", b"one")
    assert not found.put_new("a/b", b"two")
    assert found.list() == {"a/b": 3}


def test_memory_is_one_too() -> None:
    found = Objects(StoreAddress("s3", "bucket", ()), MemoryStore())
    assert found.put_new("a", b"one")
    assert not found.put_new("a", b"two")
