"""SSH signatures of files, made and checked by OpenSSH's own `ssh-keygen -Y`: no key is ever read here."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from benchbook.errors import UsageError
from benchbook.text import one_line, shorten

NAMESPACE = "benchbook"  # a signature made for anything else is none of ours
SUFFIX = ".sig"
_PATIENCE_S = 600  # a person may have to touch a key, or to type its passphrase


def sign_file(path: Path, key: str | Path) -> bytes:
    """The signature of a file by a private key, or by the agent's key whose public one is named.

    Raises: UsageError where there is no ssh-keygen, or it refuses.
    """
    with tempfile.TemporaryDirectory(prefix="benchbook-sign-") as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        done = _keygen("sign", "-f", str(key), "-n", NAMESPACE, str(copy))
        signature = copy.with_name(f"{copy.name}{SUFFIX}")
        if done.returncode or not signature.is_file():
            raise UsageError(f"{key}: can't sign ({_said(done)})")
        return signature.read_bytes()


def signers_of(path: Path, signature: Path, allowed: Path) -> list[str]:
    """Those among the allowed signers who have signed a file; none where the signature does not hold.

    `allowed` is a file as `ssh-keygen(1)` has it, ALLOWED SIGNERS: a line for each, identities and public key.
    Raises: UsageError where it can't be read.
    """
    if not allowed.is_file():
        raise UsageError(f"{allowed}: no file of allowed signers (see ssh-keygen(1), ALLOWED SIGNERS)")
    found = _keygen("find-principals", "-f", str(allowed), "-s", str(signature))
    if found.returncode:
        return []
    names = [name for line in found.stdout.decode("utf-8", "replace").splitlines() for name in line.split(",") if name]
    return [name for name in names if _holds(path, signature, allowed, name)]


def _holds(path: Path, signature: Path, allowed: Path, name: str) -> bool:
    with path.open("rb") as data:
        options = ("-f", str(allowed), "-I", name, "-n", NAMESPACE, "-s", str(signature))
        return _keygen("verify", *options, data=data.read()).returncode == 0


def _keygen(action: str, *options: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Raises: UsageError."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UsageError("ssh-keygen: not found; it comes with OpenSSH 8.2 and later")
    try:
        return subprocess.run(
            [program, "-Y", action, *options], input=data, capture_output=True, timeout=_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"ssh-keygen: no answer in {_PATIENCE_S} s") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return shorten(one_line(lines[-1]), 200) if lines else f"ssh-keygen ended with {done.returncode}"
