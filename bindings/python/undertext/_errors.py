"""The errors, by the codes that every API of Undertext has."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Type

from . import _native

__all__ = [
    "CannotFitError",
    "ConflictError",
    "CorruptError",
    "DeniedError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OutOfMemoryError",
    "TooLargeError",
    "UnavailableError",
    "UndertextError",
    "UnsupportedError",
]


class UndertextError(Exception):
    """A call that failed, and changed nothing. Where code of yours raised before, and the call went on, that is its `__cause__`."""

    code: str = "internal"
    #: The number of the code in undertext.h.
    status: int = 9

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        path: str | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The bare name of the member at fault, and where it stands, where that is known.
        self.field = field
        self.path = path
        #: The error object of the protocol, with all that the code has beside it (`byteOffset`, `operationIndex`, `minimum`, …).
        self.error: Dict[str, Any] = dict(error or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.message, self.field, self.path, self.error)


class InvalidArgumentError(UndertextError, ValueError):
    """Fix the call: `field` names the argument, as you spelled it."""

    code = "invalid_argument"
    status = 1


class NotFoundError(UndertextError, LookupError):
    """There is no such conversation, version, message, model or file."""

    code = "not_found"
    status = 2


class ConflictError(UndertextError):
    """Another writer was first: reload and retry."""

    code = "conflict"
    status = 3


class CannotFitError(UndertextError):
    """No legal result is small enough."""

    code = "cannot_fit"
    status = 4


class CorruptError(UndertextError):
    """What was stored is damaged: restore a backup."""

    code = "corrupt"
    status = 5


class UnavailableError(UndertextError):
    """Retry later."""

    code = "unavailable"
    status = 6


class UnsupportedError(UndertextError):
    """This build, store or release cannot do that."""

    code = "unsupported"
    status = 7


class TooLargeError(UndertextError):
    """More than a limit allows."""

    code = "too_large"
    status = 8


class InternalError(UndertextError):
    """A bug in Undertext, or an exception of a file or iterator that it reads or writes, which is then the `__cause__`."""


class OutOfMemoryError(UndertextError, MemoryError):
    """There is no memory left; nothing has changed."""

    code = "out_of_memory"
    status = 10


class DeniedError(UndertextError):
    """No or not enough rights."""

    code = "denied"
    status = 11


_classes: Dict[str, Type[UndertextError]] = {
    kind.code: kind for kind in UndertextError.__subclasses__()
}


def _make(code: str, error: Mapping[str, Any]) -> UndertextError:
    kind = _classes.get(code, InternalError)
    return kind(
        error.get("message", code.replace("_", " ")),
        field=error.get("field"),
        path=error.get("path"),
        error=error,
    )


def _remade(
    kind: Type[UndertextError],
    message: str,
    field: str | None,
    path: str | None,
    error: Mapping[str, Any],
) -> UndertextError:
    return kind(message, field=field, path=path, error=error)


_native.set_error_maker(_make)
