"""The names of the design documents on the engine: MessageArrayManager, ConversationManager and what belongs to them. Every change is an operation, every reading a query; nothing is kept here.

docs/python.md says which is which. All of it works on a conversation in memory and on a stored one: hand in `conversation=undertext.open(url, id)`.
"""

from __future__ import annotations

from ._array import MessageArrayManager
from ._compression import (
    ClearToolResultsStrategy,
    CompressionStrategy,
    EngineStrategy,
    KeepRecentStrategy,
    KeepSystemAndRecentStrategy,
    NoOpCompressionStrategy,
    PipelineStrategy,
    SlidingWindowStrategy,
    SmartSummaryStrategy,
)
from ._indices import MessageIndexManager, TypeIndexManager, get_batch_index, get_current_batch_indices, is_modified
from ._manager import ConversationManager
from ._node import ContextProcessorNodeHandler, transform_context_processor_node_config, validate_context_processor_node_config
from .types import (
    Compressed,
    ContextCompressionConfig,
    ContextModificationConfig,
    ContextProcessorNodeConfig,
    ContextProcessorNodeResult,
    ConversationState,
    MessageOperationResult,
)

__all__ = [
    "ClearToolResultsStrategy",
    "Compressed",
    "CompressionStrategy",
    "ContextCompressionConfig",
    "ContextModificationConfig",
    "ContextProcessorNodeConfig",
    "ContextProcessorNodeHandler",
    "ContextProcessorNodeResult",
    "ConversationManager",
    "ConversationState",
    "EngineStrategy",
    "KeepRecentStrategy",
    "KeepSystemAndRecentStrategy",
    "MessageArrayManager",
    "MessageIndexManager",
    "MessageOperationResult",
    "NoOpCompressionStrategy",
    "PipelineStrategy",
    "SlidingWindowStrategy",
    "SmartSummaryStrategy",
    "TypeIndexManager",
    "get_batch_index",
    "get_current_batch_indices",
    "is_modified",
    "transform_context_processor_node_config",
    "validate_context_processor_node_config",
]
