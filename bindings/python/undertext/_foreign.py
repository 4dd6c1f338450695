"""Messages of other packages as messages of Undertext: what the adapters share.

A foreign message is kept as a message whose role, content and tool calls say what it says, so that counts, queries and strategies work on it, and whose further field, the
*shell*, holds everything else. Its text stands once, in the content; only what Undertext would refuse there (nothing at all, strings among parts) stays in the shell.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping

from ._errors import InvalidArgumentError

#: Stands where a foreign message says nothing, for Undertext wants every message to say something.
NOTHING = "(empty)"


def json_text(value: Any, what: str) -> str:
    """InvalidArgumentError: `value` is not what JSON would bring back, as tuples, sets, NaN and objects are not."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"{what} cannot be kept as JSON: {error}", field=what) from error
    if json.loads(text) != value:
        raise InvalidArgumentError(f"{what} cannot be kept as JSON: it has tuples, or keys that are no strings", field=what)
    return text


def is_content(content: Any) -> bool:
    """Whether Undertext takes this as the content of any message."""
    if isinstance(content, str):
        return content != ""
    return (
        isinstance(content, list) and len(content) > 0 and all(isinstance(part, dict) and isinstance(part.get("type", ""), str) for part in content)
    )


def readable(content: Any) -> str:
    """The text of something that cannot be content as it is."""
    texts: List[str] = []
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text:
            texts.append(text)
    return "\n".join(texts) or NOTHING


def calls_of(message: Mapping[str, Any]) -> List[Dict[str, Any]]:
    """The tool calls of a message in either spelling, each as {"id", "name", "arguments"}. Of one that is redacted the id is left."""
    calls: List[Dict[str, Any]] = []
    for call in message.get("toolCalls") or message.get("tool_calls") or []:
        function = call.get("function", call)
        if not isinstance(function, dict):
            function = {}
        name = function.get("name")
        calls.append({"id": call.get("id"), "name": name if isinstance(name, str) else "", "arguments": function.get("arguments", {})})
    return calls


def arguments_text(call: Mapping[str, Any]) -> str:
    """The arguments of a call of calls_of() as text: as they were given, or as JSON."""
    return call["arguments"] if isinstance(call["arguments"], str) else json.dumps(call["arguments"])
