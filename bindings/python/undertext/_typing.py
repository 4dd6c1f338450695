"""What annotations need where they are evaluated, as typing.get_type_hints() does."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Unpack"]

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    try:
        from typing import Unpack
    except ImportError:  # before Python 3.11

        class Unpack:
            """Stands for the arguments by their names."""

            def __class_getitem__(cls, arguments: object) -> object:
                return arguments
