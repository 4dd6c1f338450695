"""Documents 001 to 003: nodes that edit a context. The engine takes their spellings as they are; here they are only handed over."""

from __future__ import annotations

import copy
import time
from typing import Any, Dict, Mapping, Sequence, cast

from .._errors import ConflictError, InvalidArgumentError, UndertextError
from .._store import open
from .._wire import given
from ..types import MessageLike
from ._manager import ConversationManager
from ._node_blocks import node_operations
from .types import (
    ContextModificationConfig,
    ContextModificationOperation,
    ContextProcessorNodeConfig,
    ContextProcessorNodeResult,
)

_OPERATIONS = ("truncate", "insert", "replace", "clear", "filter")


def _check_kind(config: object) -> None:
    if not isinstance(config, Mapping):
        raise InvalidArgumentError("a configuration is a dict", field="config")
    operation = config.get("operation")
    if operation not in _OPERATIONS:
        raise InvalidArgumentError(
            f"operation is one of {', '.join(_OPERATIONS)}", field="operation"
        )
    if operation != "clear" and operation not in config:
        raise InvalidArgumentError(f"{operation} needs its block", field=str(operation))


def transform_context_processor_node_config(config: object) -> ContextProcessorNodeConfig:
    """A copy that the engine has read: InvalidArgumentError, which names the field, where it would not. Whether it can be carried out depends on the conversation."""
    _check_kind(config)
    for operation in node_operations(config):
        _try_out(dict(operation))
    return cast(ContextProcessorNodeConfig, copy.deepcopy(config))


def _try_out(trial_config: Dict[str, Any]) -> None:
    with open() as trial:
        trial.append({"role": "user", "content": "x"})
        try:
            trial.apply(
                {**trial_config, "expectedVersion": 2}
            )  # never: what could be read is a conflict
        except ConflictError:
            pass
        # And carried out, with the places that there are.
        blocks = {"insert": ("position", -1), "replace": ("index", 0)}
        for name, (place, there) in blocks.items():
            if name in trial_config:
                trial_config[name] = {**trial_config[name], place: there}
        trial.apply(trial_config)


def validate_context_processor_node_config(config: object) -> bool:
    """Raises ValidationError where the configuration of a node is none."""
    try:
        transform_context_processor_node_config(config)
    except UndertextError:
        return False
    return True


class ContextProcessorNodeHandler:
    """Carries out the configurations of nodes and the modifications of the design documents."""

    def __repr__(self) -> str:
        return "<ContextProcessorNodeHandler>"

    def execute(
        self, conversation_manager: ConversationManager, config: ContextProcessorNodeConfig
    ) -> ContextProcessorNodeResult:
        """A node of documents 001 and 002; several blocks in one step, see ConversationManager.execute()."""
        started = time.perf_counter()
        _check_kind(config)
        answer = conversation_manager.execute(cast(Mapping[str, object], config))
        taken_ms = (time.perf_counter() - started) * 1000
        return {
            "operation": answer["operation"],
            "messageCount": answer["stats"]["currentBatchMessages"],
            "executionTime": taken_ms,
            "stats": answer["stats"],
        }

    def handle_context_operation(
        self,
        conversation_manager: ConversationManager,
        operation: ContextModificationOperation,
        indices: Sequence[int],
        data: MessageLike | Sequence[MessageLike] | None = None,
    ) -> None:
        """A modification of documents 003 and 004. `indices` are ordinals."""
        conversation_manager.execute(
            {"operation": operation, "indices": indices, **given({"data": data})}
        )

    def handle_batch_operations(
        self,
        conversation_manager: ConversationManager,
        operations: Sequence[ContextModificationConfig],
    ) -> None:
        """All of them or none."""
        conversation_manager.execute_all(cast(Sequence[Mapping[str, object]], operations))

    def rollback_context_operation(
        self, conversation_manager: ConversationManager, batch: int
    ) -> None:
        """Returns to a batch as it last was."""
        conversation_manager.rollback_to_batch(batch)

    def validate_operation(
        self,
        conversation_manager: ConversationManager,
        operation: ContextModificationOperation,
        indices: Sequence[int],
        data: MessageLike | Sequence[MessageLike] | None = None,
    ) -> None:
        """Tries it on a fork: raises what it would raise now."""
        with conversation_manager.clone() as fork:
            self.handle_context_operation(fork, operation, indices, data)
