"""How an item is put to the candidate: the user's own prompt template, or the frozen `candidate_prompt@v1`."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path
from typing import Any

from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.conversations import Message
from benchbook.evaluators.settings import RunConfig
from benchbook.specs import Template, load_spec
from benchbook.text import quoted

__all__ = ["CANDIDATE_PROMPT", "PROMPT_NAMES", "PromptTemplate", "chosen_template", "read_template"]

CANDIDATE_PROMPT = "candidate_prompt@v1"
ITEM = "item"  # of a template's messages: the item itself, its prompt or its own messages
_TEMPLATE_ROLES = ("system", "developer", "user", "assistant")
PROMPT_NAMES = ("prompt", "context", "id", "category")  # what an item's `{{name}}` may be
_NAMED = re.compile(r"\{\{([\w .:-]+)\}\}")


class PromptTemplate:
    """How an item is put to the candidate: the user's own template, or the frozen `candidate_prompt@v1`.

    A template is a text, which becomes one user message, or a TOML file with `[[messages]]` (`_read_messages`). Its
    placeholders are PROMPT_NAMES. `conversations`: items may have messages of their own, which are then what is asked.
    """

    def __init__(
        self, template_id: str, text: str | None, *, conversations: bool = False, of_messages: bool = False
    ) -> None:
        self.id = template_id
        self.conversations = conversations
        self.of_messages = of_messages
        self._messages: list[tuple[str, Template | None]] | None = None
        if text is None:
            spec = load_spec(CANDIDATE_PROMPT)
            settings = spec.settings
            self.sha256 = spec.sha256
            self._with_context = Template(spec.text(settings["with_context"]))
            self._without_context = Template(spec.text(settings["without_context"]))
            return
        self.sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
        if of_messages:
            self._messages = _template_messages(text)
        else:
            self._with_context = self._without_context = Template(text)

    def render(self, item: Item) -> str | list[Message]:
        """The prompt, or the messages."""
        conversation: list[Message] | None = item.messages if self.conversations else None
        if self._messages is None:
            if conversation is not None:
                return conversation
            template = self._without_context if item.context is None else self._with_context
            return template.render(_values(item))
        whole: list[Message] = []
        for role, template_of_role in self._messages:
            if template_of_role is not None:
                whole.append({"role": role, "content": template_of_role.render(_values(item))})
            else:
                whole += conversation or [{"role": "user", "content": item.prompt}]
        return whole


def _values(item: Item) -> dict[str, Any]:
    values = {"prompt": item.prompt, "id": item.id, "category": item.category or ""}
    return values if item.context is None else values | {"context": item.context}


def _template_messages(text: str) -> list[tuple[str, Template | None]]:
    """The roles and texts of a template of messages, which `read_template` has checked; None stands for the item."""
    return [
        (one["role"], None if one["role"] == ITEM else Template(one["content"]))
        for one in tomllib.loads(text)["messages"]
    ]


# ── from a file ──────────────────────────────────────────────────────────────────────────────────────────────


def chosen_template(config: RunConfig, evalset: EvalSet) -> PromptTemplate:
    """The template that the settings name, for items that may have messages of their own. Raises: ConfigError."""
    if config.prompt_template is None:
        return PromptTemplate(CANDIDATE_PROMPT, None, conversations=evalset.has_messages)
    path = Path(config.prompt_template)
    text = read_template(path, conversations=evalset.has_messages)
    return PromptTemplate(path.name, text, conversations=evalset.has_messages, of_messages=path.suffix == ".toml")


def read_template(path: Path, *, conversations: bool = False) -> str:
    """The user's own prompt template, checked. `conversations`: items of the eval set have messages of their own.

    Raises: ConfigError.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError("prompt_template", f"{path} ({error.strerror})", "a text file with {{prompt}}") from None
    except UnicodeDecodeError as error:
        raise ConfigError("prompt_template", f"{path}: no UTF-8 at byte {error.start}", "UTF-8") from None
    if path.suffix == ".toml":
        _check_template_messages(text, path)
    elif conversations:
        expected = "a .toml file whose [[messages]] have one of role item, which the item's messages take the place of"
        raise ConfigError("prompt_template", f"{path}, a text, and items with messages", expected)
    elif "{{prompt}}" not in text:
        raise ConfigError(
            "prompt_template", f"{path}, which has no {{{{prompt}}}}", "the item's prompt somewhere in it"
        )
    _check_placeholders(text, path)
    return text


def _check_placeholders(text: str, path: Path) -> None:
    names = " or ".join([", ".join(f"{{{{{name}}}}}" for name in PROMPT_NAMES[:-1]), f"{{{{{PROMPT_NAMES[-1]}}}}}"])
    for found in _NAMED.finditer(text):
        if found[1] not in PROMPT_NAMES:  # also one with spaces in it, or in capitals, which would be sent as it is
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError("prompt_template", f"{quoted(found[0])} on line {line} of {path}", names)


def _check_template_messages(text: str, path: Path) -> None:
    """A template of messages: roles and texts in their order, and the item once, by `role = "item"` or {{prompt}}.

    Raises: ConfigError.
    """

    def wrong(found: str, expected: str) -> ConfigError:
        return ConfigError("prompt_template", f"{path}: {found}", expected)

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise wrong(f"no TOML ({error})", "[[messages]] with role and content") from None
    messages = content.get("messages")
    if not isinstance(messages, list) or not messages or content.keys() != {"messages"}:
        raise wrong(", ".join(content) or "nothing", "[[messages]] with role and content, and nothing else")
    n_items = 0
    for number, one in enumerate(messages):
        place = f"messages[{number}]"
        role = one.get("role") if isinstance(one, dict) else None
        if role not in (*_TEMPLATE_ROLES, ITEM):
            raise wrong(f"{place}.role {role!r}", ", ".join((*_TEMPLATE_ROLES, ITEM)))
        fields = {"role"} if role == ITEM else {"role", "content"}
        if one.keys() != fields or not isinstance(one.get("content", ""), str):
            expected = "role alone" if role == ITEM else "role, and content, a text"
            raise wrong(f"{place} with {', '.join(one)}", expected)
        n_items += role == ITEM or "{{prompt}}" in one["content"]
    if not n_items:
        raise wrong("no message of role item, and no {{prompt}}", "the item somewhere in it")
    if messages[-1]["role"] not in ("user", ITEM):
        raise wrong(f"the last message is the {messages[-1]['role']}'s", "the user's, or the item's")
