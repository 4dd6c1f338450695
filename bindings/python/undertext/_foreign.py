"""Messages of other packages as messages of Undertext: what the adapters share.

A foreign message is kept as a message whose role, content and tool calls say what it says, so that counts, queries and strategies work on it, and whose further field, the
*shell*, holds everything else. Its text stands once, in the content; only what Undertext would refuse there (nothing at all, strings among parts) stays in the shell.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Dict, List, Mapping, Union, cast

from ._blocks import read_blocks
from ._conversation import Conversation
from ._errors import InvalidArgumentError, TooLargeError
from ._view import View
from .types import Block

#: Stands where a foreign message says nothing, for Undertext wants every message to say something.
NOTHING = "(empty)"


def json_text(value: Any, what: str) -> str:
    """InvalidArgumentError: `value` is not what JSON would bring back, as tuples, sets, NaN and objects are not."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{what} cannot be kept as JSON: {error}", field=what) from error
    if json.loads(text) != value:
        raise InvalidArgumentError(
            f"{what} cannot be kept as JSON: it has tuples, or keys that are no strings", field=what
        )
    return text


def is_content(content: Any) -> bool:
    """Whether Undertext takes this as the content of any message."""
    if isinstance(content, str):
        return content != ""
    return (
        isinstance(content, list)
        and len(content) > 0
        and all(
            isinstance(part, dict) and isinstance(part.get("type", ""), str) for part in content
        )
    )


def readable(content: Any) -> str:
    """The text of something that cannot be content as it is."""
    texts: List[str] = []
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            texts.append(text)
    return "\n".join(texts) or NOTHING


def without_stand_in(content: Any, stand_in: str) -> Any:
    """Content of a message that said nothing, without what stood for that, where the engine merged it with another one."""
    if isinstance(content, str):
        return re.sub(f"^(?:{re.escape(stand_in)}\\n)+", "", content)
    if isinstance(content, list):
        said = next(
            (
                index
                for index, part in enumerate(content)
                if part != {"type": "text", "text": stand_in}
            ),
            len(content) - 1,
        )
        return content[said:]
    return content


def blocks_of(message: Mapping[str, Any]) -> List[Block]:
    """What a message of a conversation says."""
    try:
        return read_blocks(message)
    except InvalidArgumentError:  # half a surrogate pair, which JSON can spell and UTF-8 cannot
        return read_blocks(json.dumps(message))


def message_at(view: View, index: int) -> Mapping[str, Any]:
    """A message of any origin. A number of more digits than Python should read is the text of its digits."""
    try:
        return view[index]
    except TooLargeError:
        return cast(
            Dict[str, Any], json.loads(view.text(index % len(view)), parse_int=_int_or_digits)
        )


def messages_of(conversation: Conversation, last: int | None = None) -> List[Mapping[str, Any]]:
    """Those of the view, or the last of them, none of which makes the others unreadable."""
    conversation.catch_up()
    try:
        return cast(
            "List[Mapping[str, Any]]",
            conversation.messages() if last is None else conversation.messages(last=last),
        )
    except TooLargeError:
        view = conversation.view()
        return [
            message_at(view, index)
            for index in range(0 if last is None else max(0, len(view) - last), len(view))
        ]


def _int_or_digits(digits: str) -> Union[int, str]:
    try:
        return int(digits)
    except ValueError:
        return digits


def spelled(name: str, length_max: int) -> str:
    """Any text in the letters that a conversation's id may have, no two alike; dots stay free to separate."""
    spelled = "".join(
        c
        if c.isascii() and (c.isalnum() or c == "-")
        else "".join(f"_{byte:02x}" for byte in c.encode("utf-8", "surrogatepass"))
        for c in name
    )
    return (
        spelled
        if len(spelled) <= length_max
        else "_h" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    )
