"""Objects of one store: put, put only where there is none, got, listed; asked again where the store has a bad moment.

Whoever writes a record here goes by one promise of the store: of several that create an object at once, one does. S3
keeps it by `If-None-Match: *`. A server that takes the header and does not keep to it is found out (`put_new`).
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from benchbook.errors import StoreError, UsageError
from benchbook.stores.address import StoreAddress

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

_TRIES = 6
_FIRST_WAIT_S, _MOST_WAIT_S = 0.2, 5.0
_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_ROLE = ("/latest/api/token", "/latest/meta-data")  # where Amazon's machines are asked for keys
_PASSES = ("HTTP 408", "HTTP 409", "HTTP 429")
_PIECE = 8 << 20
_Found = TypeVar("_Found")


class Objects:
    """The objects below one address, by their names behind it.

    Raises, whatever is asked: StoreError with what the store said, once it has said so several times. No message of a
    store is repeated whole: some name keys.
    """

    def __init__(self, address: StoreAddress, store: ObjectStore) -> None:
        self.address = address
        self._store = store
        self._keeps_conditions = False

    def put_new(self, name: str, data: bytes) -> bool:
        """Create an object; False where there is one, which may be this one: a try whose answer was lost.

        The first time, it is looked before, so that a store that keeps no condition loses nothing, and tried twice:
        the second must be refused.
        """
        if not self._keeps_conditions and self._is_there(name):
            return False
        if not self._created(name, data):
            return False
        if not self._keeps_conditions:
            if self._created(name, data):
                what = "took an object twice that was to be created: it does not keep `If-None-Match: *`"
                raise StoreError(f"{self.address}: the store {what}, and two writers would not see each other")
            self._keeps_conditions = True
        return True

    def _created(self, name: str, data: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        def create() -> bool:
            try:
                obstore.put(self._store, name, data, mode="create", use_multipart=False)
            except (AlreadyExistsError, FileExistsError):
                return False
            return True

        for _ in range(_TRIES):
            if self._asked(create, name):
                return True
            if self._is_there(name):
                return False
            self._wait(1)  # S3 says 409 where another try is under way, which obstore takes for a 412
        raise self.error(name, f"the store says that it is there, and that it is not, {_TRIES} times")

    def _is_there(self, name: str) -> bool:
        import obstore
        from obstore.exceptions import NotFoundError

        def look() -> bool:
            try:
                obstore.head(self._store, name)
            except (NotFoundError, FileNotFoundError):
                return False
            return True

        return self._asked(look, name)

    def put(self, name: str, data: bytes | Path) -> None:
        """Put an object, in the place of what is there."""
        import obstore

        self._asked(lambda: obstore.put(self._store, name, data), name)

    def get(self, name: str, most: int) -> bytes:
        """An object's bytes. Raises: StoreError for one that has more than `most`, and where there is none."""
        import obstore

        def read() -> bytes:
            found = obstore.get(self._store, name)
            if found.meta["size"] > most:
                raise self.error(name, f"has {found.meta['size']:,} bytes; expected at most {most:,}")
            return bytes(found.bytes())

        return self._asked(read, name)

    def get_to(self, name: str, file: BinaryIO) -> str:
        """Write an object to an empty file, and return its SHA-256. Raises: OSError where it can't be written, too."""
        import obstore

        failure: OSError | None = None

        def read() -> str:
            nonlocal failure
            digest = hashlib.sha256()
            pieces = obstore.get(self._store, name).stream(min_chunk_size=_PIECE)
            file.seek(0)
            file.truncate()
            for piece in pieces:
                digest.update(piece)
                try:
                    file.write(piece)
                except OSError as error:  # the disk's, and not the store's: it is not tried again
                    failure = error
                    break
            return digest.hexdigest()

        sha256 = self._asked(read, name)
        if failure is not None:
            raise failure
        return sha256

    def list(self, prefix: str | None = None) -> dict[str, int]:
        """The names of all objects, or of those below a folder, and their sizes in bytes."""
        import obstore

        def read() -> dict[str, int]:
            return {one["path"]: one["size"] for page in obstore.list(self._store, prefix) for one in page}

        return self._asked(read, prefix or "")

    def error(self, name: str, what: str) -> StoreError:
        """The error for an object."""
        return StoreError(f"{self.address}{'/' if name else ''}{name}: {what}")

    def _asked(self, ask: Callable[[], _Found], name: str) -> _Found:
        for number in range(1, _TRIES + 1):
            try:
                with self._told(name):
                    return ask()
            except _AgainError as error:
                if number == _TRIES:
                    raise self.error(name, f"{error}, {number} times") from None
            self._wait(number)
        raise AssertionError("the last try raises")

    @staticmethod
    def _wait(number: int) -> None:
        """Wait before the try that follows this one."""
        time.sleep(min(_FIRST_WAIT_S * 2 ** (number - 1), _MOST_WAIT_S) * random.uniform(0.5, 1))  # noqa: S311

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Turn an error of obstore's into one that a user can do something about, or one that is worth another try."""
        from obstore import exceptions

        try:
            yield
        except (exceptions.BaseError, OSError) as error:
            said = _said(error)
            if any(path in str(error) for path in _ROLE):
                what = "there are no keys in the environment (AWS_ACCESS_KEY_ID …), and this machine has no role"
                raise self.error(name, what) from None
            if "NoSuchBucket" in said:
                raise self.error(name, "there is no such bucket: make it first") from None
            if isinstance(error, exceptions.UnauthenticatedError | exceptions.PermissionDeniedError | PermissionError):
                raise self.error(name, f"the store refuses ({said}): look at its keys and rights") from None
            if isinstance(error, exceptions.NotFoundError | FileNotFoundError):
                raise self.error(name, "there is no such object") from None
            if isinstance(error, exceptions.InvalidPathError):
                raise self.error(name, "a name that no record has") from None
            if said.startswith("HTTP 4") and not said.startswith(_PASSES):
                raise self.error(name, f"the store refuses ({said})") from None
            raise _AgainError(f"the store did not answer as it should ({said})") from None


