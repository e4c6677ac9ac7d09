"""The process that reads one PDF: its bytes come on standard input, the result goes to standard output.

python -I extraction_pdf_child.py MAX_CHARACTERS MAX_PAGES CPU_S MEMORY_BYTES
python -I extraction_pdf_child.py     prints what reads PDFs here, and its version

The first line of output is JSON, the rest is the text in UTF-8. It is run as a file and imports nothing of Benchbook:
a PDF that takes it over finds nothing but itself there, and it starts in a third of the time.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

PASSWORD_WRONG = 4  # FPDF_ERR_PASSWORD
BYTES_PER_CHARACTER = 4


class RefusedError(Exception):
    """The PDF gives no text; `code` is one of `extraction.FaultCode`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


def set_limits(max_characters: int, cpu_s: int, memory_bytes: int) -> None:
    """Raises: RefusedError where the system has no such limits: no PDF is read without."""
    try:
        import resource
    except ImportError:
        raise RefusedError("broken", "this system can't limit what reads a PDF; read it on Linux or macOS") from None
    wanted = {
        resource.RLIMIT_CPU: (cpu_s, cpu_s + 1),
        resource.RLIMIT_AS: (memory_bytes, memory_bytes),
        resource.RLIMIT_FSIZE: (max_characters * BYTES_PER_CHARACTER + 4_096,) * 2,
        resource.RLIMIT_CORE: (0, 0),
    }
    for name, (soft, hard) in wanted.items():
        try:
            resource.setrlimit(name, (soft, hard))
        except (ValueError, OSError):  # macOS knows RLIMIT_AS and refuses it; the parent's time limit still holds
            continue


def read(data: bytes, max_characters: int, max_pages: int) -> tuple[list[str], int]:
    """The text of each page, and the number of pages. Raises: RefusedError."""
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == PASSWORD_WRONG:
            raise RefusedError("encrypted", "the PDF asks for a password") from None
        raise RefusedError("broken", str(error)) from None
    n_pages = len(document)
    if n_pages > max_pages:
        raise RefusedError("too_large", f"{n_pages} pages, over {max_pages}")
    return list(pages(document, n_pages, max_characters)), n_pages


def pages(document: Any, n_pages: int, max_characters: int) -> Iterator[str]:
    import pypdfium2 as pdfium

    length = 0
    for number in range(n_pages):
        try:
            page = document[number]
            text_page = page.get_textpage()
            length += text_page.count_chars()
            if length > max_characters:
                raise RefusedError("too_large", f"over {max_characters} characters by page {number + 1} of {n_pages}")
            text: str = text_page.get_text_range()
        except pdfium.PdfiumError as error:
            # Half a text is of no use: a judge's quote might be from the other half.
            raise RefusedError("broken", f"page {number + 1} of {n_pages}: {error}") from None
        text_page.close()
        page.close()
        yield text


def main(max_characters: int, max_pages: int, cpu_s: int, memory_bytes: int) -> None:
    head: dict[str, Any]
    try:
        set_limits(max_characters, cpu_s, memory_bytes)
        texts, n_pages = read(sys.stdin.buffer.read(), max_characters, max_pages)
    except RefusedError as refused:
        head, body = {"code": refused.code, "detail": refused.detail}, b""
    except MemoryError:
        head, body = {"code": "too_large", "detail": f"needs over {memory_bytes} bytes of memory"}, b""
    else:
        head, body = {"n_pages": n_pages}, "\n".join(texts).encode("utf-8", "replace")
    sys.stdout.buffer.write(json.dumps(head).encode("ascii") + b"\n" + body)
    sys.stdout.buffer.flush()


def version() -> str:
    import pypdfium2 as pdfium

    return f"{pdfium.PYPDFIUM_INFO} (PDFium {pdfium.PDFIUM_INFO})"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*map(int, sys.argv[1:]))
    else:
        sys.stdout.write(version())
