"""The model behind an endpoint: an OpenAI-compatible server that knows a shop's answers, and judges by them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL, JUDGE = "shop-1", "judge-1"


@contextmanager
def serving(answers: Mapping[str, str]) -> Iterator[str]:
    """Serve while the block runs; the base URL. The model answers the question that stands in its prompt; asked to be
    brief, it forgets every tenth answer. The judge gives full marks to a known answer, and none to any other."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answers))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _handler(answers: Mapping[str, str]) -> type[BaseHTTPRequestHandler]:
    numbered = {question: (number, answer) for number, (question, answer) in enumerate(answers.items())}

    def said(model: str, prompt: str) -> str:
        # The longest question that the prompt holds: one may begin another.
        question = max((one for one in numbered if one in prompt), key=len, default="")
        number, answer = numbered.get(question, (0, ""))
        if model == JUDGE:
            score = 2 if answer and prompt.count(answer) > 1 else 0  # in the reference, and in what is judged
            return json.dumps(
                {"accuracy_score": score, "faithfulness_score": 2, "rationale": "Held against the reference."}
            )
        return "I do not know." if "brief" in prompt and number % 10 == 3 else answer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}, {"id": JUDGE, "object": "model"}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = said(asked["model"], asked["messages"][-1]["content"])
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48}
            self._send(
                {"id": "1", "object": "chat.completion", "model": asked["model"], "choices": [choice], "usage": usage}
            )

        def _send(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nobody reads the server's log."""

    return Handler
