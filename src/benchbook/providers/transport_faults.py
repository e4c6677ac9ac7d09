"""What went wrong below HTTP, and whose fault that is."""

from __future__ import annotations

import errno
import socket
import ssl

from benchbook.records.facts import FailureCause

__all__ = ["cause_of_error", "is_local"]

# Of this machine: no more files, memory, disk or ports.
_LOCAL = frozenset({
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ENOSPC, errno.EDQUOT, errno.EADDRNOTAVAIL,
})  # fmt: skip
_CUT = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)  # the connection was lost, TLS or not


def is_local(error: BaseException) -> bool:
    """Whether this machine is at fault, and neither the server nor the way to it."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, RuntimeError):  # no thread for a look-up of a name
        return "can't start new thread" in str(error)
    return (
        isinstance(error, OSError) and not isinstance(error, ssl.SSLError | socket.gaierror) and error.errno in _LOCAL
    )


def cause_of_error(error: BaseException) -> FailureCause:
    """Of an error that no reply came with."""
    if is_local(error):
        return "local"
    if isinstance(error, socket.gaierror):
        return "local" if error.errno == socket.EAI_MEMORY else "dns"
    if isinstance(error, ssl.SSLError) and not isinstance(error, _CUT):
        return "tls"
    return "connection"
