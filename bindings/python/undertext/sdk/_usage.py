"""What providers report of requests, kept by the engine beside what it counts itself, and stored with a stored conversation."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, cast

from .._conversation import Conversation
from .._errors import InvalidArgumentError
from .._shown import of_conversation
from .._wire import copied, given
from ._indices import conversation_of
from .types import LLMUsage, TokenUsageStatistics, TokenUsageStats


def _stats_of(counts: Mapping[str, Any]) -> TokenUsageStats:
    return {
        "promptTokens": counts["prompt"],
        "completionTokens": counts["completion"],
        "totalTokens": counts["total"],
    }


class TokenUsageTracker:
    """One request is under way at a time: from the first update() to finish(). ConversationManager.get_token_usage_tracker() gives one."""

    def __init__(self, conversation: Conversation | None = None) -> None:
        self.conversation = conversation_of(
            conversation, "TokenUsageTracker", "get_token_usage_tracker"
        )

    def __repr__(self) -> str:
        return of_conversation(self, self.conversation)

    def update(self, usage: LLMUsage) -> None:
        """What is known of the request under way; takes the place of what was reported of it before."""
        if not isinstance(usage, Mapping):
            raise InvalidArgumentError("usage is a dict", field="usage")
        known = self.get_state()
        current = (
            known["open"][-1]["requestId"]
            if known["open"]
            else f"request-{known['totals']['requests'] + 1}"
        )
        report = {
            "requestId": current,
            "prompt": usage.get("promptTokens"),
            "completion": usage.get("completionTokens"),
            "total": usage.get("totalTokens"),
            "model": usage.get("model"),
        }
        self.conversation._native.report_usage({**given(report), "final": False})

    def finish(self) -> None:
        """The request under way is over. Nothing to do where there is none."""
        under_way = self.get_state()["open"]
        if under_way:
            self.conversation._native.report_usage({**under_way[-1], "final": True})

    def reset(self) -> None:
        """Forgets all that was reported."""
        self.conversation.set_usage()

    def restore(self, state: Mapping[str, Any]) -> None:
        """All that was reported becomes what get_state() gave, of this conversation or another."""
        self.conversation.set_usage(cast(Mapping[str, Any], copied(state)))

    def get_state(self) -> Dict[str, Any]:
        """All that was reported, as plain JSON."""
        return self.conversation.usage()

    def get_totals(self) -> TokenUsageStats | None:
        """Of all requests, that under way included; None: there was none."""
        totals = self.get_state()["totals"]
        return _stats_of(totals) if totals["requests"] else None

    def get_statistics(self) -> TokenUsageStatistics:
        """Of the same requests."""
        state = self.get_state()
        statistics = state["statistics"]
        return {
            **_stats_of(state["totals"]),
            "requests": state["totals"]["requests"],
            "averagePromptTokens": statistics["promptMean"],
            "averageCompletionTokens": statistics["completionMean"],
            "maxPromptTokens": statistics["promptMax"],
            "maxCompletionTokens": statistics["completionMax"],
            "byModel": {each["model"]: _stats_of(each["totals"]) for each in state["models"]},
        }

    def get_current_request(self) -> TokenUsageStats | None:
        """None: none is under way."""
        under_way = self.get_state()["open"]
        return _stats_of(under_way[-1]) if under_way else None

    def get_history(self) -> List[TokenUsageStats]:
        """Of the requests that are over, the oldest first: the last 100."""
        return [_stats_of(each) for each in self.get_state()["recent"]]
