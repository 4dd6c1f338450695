"""The arguments of methods by their names in Python. Generated from `undertext schema` by bindings/types/make.py."""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

from ._message import MessageLike
from ._protocol import AnyOperation, Budget, CacheMarkers, ClientName, Dialect, GivenRequestUsage, Pairs, ProfileName, Range, ReplaceText, Role, StrategyChoice, TruncateText


class OperationOptions(TypedDict, total=False):
    """Of UndoOperation: Takes back the last operation that is not undone."""

    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class TruncateArguments(TypedDict, total=False):
    """Of TruncateOperation: Keeps the beginning, the end or a stretch of the view."""

    keep_first: int  # Keeps the first so many.
    keep_last: int  # Keeps the last so many.
    remove_first: int  # Hides the first so many.
    remove_last: int  # Hides the last so many.
    range: Range  # Keeps these.
    role: Role  # First drops all other roles.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class FilterArguments(TypedDict, total=False):
    """Of FilterOperation: Keeps messages of some roles, or with or without some texts."""

    roles: Sequence[Role]  # Keeps these roles.
    content_contains: Sequence[str]  # Keeps what contains any of these texts.
    content_excludes: Sequence[str]  # Keeps what contains none of these texts.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class Named(TypedDict, total=False):
    """Of MarkOperation: Labels messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class DeleteArguments(TypedDict, total=False):
    """Of DeleteOperation: Hides exactly these messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    pairs: Pairs  # What becomes of the rest of a tool pair. Default: the setting.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class CompressArguments(TypedDict, total=False):
    """Of CompressOperation: Hides messages, or what a strategy chooses; the summary stands for them."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    summary: MessageLike  # Takes the place of the first. Default: nothing does.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.
    budget: Budget  # What a request may hold.
    target_tokens: int  # What the view is to come down to.
    progress: bool  # Applies what can be freed where the target is out of reach; else that is `cannot_fit`. Default: false.
    strategy: StrategyChoice  # By its name, or with arguments.


class TransformArguments(TypedDict, total=False):
    """Of TransformOperation: Changes texts or metadata of messages."""

    indices: Sequence[int]  # Positions in the view.
    ordinals: Sequence[int]  # Places in the log.
    roles: Sequence[Role]  # All messages of these roles.
    replace_text: ReplaceText  # Replaces a text wherever it stands.
    truncate_text: TruncateText  # Shortens each text.
    set_metadata: Mapping[str, object]  # Sets these members of `metadata`.
    expected_version: int  # `conflict` where the head is another version.
    description: str  # Kept with the version; at most 16 KiB.
    operation_id: str  # An operation that repeats it is answered as the first time, and changes nothing.


class MessageFilters(TypedDict, total=False):
    """Of MessagesQuery: Messages of the view, or of the log. The filters compose in their order."""

    all: bool  # The log, hidden messages too, instead of the view. Default: false.
    at_version: int  # As of this version. Default: the head.
    at_batch: int  # As that batch was last seen.
    role: Role  # Only messages of this role.
    roles: Sequence[Role]  # Only messages of any of these roles.
    from_: int  # Only messages at or after this time, in milliseconds since 1970.
    to: int  # Only messages before this time.
    marked: str  # Only messages with this mark.
    contains: str  # Only messages whose text contains this.
    start: int  # From this place on, among those left so far.
    end: int  # Up to this place.
    first: int  # The first so many of what is left.
    last: int  # The last so many; not together with first.


class FitArguments(TypedDict, total=False):
    """Of FitQuery: Whether the view is within a budget, and what would make it so. Changes nothing."""

    at_version: int  # As of this version. Default: the head.
    budget: Budget  # What a request may hold.
    strategy: StrategyChoice  # By its name, or with arguments.


class ValidateArguments(TypedDict, total=False):
    """Of ValidateQuery: What a provider would refuse in the view as it stands."""

    at_version: int  # As of this version. Default: the head.
    sent_version: int  # What the provider saw last, for bound thinking.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    request: Mapping[str, object]  # The other fields of the request.


class RenderArguments(TypedDict, total=False):
    """Of RenderQuery: The request that a provider would be sent, with what was repaired or lost."""

    at_version: int  # As of this version. Default: the head.
    sent_version: int  # What the provider saw last, for bound thinking.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    request: Mapping[str, object]  # The other fields of the request.
    repair: bool  # false: the view as it stands. Default: true.
    cache_markers: CacheMarkers  # Who marks requests for the provider's prompt cache: the caller, or render.
    bound_thinking: Literal["strip", "refuse", "drop_block"]  # What becomes of thinking that an edit has made void.


class CostArguments(TypedDict, total=False):
    """Of CostQuery: What an edit would cost at a provider that caches prompts."""

    to: int  # The version to be sent. Default: the head.
    operations: Sequence[AnyOperation]  # Tried on the head, instead of `to`.
    dialect: Dialect  # The message format. Default: that of the settings, or of their model.
    profile: Union[ProfileName, str, Mapping[str, object]]  # What a provider accepts, by name or as an object.
    overhead: int  # Tokens before the first message: tools and such.
    cache_markers: CacheMarkers  # Who marks requests for the provider's prompt cache: the caller, or render.


class UsageArguments(TypedDict, total=False):
    """Of UsageReport: What a provider reported of a request."""

    model: str  # The model that answered.
    prompt: int  # Tokens of the request.
    completion: int  # Tokens of the answer.
    cached: int  # Tokens of the request that were read from a cache.
    total: int  # As reported.
    cost: float  # What it cost.
    estimated_prompt: int  # What the request was counted as before it was sent.
    timestamp: int  # Milliseconds since 1970.
    final: bool  # false: a later report of the same request takes its place. Default: true.


class RecordArguments(TypedDict, total=False):
    """Of GivenRequest: A request of a client, to be recorded."""

    client: ClientName  # Whose request it is. Default: generic.
    dialect: Dialect  # The format of the request. Default: that of the client, or the engine's own.
    path: str  # Of the request. What follows a ? is left out.
    method: str  # Of the request.
    version: int  # What the request saw. Default: the head.
    answer_version: int  # The version that has the answer.
    timestamp: int  # When it came, in milliseconds since 1970. Default: now.
    response_id: str  # The provider's id of the answer.
    status: int  # Of HTTP; 0: no answer came.
    torn: bool  # The answer ended before its end. Default: false.
    first_byte_ms: int  # From the request to the answer's first byte.
    duration_ms: int  # From the request to the answer's last byte.
    usage: GivenRequestUsage  # As the provider reported it.
    keys: Sequence[str]  # By which it is found again, besides the digest of its list.


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
