"""Sessions of the Claude Agent SDK in a store: `pip install undertext[claude-agent-sdk]`.

store = UndertextSessionStore(undertext.Store("sqlite:agents.db"))
options = ClaudeAgentOptions(session_store=store)
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any, Callable, Dict, List, Mapping, Sequence, TypeVar, cast

from claude_agent_sdk import SessionStore, fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from ._conversation import Conversation
from ._errors import NotFoundError
from ._foreign import NOTHING, is_content, json_text, spelled
from ._off_the_loop import in_thread
from ._store import Store, records_of

__all__ = ["UndertextSessionStore"]

T = TypeVar("T")

#: The field of a message that holds the rest of an entry, and of the first one the key of the session.
_SHELL = "claudeCode"
_PREFIX = "claude."
_LENGTH_MAX = 36
_ROLES = ("user", "assistant", "system")


class UndertextSessionStore(SessionStore):
    """Each transcript is a conversation, `claude.PROJECT.SESSION` or `claude.PROJECT.SESSION.SUBPATH`, whose messages are its entries.

    Entries come back equal, whatever was hidden or compressed in the conversation; a redacted one does not come back.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def __repr__(self) -> str:
        return f"<UndertextSessionStore: {self.store!r}>"

    async def append(self, key: SessionKey, entries: List[SessionStoreEntry]) -> None:
        """All of them or none, as one APPEND. The same batch again changes nothing, where each of its entries has a uuid."""
        if entries:
            await in_thread(self._append, key, entries)

    async def load(self, key: SessionKey) -> List[SessionStoreEntry] | None:
        """All entries, each uuid once. None: there is no such session."""
        return await in_thread(self._load, key)

    async def list_sessions(self, project_key: str) -> List[SessionStoreListEntry]:
        """Sessions of a project, without those of sub-agents."""
        return await in_thread(self._list_sessions, project_key)

    async def list_session_summaries(self, project_key: str) -> List[SessionSummaryEntry]:
        """The same, with what the SDK makes of their entries: all of them are read."""
        return await in_thread(self._list_summaries, project_key)

    async def delete(self, key: SessionKey) -> None:
        """Purges a session with those of its sub-agents, or one of these. What is deleted does not begin again: NotFoundError."""
        await in_thread(self._delete, key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> List[str]:
        """The subpaths of a session."""
        return await in_thread(self._list_subkeys, key)

    def _append(self, key: SessionKey, entries: Sequence[SessionStoreEntry]) -> None:
        with self.store.open(_name_of(key)) as conversation:
            texts = [json_text(_message_of(key, entry), "entry") for entry in entries]
            uuids = [str(entry.get("uuid", "")) for entry in entries]
            line = f'{{"operation":"APPEND","messages":[{",".join(texts)}]'
            if all(uuids):
                batch = hashlib.sha256("\n".join(uuids).encode()).hexdigest()
                line += f',"operationId":"{batch}"'
            conversation.apply(json.loads(line + "}"))

    def _load(self, key: SessionKey) -> List[SessionStoreEntry] | None:
        return self._with(_name_of(key), _entries_of)

    def _list_sessions(self, project: str) -> List[SessionStoreListEntry]:
        found: List[SessionStoreListEntry] = []
        for record in records_of(self.store, f"{_PREFIX}{spelled(project, _LENGTH_MAX)}."):
            key = self._with(record["conversation"], _key_of)
            if key is not None and "subpath" not in key:
                found.append({"session_id": key["session_id"], "mtime": record["updatedAt"]})
        return found

    def _list_summaries(self, project: str) -> List[SessionSummaryEntry]:
        found: List[SessionSummaryEntry] = []
        for session in self._list_sessions(project):
            key: SessionKey = {"project_key": project, "session_id": session["session_id"]}
            summary = fold_session_summary(None, key, self._load(key) or [])
            found.append({**summary, "mtime": session["mtime"]})
        return found

    def _list_subkeys(self, key: SessionListSubkeysKey) -> List[str]:
        keys = [
            self._with(record["conversation"], _key_of)
            for record in records_of(self.store, f"{_name_of(cast(SessionKey, key))}.")
        ]
        return [each["subpath"] for each in keys if each is not None and "subpath" in each]

    def _delete(self, key: SessionKey) -> None:
        name = _name_of(key)
        parts = [] if key.get("subpath") else list(records_of(self.store, f"{name}."))
        # The session itself goes last: where this fails, it is still there to be deleted.
        for each in [*(record["conversation"] for record in parts), name]:
            with suppress(NotFoundError):
                self.store.purge(each, who="claude_agent_sdk", why="the session was deleted")

    def _with(self, name: str, action: Callable[[Conversation], T]) -> T | None:
        try:
            with self.store.open(name, make="never") as conversation:
                return action(conversation)
        except NotFoundError:
            return None


def _name_of(key: SessionKey) -> str:
    parts = (key["project_key"], key["session_id"], key.get("subpath"))
    return _PREFIX + ".".join(spelled(part, _LENGTH_MAX) for part in parts if part)


def _message_of(key: SessionKey, entry: SessionStoreEntry) -> Dict[str, Any]:
    """An entry of the transcript. What it says is the content, in the form of Anthropic's API, and is not kept twice."""
    said = cast("Mapping[str, Any]", entry).get("message")
    role = said.get("role") if isinstance(said, dict) else None
    message = {"role": role if role in _ROLES else "system", "content": NOTHING}
    if not isinstance(said, dict) or role not in _ROLES or not is_content(said.get("content")):
        return {**message, _SHELL: {"key": key, "entry": entry}}
    rest = {**entry, "message": {**said, "content": None}}
    moved = {"key": key, "entry": rest, "isMoved": True}
    return {**message, "content": said["content"], _SHELL: moved}


def _entries_of(conversation: Conversation) -> List[SessionStoreEntry]:
    found: Dict[Any, Dict[str, Any]] = {}
    for place, message in enumerate(conversation.messages(all=True)):
        shell = cast("Mapping[str, Any]", message).get(_SHELL)
        if shell is not None:
            entry = dict(shell["entry"])
            if shell.get("isMoved"):
                entry["message"] = {**entry["message"], "content": message["content"]}
            found.setdefault(entry.get("uuid", place), entry)
    return cast("List[SessionStoreEntry]", list(found.values()))


def _key_of(conversation: Conversation) -> SessionKey | None:
    shells = (
        cast("Mapping[str, Any]", each).get(_SHELL)
        for each in conversation.messages(all=True, first=1)
    )
    return next((cast(SessionKey, shell["key"]) for shell in shells if shell), None)
