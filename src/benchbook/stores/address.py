"""Addresses of object stores: `s3://bucket/prefix`. Keys come by the environment alone, never in an address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchbook.errors import ConfigError
from benchbook.record.folder import RUN_ID
from benchbook.text import shorten

SCHEMES = {"s3": "a bucket", "gs": "a bucket", "az": "a container", "file": "a folder"}
_PART = re.compile(r"[^\x00-\x1f\x7f/\\]{1,255}")
_EXPECTED = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///FOLDER"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A place in an object store. `parts` are the names below the bucket; of a folder, its path."""

    scheme: str
    bucket: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.scheme}://{'/'.join((self.bucket, *self.parts))}"

    @property
    def prefix(self) -> str:
        return "/".join(self.parts)

    def __truediv__(self, name: str) -> StoreAddress:
        return StoreAddress(self.scheme, self.bucket, (*self.parts, name))

    def of_run(self) -> tuple[StoreAddress, str]:
        """The store that this record lies in, and the record's id. Raises: ConfigError where the last name is no id."""
        name = self.parts[-1] if self.parts else ""
        if RUN_ID.fullmatch(name) is None:
            raise ConfigError("store", str(self), "the address of a record: its store, and behind that its run id")
        return StoreAddress(self.scheme, self.bucket, self.parts[:-1]), name


def is_address(words: str) -> bool:
    """True for what is meant as the address of a store, whether it is a right one or not."""
    return words.partition("://")[0] in SCHEMES and "://" in words


def store_address(words: str) -> StoreAddress:
    """The address that a user gave. Raises: ConfigError, which repeats nothing that may be a key."""
    try:
        url = urlsplit(words)
        has_secret = "@" in url.netloc or bool(url.query)
    except ValueError:
        raise ConfigError("store", "no address", _EXPECTED) from None
    if has_secret:
        found = f"{url.scheme[:10]}://… with keys, or a query"
        raise ConfigError("store", found, "an address without: keys are read from the environment, AWS_ACCESS_KEY_ID …")
    if url.scheme not in SCHEMES:
        raise ConfigError("store", repr(shorten(words, 60)), _EXPECTED)
    is_folder = url.scheme == "file"
    parts = tuple(part for part in url.path.split("/") if part)
    is_odd = any(part in (".", "..") or _PART.fullmatch(part) is None for part in (*parts, url.netloc or "-"))
    is_odd = is_odd or not words.isprintable()  # `urlsplit` leaves some marks out
    if is_odd or url.fragment or "%" in words or is_folder != (not url.netloc) or (is_folder and not parts):
        raise ConfigError("store", repr(shorten(words, 100)), _EXPECTED)
    return StoreAddress(url.scheme, url.netloc, parts)
