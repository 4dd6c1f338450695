"""The arguments of methods by their names in Python. Generated from `undertext schema` by bindings/types/make.py."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

from ._message import MessageLike
from ._protocol import AnyOperation, Budget, CacheMarkers, ClientName, Dialect, GivenRequestUsage, Pairs, ProfileName, Range, ReplaceText, Role, StrategyChoice, SurvivalPolicy, TruncateText


class OperationOptions(TypedDict, total=False):
    """Of UndoOperation: Takes back the last operation that is not undone.

    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    expected_version: int
    description: str
    operation_id: str


class TruncateArguments(TypedDict, total=False):
    """Of TruncateOperation: Keeps the beginning, the end or a stretch of the view.

    keep_first: Keeps the first so many.
    keep_last: Keeps the last so many.
    remove_first: Hides the first so many.
    remove_last: Hides the last so many.
    range: Keeps these.
    role: First drops all other roles.
    pairs: What becomes of the rest of a tool pair. Default: the setting.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    keep_first: int
    keep_last: int
    remove_first: int
    remove_last: int
    range: Range
    role: Role
    pairs: Pairs
    expected_version: int
    description: str
    operation_id: str


class FilterArguments(TypedDict, total=False):
    """Of FilterOperation: Keeps messages of some roles, or with or without some texts.

    roles: Keeps these roles.
    content_contains: Keeps what contains any of these texts.
    content_excludes: Keeps what contains none of these texts.
    pairs: What becomes of the rest of a tool pair. Default: the setting.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    roles: Sequence[Role]
    content_contains: Sequence[str]
    content_excludes: Sequence[str]
    pairs: Pairs
    expected_version: int
    description: str
    operation_id: str


class Named(TypedDict, total=False):
    """Of MarkOperation: Labels messages.

    indices: Positions in the view.
    ordinals: Places in the log.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    indices: Sequence[int]
    ordinals: Sequence[int]
    expected_version: int
    description: str
    operation_id: str


class DeleteArguments(TypedDict, total=False):
    """Of DeleteOperation: Hides exactly these messages.

    indices: Positions in the view.
    ordinals: Places in the log.
    pairs: What becomes of the rest of a tool pair. Default: the setting.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    indices: Sequence[int]
    ordinals: Sequence[int]
    pairs: Pairs
    expected_version: int
    description: str
    operation_id: str


class CompressArguments(TypedDict, total=False):
    """Of CompressOperation: Hides messages, or what a strategy chooses; the summary stands for them.

    indices: Positions in the view.
    ordinals: Places in the log.
    summary: Takes the place of the first. Default: nothing does.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    budget: What a request may hold.
    target_tokens: What the view is to come down to.
    progress: Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false.
    survival: What a compression must keep; else it is refused.
    strategy: By its name, or with arguments. Default: the setting `compressionConfig.strategy`.
    """

    indices: Sequence[int]
    ordinals: Sequence[int]
    summary: MessageLike
    expected_version: int
    description: str
    operation_id: str
    budget: Budget
    target_tokens: int
    progress: bool
    survival: SurvivalPolicy
    strategy: StrategyChoice


class TransformArguments(TypedDict, total=False):
    """Of TransformOperation: Changes texts or metadata of messages.

    indices: Positions in the view.
    ordinals: Places in the log.
    roles: All messages of these roles.
    replace_text: Replaces a text wherever it stands.
    truncate_text: Shortens each text.
    set_metadata: Sets these members of `metadata`.
    expected_version: `conflict` where the head is another version.
    description: Kept with the version; at most 16 KiB.
    operation_id: An operation that repeats it is answered as the first time, and changes nothing.
    """

    indices: Sequence[int]
    ordinals: Sequence[int]
    roles: Sequence[Role]
    replace_text: ReplaceText
    truncate_text: TruncateText
    set_metadata: Mapping[str, object]
    expected_version: int
    description: str
    operation_id: str


class MessageFilters(TypedDict, total=False):
    """Of MessagesQuery: Messages of the view, or of the log. The filters compose in their order.

    all: The log, hidden messages too, instead of the view. Default: false.
    at_version: As of this version. Default: the head.
    at_batch: As that batch was last seen.
    role: Only messages of this role.
    roles: Only messages of any of these roles.
    from_: Only messages at or after this time, in milliseconds since 1970.
    to: Only messages before this time.
    marked: Only messages with this mark.
    contains: Only messages whose text contains this.
    start: From this place on, among those left so far.
    end: Up to this place.
    first: The first so many of what is left.
    last: The last so many; not together with first.
    """

    all: bool
    at_version: int
    at_batch: int
    role: Role
    roles: Sequence[Role]
    from_: int
    to: int
    marked: str
    contains: str
    start: int
    end: int
    first: int
    last: int


