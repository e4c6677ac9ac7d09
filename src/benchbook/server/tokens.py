"""Tokens: made, listed, revoked, and told apart. Only a hash of each is kept, in a file that its owner alone can read.

A token is `bb_ID_SECRET`. The secret has 256 bits of chance in it, so one SHA-256 is as safe as a slow hash would be.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.errors import ConfigError, UsageError
from benchbook.labels.labels import labeller_name
from benchbook.record.journal import utc_now

__all__ = ["SCOPES", "Token", "TokenFile", "default_token_file"]


SCOPES = ("read", "label", "write")
_NO_HASH = hashlib.sha256(b"").hexdigest()


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """One token as it is kept. `scopes` say what it may do; write includes nothing but itself, as the others."""

    token_id: str
    name: str
    sha256: str
    scopes: tuple[str, ...]
    created_utc: str
    revoked_utc: str | None = None


def default_token_file(runs: str | Path) -> Path:
    """Where the tokens of a folder of records lie, if no other file is named."""
    return Path(runs) / ".server" / "tokens.json"


class TokenFile:
    """The tokens of a server. A change by another process is seen at the next request."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def create(self, name: str, scopes: Sequence[str]) -> tuple[str, Token]:
        """A new token: its text, which nobody can ask for again, and what is kept of it.

        Raises: ConfigError for a scope that is none, or no scope.
        """
        wanted = tuple(scope for scope in SCOPES if scope in scopes)
        if not wanted or set(scopes) - set(SCOPES):
            raise ConfigError("scope", ", ".join(sorted(scopes)) or "nothing", "one or more of " + ", ".join(SCOPES))
        token_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        text = f"bb_{token_id}_{secret}"
        token = Token(
            token_id=token_id, name=labeller_name(name), sha256=_hash(text), scopes=wanted, created_utc=utc_now()
        )
        with self._changing() as tokens:
            tokens[token_id] = token
        return text, token

    def revoke(self, token_id: str) -> Token:
        """From now on this token is refused. Raises: UsageError for an id that is none."""
        with self._changing() as tokens:
            found = tokens.get(token_id)
            if found is None:
                raise UsageError(f"{self.path}: there is no token {token_id!r}; `benchbook token list` shows them")
            if found.revoked_utc is None:
                tokens[token_id] = found = msgspec.structs.replace(found, revoked_utc=utc_now())
        return found

    def tokens(self) -> list[Token]:
        """In the order in which they were made. Raises: UsageError where the file is none of tokens."""
        with self._lock:
            self._read()
            return list(self._tokens.values())

    def find(self, text: str) -> Token | None:
        """The token with this text, unless it was revoked. A wrong secret takes as long as an id that is not known."""
        parts = text.split("_", 2)
        found = self.by_id(parts[1]) if len(parts) == 3 else None
        expected = _NO_HASH if found is None else found.sha256
        return found if hmac.compare_digest(_hash(text), expected) else None

    def by_id(self, token_id: str) -> Token | None:
        """The token with this id, unless it was revoked."""
        with self._lock:
            self._read()
            found = self._tokens.get(token_id)
        return None if found is None or found.revoked_utc is not None else found

    def _read(self) -> None:
        try:
            state = self.path.stat()
        except FileNotFoundError:
            self._seen, self._tokens = None, {}
            return
        seen = state.st_mtime_ns, state.st_size, state.st_ino
        if seen == self._seen:
            return
        try:
            tokens = msgspec.json.decode(self.path.read_bytes(), type=ready(list[Token]))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            raise UsageError(f"{self.path}: not a file of tokens; make one with `benchbook token create`") from None
        self._seen, self._tokens = seen, {token.token_id: token for token in tokens}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """The tokens, to be changed, while no other process changes them; the file is replaced as a whole."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            with self._lock:
                self._read()
                tokens = dict(self._tokens)
                yield tokens
                temporary = self.path.with_name(f".{self.path.name}.tmp")
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(canonical_json(list(tokens.values())) + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(self.path)
                self._read()
        finally:
            os.close(folder)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
