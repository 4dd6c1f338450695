"""The names of the design documents on the engine: MessageArrayManager, ConversationManager and what belongs to them. Every change is an operation, every reading a query; nothing is kept here.

docs/python.md says which is which. All of it works on a conversation in memory and on a stored one: hand in `conversation=undertext.open(url, id)`.
"""

from __future__ import annotations

from .._errors import InvalidArgumentError as ValidationError
from .._errors import UndertextError
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
from ._events import EventManager, EventType
from ._indices import (
    MessageIndexManager,
    TypeIndexManager,
    get_batch_index,
    get_current_batch_indices,
    is_modified,
)
from ._manager import ConversationManager
from ._node import (
    ContextProcessorNodeHandler,
    transform_context_processor_node_config,
    validate_context_processor_node_config,
)
from ._usage import TokenUsageTracker
from .types import (
    Compressed,
    ContextCompressionConfig,
    ContextModificationConfig,
    ContextProcessorNodeConfig,
    ContextProcessorNodeResult,
    ConversationState,
    LLMUsage,
    MessageOperationResult,
    TokenUsageStatistics,
    TokenUsageStats,
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
    "EventManager",
    "EventType",
    "KeepRecentStrategy",
    "KeepSystemAndRecentStrategy",
    "LLMUsage",
    "MessageArrayManager",
    "MessageIndexManager",
    "MessageOperationResult",
    "NoOpCompressionStrategy",
    "PipelineStrategy",
    "SlidingWindowStrategy",
    "SmartSummaryStrategy",
    "TokenUsageStatistics",
    "TokenUsageStats",
    "TokenUsageTracker",
    "TypeIndexManager",
    "UndertextError",
    "ValidationError",
    "get_batch_index",
    "get_current_batch_indices",
    "is_modified",
    "transform_context_processor_node_config",
    "validate_context_processor_node_config",
]
