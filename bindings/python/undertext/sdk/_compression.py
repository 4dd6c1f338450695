"""Document 004: a strategy takes messages and their mark map, and answers with fewer. What it answers is only a proposal: the engine refuses one that hides a system or pinned
message or breaks a tool pair, and applies any other as one COMPRESS that can be undone."""

from __future__ import annotations

import itertools
import math
from typing import (
    Any,
    Callable,
    Dict,
    Hashable,
    Iterator,
    List,
    Mapping,
    Protocol,
    Sequence,
    Tuple,
    Union,
    cast,
)

from .. import _native
from .._errors import InvalidArgumentError
from .._store import named_code, open, slow
from .._view import Strategy, View
from .._wire import check_function, given
from ..types import MarkMap, Message, MessageLike, Plan, Replacement, Summariser
from .types import Compressed, ContextCompressionConfig


class CompressionStrategy(Protocol):
    """A custom strategy: messages and their mark map in, fewer of them out."""

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig, /
    ) -> Compressed:
        """`messages[i]` is the message with the ordinal `mark_map["originalIndices"][i]`, and so in the answer: what is missing there is hidden. A message of its own, such as a summary, stands where
        something is hidden, with an index that is not in the map it was given."""
        ...


class EngineStrategy:
    """A strategy of the engine: docs/compression.md says what each keeps."""

    def __init__(
        self, strategy: Mapping[str, object], summarisers: Mapping[str, Summariser] | None = None
    ) -> None:
        self.strategy = dict(strategy)
        self.summarisers: Dict[str, Summariser] = dict(named_code("summarisers", summarisers))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.strategy}>"

    def compress(
        self, messages: List[Message], mark_map: MarkMap, config: ContextCompressionConfig, /
    ) -> Compressed:
        """On a separate conversation. CannotFitError: `targetTokens` cannot be reached."""
        if len(messages) != len(mark_map["originalIndices"]):
            raise InvalidArgumentError(
                "messages and originalIndices must be equally many", field="markMap"
            )
        if not config.get("enabled") or not messages:
            return {"messages": messages, "markMap": mark_map}
        with open(summarisers=self.summarisers) as conversation:
            conversation.append(cast(List[MessageLike], messages))
            aim = config.get("targetTokens")
            conversation.apply(
                {
                    "operation": "COMPRESS",
                    "strategy": self.strategy,
                    **given({"target_tokens": None if aim == math.inf else aim}),
                }
            )
            return {
                "messages": conversation.messages(),
                "markMap": _in_ordinals_of(mark_map, conversation.mark_map()),
            }


def _in_ordinals_of(before: MarkMap, own: MarkMap) -> MarkMap:
    """`own`, of a conversation made of the view of `before` alone, in the ordinals of `before`. What is new comes after all that `before` knows."""
    if own["currentBatch"] == 0:
        return before
    known = before["originalIndices"]
    following = max([index + 1 for index in known] + before["batchBoundaries"])

    def translated(indices: Sequence[int]) -> List[int]:
        return [
            known[index] if index < len(known) else following + index - len(known)
            for index in indices
        ]

    batch = before["currentBatch"] + 1
    return {
        "originalIndices": translated(own["originalIndices"]),
        "typeIndices": {role: translated(indices) for role, indices in own["typeIndices"].items()},
        "batchBoundaries": [*before["batchBoundaries"], following],
        "boundaryToBatch": [*before["boundaryToBatch"], batch],
        "currentBatch": batch,
    }


class NoOpCompressionStrategy(EngineStrategy):
    """Proposes nothing."""

    def __init__(self) -> None:
        super().__init__({"name": "none"})


class KeepRecentStrategy(EngineStrategy):
    """Hides all but the last `n`; more stay where `n` would split what belongs together."""

    def __init__(self, n: int = 10) -> None:
        super().__init__({"name": "keep_recent", "n": n})


class KeepSystemAndRecentStrategy(EngineStrategy):
    """The same, not counting system messages."""

    def __init__(self, n: int = 10) -> None:
        super().__init__({"name": "keep_system_and_recent", "n": n})


class SlidingWindowStrategy(EngineStrategy):
    """Hides all but the largest tail that fits."""

    def __init__(self) -> None:
        super().__init__({"name": "sliding_window"})


class ClearToolResultsStrategy(EngineStrategy):
    """A stub in place of every older result of a tool."""

    def __init__(
        self,
        *,
        keep: int | None = None,
        exclude: Sequence[str] | None = None,
        min_gain: int | None = None,
    ) -> None:
        super().__init__(
            {
                "name": "clear_tool_results",
                **given({"keep": keep, "exclude": exclude, "min_gain": min_gain}),
            }
        )


_numbers = itertools.count(1)


class SmartSummaryStrategy(EngineStrategy):
    """Hides all but a tail, and puts a summary in its place: by a function of yours, else by the digest, which needs no model."""

    def __init__(
        self,
        summariser: Summariser | None = None,
        *,
        keep: int | None = None,
        summary_tokens: int | None = None,
    ) -> None:
        if summariser is not None:
            check_function("summariser", summariser)
        name = "digest" if summariser is None else f"summariser-{next(_numbers)}"
        super().__init__(
            {
                "name": "smart_summary",
                "summariser": name,
                **given({"keep": keep, "summary_tokens": summary_tokens}),
            },
            None if summariser is None else {name: summariser},
        )


