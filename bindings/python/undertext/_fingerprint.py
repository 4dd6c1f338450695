"""A quick way to see that a message is what it was, to the type: to Python 1, True and 1.0 are equal, in JSON they are not."""

from __future__ import annotations

import marshal
from typing import Any

#: The newest form of marshal in which equal values have equal bytes, whoever else holds a piece of them.
_FORM = 2


def fingerprint(message: Any) -> bytes | None:
    """Equal ones are of equal messages of LangChain; different ones say nothing. None: it has values of other kinds than Python's own."""
    try:
        return marshal.dumps(
            [type(message).__qualname__, vars(message), message.__pydantic_extra__], _FORM
        )
    except ValueError:
        return None