class FitArguments(TypedDict, total=False):
    """Of FitQuery: Whether the view is within a budget, and what would make it so. Changes nothing.

    at_version: As of this version. Default: the head.
    budget: What a request may hold.
    strategy: By its name, or with arguments.
    """

    at_version: int
    budget: Budget
    strategy: StrategyChoice


class ValidateArguments(TypedDict, total=False):
    """Of ValidateQuery: What a provider would refuse in the view as it stands.

    at_version: As of this version. Default: the head.
    sent_version: What the provider saw last, for bound thinking.
    profile: What a provider accepts, by name or as an object.
    request: The other fields of the request.
    """

    at_version: int
    sent_version: int
    profile: Union[ProfileName, str, Mapping[str, object]]
    request: Mapping[str, object]


class RenderArguments(TypedDict, total=False):
    """Of RenderQuery: The request that a provider would be sent, with what was repaired or lost.

    at_version: As of this version. Default: the head.
    sent_version: What the provider saw last, for bound thinking.
    profile: What a provider accepts, by name or as an object.
    request: The other fields of the request.
    repair: false: the view as it stands. Default: true.
    cache_markers: Who marks requests for the provider's prompt cache: the caller, or render.
    bound_thinking: What becomes of thinking that an edit has made void.
    """

    at_version: int
    sent_version: int
    profile: Union[ProfileName, str, Mapping[str, object]]
    request: Mapping[str, object]
    repair: bool
    cache_markers: CacheMarkers
    bound_thinking: Literal["strip", "refuse", "drop_block"]


class CostArguments(TypedDict, total=False):
    """Of CostQuery: What an edit would cost at a provider that caches prompts.

    to: The version to be sent. Default: the head.
    operations: Tried on the head, instead of `to`.
    dialect: The message format. Default: that of the settings, or of their model.
    profile: What a provider accepts, by name or as an object.
    overhead: Tokens before the first message: tools and such.
    cache_markers: Who marks requests for the provider's prompt cache: the caller, or render.
    """

    to: int
    operations: Sequence[AnyOperation]
    dialect: Dialect
    profile: Union[ProfileName, str, Mapping[str, object]]
    overhead: int
    cache_markers: CacheMarkers


class UsageArguments(TypedDict, total=False):
    """Of UsageReport: What a provider reported of a request.

    model: The model that answered.
    prompt: Tokens of the request.
    completion: Tokens of the answer.
    cached: Tokens of the request that were read from a cache.
    total: As reported.
    cost: What it cost.
    estimated_prompt: What the request was counted as before it was sent.
    cache_written: Tokens of the request that were written to a cache.
    cache_written_hour: Of these, the ones that it keeps for an hour.
    timestamp: Milliseconds since 1970.
    final: false: a later report of the same request takes its place. Default: true.
    """

    model: str
    prompt: int
    completion: int
    cached: int
    total: int
    cost: float
    estimated_prompt: int
    cache_written: int
    cache_written_hour: int
    timestamp: int
    final: bool


class RecordArguments(TypedDict, total=False):
    """Of GivenRequest: A request of a client, to be recorded.

    client: Whose request it is. Default: generic.
    dialect: The format of the request. Default: that of the client, or the engine's own.
    path: Of the request. What follows a ? is left out.
    method: Of the request.
    version: What the request saw. Default: the head.
    answer_version: The version that has the answer.
    timestamp: When it came, in milliseconds since 1970. Default: now.
    response_id: The provider's id of the answer.
    status: Of HTTP; 0: no answer came.
    torn: The answer ended before its end. Default: false.
    first_byte_ms: From the request to the answer's first byte.
    duration_ms: From the request to the answer's last byte.
    usage: As the provider reported it.
    keys: By which it is found again, besides the digest of its list.
    """

    client: ClientName
    dialect: Dialect
    path: str
    method: str
    version: int
    answer_version: int
    timestamp: int
    response_id: str
    status: int
    torn: bool
    first_byte_ms: int
    duration_ms: int
    usage: GivenRequestUsage
    keys: Sequence[str]


__all__ = [
    "CompressArguments",
    "CostArguments",
    "DeleteArguments",
    "FilterArguments",
    "FitArguments",
    "MessageFilters",
    "Named",
    "OperationOptions",
    "RecordArguments",
    "RenderArguments",
    "TransformArguments",
    "TruncateArguments",
    "UsageArguments",
    "ValidateArguments",
]