class PipelineStrategy(EngineStrategy):
    """One after another until the aim is reached."""

    def __init__(self, steps: Sequence[EngineStrategy]) -> None:
        if not all(isinstance(step, EngineStrategy) for step in steps):
            raise InvalidArgumentError(
                "the steps of a pipeline are strategies of the engine", field="steps"
            )
        summarisers = {
            name: summariser for step in steps for name, summariser in step.summarisers.items()
        }
        super().__init__(
            {"name": "pipeline", "steps": [step.strategy for step in steps]}, summarisers
        )


#: The name by which the settings know a strategy of the user's.
OWN = "own"

#: One of the user's; or one of the engine's: a class of these, its name, or an object with its name and arguments.
StrategyOf = Union[CompressionStrategy, EngineStrategy, str, Mapping[str, object], None]


def engine_choice(
    strategy: object, config: ContextCompressionConfig | None, token_limit: int | None
) -> Tuple[Any, Dict[str, Summariser], Dict[str, Strategy]]:
    """What the engine is told of a strategy: how its settings name it, and the functions behind that."""
    if strategy is None:
        strategy = "default"
    if isinstance(strategy, (str, Mapping)):
        return strategy, {}, {}
    if isinstance(strategy, EngineStrategy):
        return strategy.strategy, strategy.summarisers, {}
    compress = getattr(strategy, "compress", None)
    if not callable(compress):
        raise InvalidArgumentError("a strategy has a method compress", field="strategy")
    check_function("strategy.compress", compress)
    return OWN, {}, {OWN: _planning(compress, {**(config or {})}, token_limit)}


def renamed(strategy: object, names: Mapping[str, str]) -> object:
    """A strategy whose summarisers go by other names, in its steps too."""
    if not names:
        return strategy
    if isinstance(strategy, (list, tuple)):
        return [renamed(step, names) for step in strategy]
    if not isinstance(strategy, Mapping):
        return strategy
    made: Dict[str, object] = {
        **strategy,
        **({"steps": renamed(strategy["steps"], names)} if "steps" in strategy else {}),
    }
    summariser, fallbacks = made.get("summariser"), made.get("fallbacks")
    if isinstance(summariser, str):
        made["summariser"] = names.get(summariser, summariser)
    if isinstance(fallbacks, (list, tuple)):
        made["fallbacks"] = [names.get(name, name) for name in fallbacks]
    return made


def _told(
    config: Mapping[str, Any], token_limit: int | None, tokens_max: int | None
) -> ContextCompressionConfig:
    """The configuration with the target that the engine has; infinity: there is none."""
    threshold = config.get("threshold") or token_limit or math.inf
    aim = math.inf if tokens_max is None else tokens_max
    return cast(
        ContextCompressionConfig,
        {"enabled": True, **config, "threshold": threshold, "targetTokens": aim},
    )


def _answered(answer: Any) -> Tuple[List[Message], List[Any]]:
    """The messages of an answer, and their indices."""
    mark_map = answer.get("markMap") if isinstance(answer, Mapping) else None
    indices = mark_map.get("originalIndices") if isinstance(mark_map, Mapping) else None
    messages = answer.get("messages") if isinstance(answer, Mapping) else None
    if not isinstance(messages, Sequence) or not isinstance(indices, Sequence):
        raise InvalidArgumentError(
            "a strategy answers with messages and their markMap, which has originalIndices",
            field="strategy",
        )
    return list(messages), list(indices)


def _planning(
    compress: Callable[[List[Message], MarkMap, ContextCompressionConfig], Compressed],
    config: Mapping[str, Any],
    token_limit: int | None,
) -> Strategy:
    def plan(view: View, tokens_max: int | None, cancel: _native.Cancel) -> Plan | None:
        messages, mark_map = view.messages(), cast(MarkMap, view.query("markMap")["result"])
        # Compared with what was given, whatever the strategy does to it.
        ordinals, before = list(mark_map["originalIndices"]), view.messages()
        places: Dict[Any, int] = {ordinal: place for place, ordinal in enumerate(ordinals)}
        objects: Dict[Any, int] = {id(message): place for place, message in enumerate(messages)}
        held = list(messages)  # so that no id is another's
        kept, indices = _answered(
            compress(messages, mark_map, _told(config, token_limit, tokens_max))
        )
        if len(indices) == len(kept):
            found = [
                places.get(index) if isinstance(index, Hashable) else None for index in indices
            ]
        else:
            found = [objects.get(id(message)) for message in kept]
        entries = [
            (place if place is not None and before[place] == message else None, message)
            for place, message in zip(found, kept)
        ]
        replacements = list(_replacements(ordinals, entries))
        del held
        return {"replacements": replacements} if replacements else None

    return slow(plan)  # for it may ask a model


def _replacements(
    ordinals: List[int], entries: List[Tuple["int | None", Message]]
) -> Iterator[Replacement]:
    """What is hidden between two messages that stay, and what stands there instead: each message that was added takes the place of one, the last one that of all the rest."""
    begin, added = 0, cast(List[Message], [])
    for place, message in [*entries, (len(ordinals), None)]:
        if place is None:
            added.append(cast(Message, message))
            continue
        if place < begin:
            raise InvalidArgumentError(
                "a strategy keeps the order of messages, and has none twice", field="messages"
            )
        hidden = ordinals[begin:place]
        if len(added) > len(hidden):
            raise InvalidArgumentError(
                "a strategy adds messages only in the place of those it hides", field="messages"
            )
        for i, summary in enumerate(added):
            yield {
                "hide": hidden[i:] if i + 1 == len(added) else [hidden[i]],
                "summary": cast(MessageLike, summary),
            }
        if hidden and not added:
            yield {"hide": hidden}
        begin, added = place + 1, []
