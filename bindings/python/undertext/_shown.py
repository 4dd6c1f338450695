"""What objects of the package look like, in a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping, Sequence

from ._blocks import read_blocks
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    from ._conversation import Conversation

#: A table shows so many messages from either end.
_ROWS = 10
#: A store shows so many of its conversations.
LISTED_MAX = 20
_CHARACTERS = 200
_STYLE = "text-align:left;vertical-align:top"


def as_line(message: Mapping[str, Any]) -> str:
    """What a message says, in one line."""
    try:
        said = " ".join(_said(block) for block in read_blocks(message))
    except InvalidArgumentError:  # half a surrogate pair
        said = str(message.get("content", ""))
    said = " ".join(said.split())
    return said if len(said) <= _CHARACTERS else said[: _CHARACTERS - 1] + "\u2026"


def _said(block: Mapping[str, Any]) -> str:
    if block["kind"] == "call":
        return f"[calls {block.get('name', '')}]"
    if block["kind"] == "result":
        return " ".join(map(_said, block["blocks"])) or "[result]"
    return str(block.get("text") or f"[{block['kind']}]")


def of_conversation(owner: object, conversation: Conversation) -> str:
    """What an object prints that has nothing but a conversation."""
    return f"<{type(owner).__name__}: {conversation._described()}>"


def as_list(title: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Conversations of a store as a table of HTML: the first of them."""
    import html

    rows = [
        f'<tr><td style="{_STYLE}">{html.escape(record["conversation"])}</td><td>version {record["version"]}</td><td>{record["totalMessages"]} messages stored</td></tr>'
        for record in records[:LISTED_MAX]
    ]
    if len(records) > LISTED_MAX:
        rows.append('<tr><td colspan="3">\u2026 and more</td></tr>')
    return f"<table><caption>{html.escape(title)}</caption><tbody>{''.join(rows)}</tbody></table>"


def as_table(title: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """Messages as a table of HTML: their places, their roles, what they say."""
    import html  # which takes longer to import than all else here

    rows: List[str] = []
    for index in range(len(messages)):
        if index == _ROWS and len(messages) > 2 * _ROWS:
            rows.append(f'<tr><td colspan="3">\u2026 {len(messages) - 2 * _ROWS} more</td></tr>')
        if _ROWS <= index < len(messages) - _ROWS:
            continue
        cells = (str(index), str(messages[index].get("role", "")), as_line(messages[index]))
        rows.append(
            "<tr>"
            + "".join(f'<td style="{_STYLE}">{html.escape(cell)}</td>' for cell in cells)
            + "</tr>"
        )
    return f"<table><caption>{html.escape(title)}</caption><tbody>{''.join(rows)}</tbody></table>"
