"""The process that holds a local model: prints the address of its server, and lives as long as its standard input.

python -m benchbook.ask.providers.local_process MODEL.gguf NAME SLOTS CONTEXT_TOKENS
"""

from __future__ import annotations

import os
import sys

import xllamacpp

from benchbook.ask.providers.local import cores

__all__: list[str] = []


def serve(path: str, name: str, slots: int, context_tokens: int) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {name}  # else replies would name the file's path
    params.n_parallel = slots
    params.n_ctx = context_tokens
    params.cpuparams.n_threads = cores()
    params.port = 0
    params.hostnames = ["127.0.0.1"]
    params.ui = False
    params.cors_origins = ""
    params.endpoint_slots = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()  # ends when whoever started us does
    os._exit(0)  # not by the server's own way to close, which may block


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
