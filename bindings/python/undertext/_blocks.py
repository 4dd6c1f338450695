"""What messages say: the engine's reader, which is the only one."""

from __future__ import annotations

from typing import List, Union, cast

from . import _native
from .types import Block, MessageLike


def read_blocks(message: Union[MessageLike, str, bytes]) -> List[Block]:
    """What a message says, whichever format it is written in: a list of blocks, as Conversation.blocks() has them. It need not be in a conversation.

    InvalidArgumentError: it is no message.
    """
    return cast(List[Block], _native.read_blocks(message))
