"""Which characters nobody sees, and where they belong nevertheless. Terminals, reports and the page go by it.

Controls, and what Unicode calls default ignorable, hide in a text, reorder it, or make two that differ look alike. Some
of them also write language. Such a one is left alone where it does, directly behind what it acts upon: a joiner behind
a letter of a script with joined forms (Persian, Hindi), or between two emoji; a break between words behind a letter of
a script without spaces (Thai, Khmer); the choice of a variant behind a character that has variants; the tags of a flag.
Behind one another they are seen: nothing is hidden in a row of them.
"""

from __future__ import annotations

import re

# Parts of classes of characters, as regular expressions have them here and in JavaScript.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_JOINED = "\u0620-\u06d3\u0700-\u08ff\u0900-\u0dff\u0f40-\u109f\u1780-\u17b3\u17b6-\u17dd\u1820-\u18aa\ua840-\uaaff"
_SPACELESS = "\u0e01-\u0eff\u0f40-\u0fbc\u1000-\u109f\u1780-\u17b3\u17b6-\u17dd\uaa60-\uaa7f"
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Where one belongs: what stands before it, itself, and what must follow.
_PLACES = (
    f"(?<=[{_JOINED}][\u200c\u200d])",
    f"(?<=[{_EMOJI}]\u200d)(?=[{_EMOJI}])",
    f"(?<=[{_EMOJI}]\ufe0f\u200d)(?=[{_EMOJI}])",
    f"(?<=[{_SPACELESS}]\u200b)",
    f"(?<=[{_EMOJI}][\ufe0e\ufe0f])",
    "(?<=[#*0-9]\ufe0f)(?=\u20e3)",
    f"(?<=[{_IDEOGRAPHS}\u2200-\u22ff\u1000-\u109f][\ufe00-\ufe0f])",
    f"(?<=[{_IDEOGRAPHS}][\U000e0100-\U000e01ef])",
    "(?<=[\u1820-\u18aa][\u180b-\u180d\u180f])",
)
_SOMEWHERE = "\u180b-\u180d\u180f\u200b-\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS, _FLAG = "\U000e0020-\U000e007f", "[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"

# Regular expressions, here and in JavaScript: what may belong, where it does not, with all behind it; then the rest.
ASTRAY = (
    f"[{_SOMEWHERE}](?!{'|'.join(_PLACES)})[{_SOMEWHERE}]*"
    f"|(?<![{_TAGS}])(?!(?<=\U0001f3f4){_FLAG}(?![{_TAGS}]))[{_TAGS}]+"
)  # fmt: skip
NOWHERE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
SUSPECT = f"{NOWHERE}|[{_SOMEWHERE}{_TAGS}]"  # whoever has none of these has nothing that nobody sees
_ASTRAY, _NOWHERE, _MAYBE = re.compile(ASTRAY), re.compile(NOWHERE), re.compile(f"[{_SOMEWHERE}{_TAGS}]")


def escaped_unseen(text: str) -> str:
    """`text` with the escape of each such character that does not belong where it stands: `\\u200b`, `\\U000e0041`."""
    if not text.isascii() and _MAYBE.search(text) is not None:
        text = _ASTRAY.sub(lambda found: "".join(map(_escape, found[0])), text)
    for character in set(_NOWHERE.findall(text)):  # a few kinds at most; one call per character would be slow
        text = text.replace(character, _escape(character))
    return text


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