class _AgainError(Exception):
    """An answer that another try may better."""


def _said(error: Exception) -> str:
    """The status and the code of an answer, or the kind of the error where none came."""
    text = str(error)
    status, code = _STATUS.search(text), _CODE.search(text)
    said = [f"HTTP {status[1]}"] if status else []
    if code:
        said.append(code[1])
    return " ".join(said) or ("no answer" if "error sending" in text else type(error).__name__)


def open_objects(address: StoreAddress) -> Objects:
    """The objects below an address. Nobody is asked yet.

    Raises: UsageError where obstore is missing; StoreError for settings in the environment that make no sense.
    """
    try:
        from obstore.exceptions import BaseError
        from obstore.store import LocalStore, from_url
    except ImportError:
        raise UsageError(f"{address.scheme}:// needs an extra: pip install 'benchbook[store]'") from None
    if address.scheme == "file":
        try:
            return Objects(address, LocalStore(f"/{address.prefix}", mkdir=True))
        except (BaseError, OSError):
            raise StoreError(f"{address}: the folder can't be made") from None
    # What failed is asked again here, so that each try is told apart: after one whose answer was lost, a store says of
    # the object that it is there.
    retry: RetryConfig = {"max_retries": 0, "retry_timeout": timedelta(minutes=3)}
    client: ClientConfig = {"timeout": timedelta(minutes=2), "connect_timeout": timedelta(seconds=10)}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    try:
        if address.scheme == "s3" and endpoint:
            client["allow_http"] = endpoint.startswith("http://")
            store = from_url(str(address), config={"endpoint": endpoint}, client_options=client, retry_config=retry)
        else:
            store = from_url(str(address), config=None, client_options=client, retry_config=retry)
        return Objects(address, store)
    except (BaseError, ValueError) as error:
        what = f"can't be opened with the settings in the environment ({type(error).__name__})"
        raise StoreError(f"{address}: {what}") from None
