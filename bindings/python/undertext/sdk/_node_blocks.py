"""A node's configuration may have several blocks: each is an operation, and all of them are one step."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

BLOCK_ORDER = ("clear", "filter", "truncate", "replace", "insert")


def node_operations(operation: object) -> List[Any]:
    """The operations of a configuration, in the order in which they are applied: what hides comes first, what adds last, so that places mean what is left. Anything else is one operation."""
    named = operation.get("operation") if isinstance(operation, Mapping) else None
    if not isinstance(operation, Mapping) or named not in BLOCK_ORDER:
        return [operation]
    present = [block for block in BLOCK_ORDER if block == named or operation.get(block) is not None]
    if len(present) == 1:
        return [operation]
    besides = {
        name: value
        for name, value in operation.items()
        if name not in BLOCK_ORDER and name != "operation"
    }
    operations: List[Dict[str, Any]] = []
    for block in present:
        arguments = {} if operation.get(block) is None else {block: operation[block]}
        operations.append({"operation": block, **arguments, **(besides if not operations else {})})
    return operations
