"""PDFs written by hand: good ones, and ones that no writer would make."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
A4 = "[0 0 595 842]"


def stream(data: bytes, entries: str = "") -> bytes:
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"


def words(text: str) -> bytes:
    """A page's content that shows `text`, which holds no parentheses."""
    return stream(f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode())


def pdf(objects: Mapping[int, bytes], trailer: str = "") -> bytes:
    """A file of these objects; object 1 is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    size = max(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
    for number in range(1, size):
        out += f"{places.get(number, 0):010d} 00000 {'n' if number in places else 'f'} \n".encode()
    out += f"trailer << /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def page(contents: int, box: str = A4) -> bytes:
    return (
        f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Contents {contents} 0 R "
        "/Resources << /Font << /F1 3 0 R >> >> >>"
    ).encode()


def document(texts: Sequence[str], box: str = A4) -> bytes:
    """A page for each text."""
    kids = " ".join(f"{10 + 2 * at} 0 R" for at in range(len(texts)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>".encode(),
        3: FONT,
    }
    for at, text in enumerate(texts):
        objects[10 + 2 * at] = page(11 + 2 * at, box)
        objects[11 + 2 * at] = words(text)
    return pdf(objects)


def one_page(contents: bytes) -> bytes:
    """One page with this stream as its content."""
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [10 0 R] /Count 1 >>",
            3: FONT,
            10: page(11),
            11: contents,
        }
    )


def encrypted() -> bytes:
    """Asks for a password: its /O and /U fit none."""
    handler = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> /ID [<41><41>]"
    return pdf(
        {1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [] /Count 0 >>"},
        handler,
    )


def bomb(mebibytes: int) -> bytes:
    """A page whose content unpacks to `mebibytes` of white space, packed twice: a few kilobytes here."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(mebibytes)) + packer.flush()
    return one_page(stream(zlib.compress(packed, 9), "/Filter [/FlateDecode /FlateDecode]"))


def page_loop(count: int) -> bytes:
    """A page tree that is its own child, and says that it has `count` pages."""
    return pdf(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: f"<< /Type /Pages /Kids [2 0 R 4 0 R] /Count {count} /Parent 4 0 R >>".encode(),
            4: f"<< /Type /Pages /Kids [2 0 R] /Count {count} /Parent 2 0 R >>".encode(),
        }
    )


def endless_work(times: int) -> bytes:
    """Forms that each draw the next `times` times, ten deep; the last draws nothing, so that no memory fills."""
    depth = 10
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [10 0 R] /Count 1 >>",
        10: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 11 0 R "
        b"/Resources << /XObject << /X 20 0 R >> >> >>",
        11: stream(b"/X Do"),
    }
    for level in range(depth):
        following = f"/Resources << /XObject << /X {21 + level} 0 R >> >>"
        content = b"/X Do " * times if level < depth - 1 else b"q Q"
        objects[20 + level] = stream(content, f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] {following}")
    return pdf(objects)
