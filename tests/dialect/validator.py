"""What providers publish about the requests that they take, as a check of a request. It shares nothing with the engine.

    broken(profile, request) -> ["messages.2: tool_use a has no result", …]

Written from the providers' API references and the errors that they are known to answer with. The name of a profile says which of them:
PROFILES has what each provider does differently from the dialect that it speaks.
"""

import re

CHAT, RESPONSES, ANTHROPIC, GEMINI = "openai_chat", "openai_responses", "anthropic", "gemini"

# Beside the dialect: what the endpoint or family of models behind the profile is known to demand.
PROFILES = {
    "openai_chat": (CHAT, {"id_max": 40}),
    "deepseek": (CHAT, {"id_max": 40, "no_developer": True, "reasoning_content": True}),
    "mistral": (
        CHAT,
        {
            "id_max": 40,
            "no_developer": True,
            "alternate": True,
            "user_first": True,
            "no_prefill": True,
            "system_first": True,
            "no_user_after_tool": True,
        },
    ),
    "gemma": (
        CHAT,
        {
            "id_max": 40,
            "no_system": True,
            "alternate": True,
            "user_first": True,
            "no_prefill": True,
        },
    ),
    "llama_cpp": (CHAT, {"no_developer": True, "one_assistant_at_end": True}),
    "openai_responses": (RESPONSES, {}),
    "openai_responses_stateless": (RESPONSES, {"stateless": True}),
    "anthropic": (ANTHROPIC, {"no_prefill": True, "mid_system": True}),
    "anthropic_prefill": (ANTHROPIC, {}),
    "anthropic_system_first": (ANTHROPIC, {"no_prefill": True}),
    "anthropic_thinking": (ANTHROPIC, {"no_prefill": True, "thinking": True}),
    "anthropic_bound": (ANTHROPIC, {"no_prefill": True, "mid_system": True}),
    "bedrock": (ANTHROPIC, {"no_prefill": True, "alternate": True}),
    "gemini": (GEMINI, {}),
    "gemini3": (GEMINI, {"signatures": True}),
}


def broken(profile, request):
    dialect, rules = PROFILES[profile]
    check = {CHAT: Chat, RESPONSES: Responses, ANTHROPIC: Anthropic, GEMINI: Gemini}[dialect](rules)
    check.request(request)
    return check.found


class Check:
    def __init__(self, rules):
        self.rules = rules
        self.found = []

    def need(self, holds, where, words):
        if not holds:
            self.found.append(f"{where}: {words}")
        return bool(holds)

    def keys(self, value, allowed, where):
        """Providers refuse members that they do not know."""
        self.need(isinstance(value, dict), where, "must be an object")
        for key in value:
            self.need(key in allowed.split(), where, f"extra member {key}")

    def text(self, value, where, what="text"):
        return self.need(isinstance(value, str), where, f"{what} must be a string")

    def url(self, url, where, schemes):
        if not self.text(url, where, "url"):
            return
        self.need(
            url.startswith(schemes) and "generativelanguage.googleapis.com" not in url,
            where,
            f"cannot be fetched: {url[:40]}",
        )

    def image_data_url(self, url, where):
        if isinstance(url, str) and url.startswith("data:"):
            self.need(
                re.match(r"data:image/(png|jpe?g|gif|webp);base64,", url),
                where,
                f"not an image that is taken: {url[:30]}",
            )
        else:
            self.url(url, where, ("https://", "http://"))


class Chat(Check):
    def request(self, request):
        messages = request.get("messages")
        if not self.need(
            isinstance(messages, list) and messages, "messages", "at least one is needed"
        ):
            return
        for i, message in enumerate(messages):
            self.message(message, f"messages[{i}]")
        self.pairs(messages)
        self.order(messages)

    def message(self, m, at):
        role = m.get("role")
        if not self.need(
            role in ("developer", "system", "user", "assistant", "tool", "function"),
            at,
            f"role {role}",
        ):
            return
        allowed = {
            "assistant": "role content name refusal audio tool_calls function_call reasoning_content reasoning reasoning_details",
            "tool": "role content tool_call_id",
            "function": "role content name",
        }.get(role, "role content name")
        self.keys(m, allowed, at)
        self.need(
            not (role == "developer" and self.rules.get("no_developer")),
            at,
            "no role developer here",
        )
        self.need(
            not (role in ("developer", "system") and self.rules.get("no_system")),
            at,
            "no role system here",
        )
        content = m.get("content")
        if content is None:
            says = (
                m.get("tool_calls") or m.get("function_call") or m.get("refusal") or m.get("audio")
            )
            self.need((role == "assistant" and says) or role == "function", at, "content is null")
        elif isinstance(content, list):
            self.need(content, at, "content is an empty array")
            for k, part in enumerate(content):
                self.part(part, role, f"{at}.content[{k}]")
        else:
            self.text(content, at, "content")
        if "tool_calls" in m:
            self.need(
                isinstance(m["tool_calls"], list) and m["tool_calls"], at, "tool_calls is empty"
            )
            for call in m["tool_calls"] or []:
                self.call(call, at)
        if role == "tool":
            self.text(m.get("tool_call_id"), at, "tool_call_id")

    def part(self, part, role, at):
        kinds = {"user": "text image_url input_audio file", "assistant": "text refusal"}.get(
            role, "text"
        ).split()
        kind = part.get("type")
        if not self.need(kind in kinds, at, f"a part {kind} in a message of role {role}"):
            return
        self.keys(part, f"type {kind} prompt_cache_breakpoint", at)
        value = part.get(kind)
        if kind in ("text", "refusal"):
            self.text(value, at)
        elif kind == "image_url":
            self.keys(value, "url detail", at)
            self.image_data_url(value.get("url"), at)
        elif kind == "input_audio":
            self.keys(value, "data format", at)
            self.need(
                value.get("format") in ("wav", "mp3"), at, f"audio format {value.get('format')}"
            )
        elif kind == "file":
            self.keys(value, "file_id filename file_data", at)
            self.need(
                value.get("file_id") or str(value.get("file_data", "")).startswith("data:"),
                at,
                "a file without data",
            )

    def call(self, call, at):
        kind = call.get("type")
        self.need(kind in ("function", "custom"), at, f"call of type {kind}")
        self.keys(call, f"id type {kind} extra_content", at)
        longest = self.rules.get("id_max")
        self.need(
            isinstance(call.get("id"), str)
            and call["id"]
            and (not longest or len(call["id"]) <= longest),
            at,
            f"call id {call.get('id')}",
        )
        fields = call.get(kind) or {}
        self.need(
            re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(fields.get("name"))),
            at,
            f"tool name {fields.get('name')}",
        )
        self.text(fields.get("arguments" if kind == "function" else "input"), at, "arguments")

    def pairs(self, messages):
        open_calls = None  # those that the messages directly behind must answer
        for i, m in enumerate(messages + [{"role": "end"}]):
            at = f"messages[{i}]"
            if m["role"] == "tool":
                self.need(
                    open_calls is not None and m.get("tool_call_id") in open_calls,
                    at,
                    f"tool result {m.get('tool_call_id')} answers no call before it",
                )
                if open_calls:
                    open_calls.discard(m.get("tool_call_id"))
                continue
            self.need(not open_calls, at, f"calls without results before it: {open_calls}")
            calls = [c.get("id") for c in m.get("tool_calls") or []]
            self.need(len(set(calls)) == len(calls), at, "a call id twice")
            open_calls = set(calls) if calls else None
            if m["role"] == "function":
                before = messages[i - 1] if i else {}
                self.need(
                    "function_call" in before, at, "a function's result without a call before it"
                )

    def order(self, messages):
        spoken = [m["role"] for m in messages if m["role"] not in ("system", "developer")]
        r = self.rules
        self.need(
            not r.get("user_first") or (spoken and spoken[0] == "user"),
            "messages",
            "the first is not the user's",
        )
        self.need(
            not r.get("no_prefill") or not spoken or spoken[-1] != "assistant",
            "messages",
            "the last is the assistant's",
        )
        if r.get("alternate"):
            for a, b in zip(spoken, spoken[1:]):
                self.need(a != b or a == "tool", "messages", f"{a} after {a}")
        if r.get("no_user_after_tool"):
            self.need(
                ("tool", "user") not in zip(spoken, spoken[1:]), "messages", "user after tool"
            )
        if r.get("one_assistant_at_end"):
            self.need(
                [m["role"] for m in messages[-2:]] != ["assistant"] * 2,
                "messages",
                "two assistant messages at the end",
            )
        if r.get("system_first"):
            roles = [m["role"] == "system" for m in messages]
            self.need(
                roles == sorted(roles, reverse=True),
                "messages",
                "a system message after the first turn",
            )
        if r.get("reasoning_content") and any(
            m.get("tool_calls") or m.get("reasoning_content")
            for m in messages
            if m["role"] == "assistant"
        ):
            for i, m in enumerate(messages):
                self.need(
                    m["role"] != "assistant" or isinstance(m.get("reasoning_content"), str),
                    f"messages[{i}]",
                    "no reasoning_content",
                )


class Responses(Check):
    CALLS = {
        "function_call": "function_call_output",
        "custom_tool_call": "custom_tool_call_output",
        "shell_call": "shell_call_output",
        "apply_patch_call": "apply_patch_call_output",
        "computer_call": "computer_call_output",
        "local_shell_call": "local_shell_call_output",
    }
    WITH_ID = (
        "reasoning web_search_call file_search_call code_interpreter_call image_generation_call computer_call local_shell_call "
        "mcp_call mcp_list_tools mcp_approval_request item_reference"
    ).split()
    MEMBERS = {
        "function_call": "type id call_id name arguments status namespace async caller",
        "function_call_output": "type id call_id output status",
        "custom_tool_call": "type id call_id name input status",
        "custom_tool_call_output": "type id call_id output status",
        "reasoning": "type id summary content encrypted_content status",
        "item_reference": "type id",
        "message": "type id role content status phase",
    }

    def request(self, request):
        items = request.get("input")
        if isinstance(items, str):
            return
        if not self.need(isinstance(items, list) and items, "input", "at least one item is needed"):
            return
        if "instructions" in request:
            self.need(
                isinstance(request["instructions"], (str, list)), "instructions", "must be a string"
            )
        for i, item in enumerate(items):
            self.item(item, f"input[{i}]")
        self.pairs(items)
        self.reasoning(items)
        ids = [i["id"] for i in items if i.get("id")]
        self.need(len(ids) == len(set(ids)), "input", "an item id twice")

    def item(self, item, at):
        kind = item.get("type", "message")
        if kind in self.MEMBERS:
            self.keys(item, self.MEMBERS[kind], at)
        self.need(kind not in self.WITH_ID or item.get("id"), at, f"{kind} without id")
        if kind == "message":
            self.message(item, at)
        elif kind in ("function_call", "custom_tool_call"):
            self.need(
                isinstance(item.get("call_id"), str) and 0 < len(item["call_id"]) <= 64,
                at,
                f"call_id {item.get('call_id')}",
            )
            self.need(
                re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(item.get("name"))),
                at,
                f"tool name {item.get('name')}",
            )
            self.text(
                item.get("arguments" if kind == "function_call" else "input"), at, "arguments"
            )
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            if isinstance(output, list):
                self.need(output, at, "output is empty")
                for k, part in enumerate(output):
                    self.part(part, "user", f"{at}.output[{k}]")
            else:
                self.text(output, at, "output")
        elif kind == "reasoning":
            self.need(isinstance(item.get("summary"), list), at, "reasoning without summary")
            self.need(
                not self.rules.get("stateless") or item.get("encrypted_content"),
                at,
                "reasoning that nobody keeps",
            )
        elif kind == "item_reference":
            self.need(not self.rules.get("stateless"), at, "a reference to what nobody keeps")

    def message(self, item, at):
        role = item.get("role")
        if not self.need(role in ("user", "assistant", "system", "developer"), at, f"role {role}"):
            return
        content = item.get("content")
        if isinstance(content, list):
            self.need(content, at, "content is empty")
            for k, part in enumerate(content):
                self.part(part, role, f"{at}.content[{k}]")
        else:
            self.text(content, at, "content")

    def part(self, part, role, at):
        kinds = (
            ("output_text", "refusal")
            if role == "assistant"
            else ("input_text", "input_image", "input_file")
        )
        kind = part.get("type")
        if not self.need(kind in kinds, at, f"a part {kind} of {role}"):
            return
        members = {
            "output_text": "text annotations logprobs",
            "refusal": "refusal",
            "input_text": "text",
            "input_image": "image_url file_id detail",
            "input_file": "file_id file_url file_data filename detail",
        }[kind]
        self.keys(part, f"type prompt_cache_breakpoint {members}", at)
        if kind in ("output_text", "input_text"):
            self.text(part.get("text"), at)
        elif kind == "input_image" and not part.get("file_id"):
            self.image_data_url(part.get("image_url"), at)
        elif kind == "input_file":
            self.need(
                sum(name in part for name in ("file_id", "file_url", "file_data")) == 1,
                at,
                "one of file_id, file_url, file_data",
            )
            if "file_url" in part:
                self.url(part["file_url"], at, ("https://", "http://"))

    def pairs(self, items):
        calls, answered = {}, set()
        for i, item in enumerate(items):
            kind, at = item.get("type"), f"input[{i}]"
            call_id = item.get("id") if kind == "local_shell_call_output" else item.get("call_id")
            if kind in self.CALLS:
                self.need(call_id not in calls, at, f"call id {call_id} twice")
                calls[call_id] = self.CALLS[kind]
            elif kind in self.CALLS.values():
                wanted = calls.get(call_id)
                fits = wanted == kind or (
                    wanted == "local_shell_call_output" and kind == "function_call_output"
                )
                self.need(fits, at, f"{kind} {call_id} answers no call before it")
                self.need(call_id not in answered, at, f"a second result of {call_id}")
                answered.add(call_id)
        asynchronous = {i.get("call_id") for i in items if i.get("async")}
        for call_id in calls:
            self.need(
                call_id in answered or call_id in asynchronous,
                "input",
                f"no tool output found for {call_id}",
            )

    def reasoning(self, items):
        for i, item in enumerate(items):
            if item.get("type") != "reasoning":
                continue
            after = items[i + 1] if i + 1 < len(items) else {}
            kind = after.get("type", "message")
            follows = (kind == "message" and after.get("role") == "assistant") or kind.endswith(
                "_call"
            )
            self.need(
                follows, f"input[{i}]", f"reasoning {item.get('id')} without its following item"
            )


class Anthropic(Check):
    ASSISTANT = "text thinking redacted_thinking tool_use server_tool_use web_search_tool_result compaction".split()
    USER = "text image document search_result tool_result compaction".split()
    MEMBERS = {
        "text": "text citations",
        "image": "source",
        "document": "source title context citations",
        "thinking": "thinking signature",
        "redacted_thinking": "data",
        "tool_use": "id name input caller",
        "tool_result": "tool_use_id content is_error",
        "server_tool_use": "id name input caller",
        "web_search_tool_result": "tool_use_id content",
        "compaction": "content signature",
    }

    def request(self, request):
        self.markers = []
        system = request.get("system")
        if system is not None:
            self.system(system, "system")
        messages = request.get("messages")
        if not self.need(
            isinstance(messages, list) and messages, "messages", "at least one is needed"
        ):
            return
        for i, m in enumerate(messages):
            self.message(m, f"messages.{i}", i + 1 == len(messages))
        self.order(messages)
        self.pairs(messages)
        if self.rules.get("thinking") and request.get("thinking") != {"type": "disabled"}:
            self.open_loop(messages)
        self.need(len(self.markers) <= 4, "cache_control", f"{len(self.markers)} markers")
        short = False
        for ttl in self.markers:
            self.need(not (ttl == "1h" and short), "cache_control", "1h after 5m")
            short = short or ttl != "1h"

    def system(self, system, at):
        if isinstance(system, str):
            self.need(system.strip(), at, "is blank")
            return
        self.need(isinstance(system, list) and system, at, "must be a text or blocks")
        for k, block in enumerate(system):
            self.block(block, ["text"], f"{at}.{k}")

    def message(self, m, at, is_last):
        role = m.get("role")
        self.keys(m, "role content", at)
        if not self.need(role in ("user", "assistant", "system"), at, f"role {role}"):
            return
        content = m.get("content")
        if isinstance(content, str):
            self.need(content.strip(), at, "content is blank")
            return
        if not self.need(isinstance(content, list) and content, at, "content is empty"):
            return
        kinds = {"user": self.USER, "assistant": self.ASSISTANT, "system": ["text"]}[role]
        for k, block in enumerate(content):
            self.block(block, kinds, f"{at}.content.{k}")
        if role == "assistant":
            self.need(
                content[-1].get("type") not in ("thinking", "redacted_thinking"),
                at,
                "ends in thinking",
            )
            used, seen = {b.get("id") for b in content if b.get("type") == "server_tool_use"}, set()
            for b in content:
                if b.get("type") == "web_search_tool_result":
                    self.need(
                        b.get("tool_use_id") in used,
                        at,
                        "a result of a server tool without its use",
                    )
                    seen.add(b.get("tool_use_id"))
            self.need(is_last or used == seen, at, "a use of a server tool without its result")

    def block(self, block, kinds, at):
        kind = block.get("type")
        if not self.need(kind in kinds, at, f"a block {kind} here"):
            return
        self.keys(block, f"type cache_control {self.MEMBERS.get(kind, '')}", at)
        if block.get("cache_control"):
            self.markers.append(block["cache_control"].get("ttl", "5m"))
            self.need("thinking" not in kind, at, "a marker on thinking")
        if kind == "text":
            self.need(self.text(block.get("text"), at) and block["text"].strip(), at, "blank text")
        elif kind == "thinking":
            self.need(block.get("signature"), at, "unsigned thinking")
        elif kind in ("image", "document"):
            self.source(block.get("source"), kind, at)
        elif kind == "tool_use":
            self.need(
                re.fullmatch(r"[A-Za-z0-9_-]{1,64}", str(block.get("id"))),
                at,
                f"id {block.get('id')}",
            )
            self.need(
                re.fullmatch(r"[A-Za-z0-9_-]{1,128}", str(block.get("name"))),
                at,
                f"tool name {block.get('name')}",
            )
            self.need(isinstance(block.get("input"), dict), at, "input is no object")
        elif kind == "tool_result":
            self.result(block, at)

    def source(self, source, kind, at):
        self.need(isinstance(source, dict), at, "no source")
        how = source.get("type")
        self.keys(
            source,
            {
                "base64": "type media_type data",
                "url": "type url",
                "file": "type file_id",
                "text": "type media_type data",
                "content": "type content",
            }.get(how, "type"),
            at,
        )
        if how == "base64":
            taken = (
                ["image/jpeg", "image/png", "image/gif", "image/webp"]
                if kind == "image"
                else ["application/pdf"]
            )
            self.need(
                source.get("media_type") in taken, at, f"media_type {source.get('media_type')}"
            )
        elif how == "url":
            self.url(source.get("url"), at, "https://")
        elif how == "text":
            self.need(
                source.get("media_type") == "text/plain" and kind == "document",
                at,
                "a text that is no text/plain document",
            )
        else:
            self.need(
                how == "file" and str(source.get("file_id")).startswith("file_"),
                at,
                f"source {how} {source.get('file_id')}",
            )

    def result(self, block, at):
        content = block.get("content")
        is_error = block.get("is_error")
        if isinstance(content, list):
            for k, inner in enumerate(content):
                self.block(
                    inner,
                    ["text"] if is_error else ["text", "image", "document", "search_result"],
                    f"{at}.content.{k}",
                )
        elif content is not None:
            self.text(content, at, "content")
        self.need(not is_error or content, at, "an error that says nothing")

    def order(self, messages):
        roles = [m["role"] for m in messages]
        first = messages[0]
        summary = (
            isinstance(first["content"], list)
            and first["content"]
            and first["content"][0].get("type") == "compaction"
        )
        self.need(roles[0] == "user" or summary, "messages.0", "the first is not the user's")
        for i, m in enumerate(messages):
            if m["role"] == "system":
                self.need(self.rules.get("mid_system"), f"messages.{i}", "no system messages here")
                self.need(
                    i > 0 and roles[i - 1] == "user",
                    f"messages.{i}",
                    "a system message that follows no user",
                )
                self.need(
                    i + 1 == len(roles) or roles[i + 1] == "assistant",
                    f"messages.{i}",
                    "a system message before a user",
                )
            for k, block in enumerate(m["content"] if isinstance(m["content"], list) else []):
                self.need(
                    block.get("type") != "compaction" or (i, k) == (0, 0),
                    f"messages.{i}",
                    "a compaction that is not first",
                )
        if self.rules.get("no_prefill"):
            self.need(roles[-1] != "assistant", "messages", "the last is the assistant's")
        elif roles[-1] == "assistant":
            content = messages[-1]["content"]
            last = content if isinstance(content, str) else content[-1].get("text", "")
            self.need(last == last.rstrip(), "messages", "the last ends in white space")
        if self.rules.get("alternate"):
            self.need(
                all(a != b for a, b in zip(roles, roles[1:])),
                "messages",
                "two of one role in a row",
            )

    def pairs(self, messages):
        turns = []  # those of one role in a row are one to the provider
        for m in messages:
            blocks = m["content"] if isinstance(m["content"], list) else [{"type": "text"}]
            if turns and turns[-1][0] == m["role"]:
                turns[-1][1].extend(blocks)
            else:
                turns.append((m["role"], list(blocks)))
        seen = set()
        for i, (role, blocks) in enumerate(turns):
            uses = [b.get("id") for b in blocks if b.get("type") == "tool_use"]
            for use in uses:
                self.need(use not in seen, f"turn {i}", f"tool_use id {use} twice")
                seen.add(use)
            after = turns[i + 1][1] if i + 1 < len(turns) and turns[i + 1][0] == "user" else []
            results = [b.get("tool_use_id") for b in after if b.get("type") == "tool_result"]
            if role == "assistant":
                self.need(
                    sorted(results) == sorted(uses), f"turn {i}", f"calls {uses}, results {results}"
                )
                kinds = [b.get("type") != "tool_result" for b in after]
                self.need(
                    not results or kinds == sorted(kinds), f"turn {i + 1}", "results are not first"
                )
            elif role == "user" and (i == 0 or turns[i - 1][0] != "assistant"):
                self.need(
                    not any(b.get("type") == "tool_result" for b in blocks),
                    f"turn {i}",
                    "results without calls",
                )

    def open_loop(self, messages):
        """With extended thinking, the turn whose calls were just answered begins with it."""
        last = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=None)
        if last is None or last + 1 == len(messages) or isinstance(messages[last]["content"], str):
            return
        blocks = messages[last]["content"]
        answered = all(
            isinstance(m["content"], list)
            and any(b.get("type") == "tool_result" for b in m["content"])
            for m in messages[last + 1 :]
        )
        if answered and any(b.get("type") == "tool_use" for b in blocks):
            self.need(
                "thinking" in blocks[0].get("type"),
                f"messages.{last}",
                "a tool loop that does not begin with thinking",
            )


class Gemini(Check):
    PAYLOADS = "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult".split()

    def request(self, request):
        top = request.get("systemInstruction")
        if top is not None:
            self.need(top.get("parts"), "systemInstruction", "no parts")
            for part in top.get("parts") or []:
                self.need(
                    isinstance(part.get("text"), str) and part["text"].strip(),
                    "systemInstruction",
                    "blank",
                )
        contents = request.get("contents")
        if not self.need(
            isinstance(contents, list) and contents, "contents", "at least one is needed"
        ):
            return
        for i, content in enumerate(contents):
            self.content(content, f"contents[{i}]")
        self.pairs(contents)
        if self.rules.get("signatures"):
            self.signatures(contents)

    def content(self, content, at):
        self.keys(content, "role parts", at)
        role = content.get("role", "user")
        self.need(role in ("user", "model"), at, f"role {role}")
        parts = content.get("parts")
        if not self.need(isinstance(parts, list) and parts, at, "no parts"):
            return
        for k, part in enumerate(parts):
            self.part(part, role, f"{at}.parts[{k}]")

    def part(self, part, role, at):
        payloads = [name for name in self.PAYLOADS if name in part]
        self.keys(part, " ".join(self.PAYLOADS) + " thought thoughtSignature", at)
        if not self.need(len(payloads) == 1, at, f"holds {payloads}"):
            return
        if "text" in part:
            self.need(
                self.text(part["text"], at)
                and (part["text"].strip() or part.get("thoughtSignature")),
                at,
                "blank text",
            )
        for name, owner in (("functionCall", "model"), ("functionResponse", "user")):
            if name in part:
                self.need(role == owner, at, f"{name} of {role}")
                self.keys(
                    part[name], "id name args" if owner == "model" else "id name response parts", at
                )
                self.need(
                    re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}", str(part[name].get("name"))),
                    at,
                    f"name {part[name].get('name')}",
                )
                self.need(
                    isinstance(
                        part[name].get("args" if owner == "model" else "response", {}), dict
                    ),
                    at,
                    "no object",
                )
        for name, field in (("inlineData", "data"), ("fileData", "fileUri")):
            if name in part:
                self.keys(part[name], f"mimeType {field}", at)
                self.need(part[name].get(field), at, f"no {field}")

    def pairs(self, contents):
        self.need(
            contents[0].get("role", "user") == "user", "contents[0]", "the first is not the user's"
        )
        for i, content in enumerate(contents):
            at = f"contents[{i}]"
            calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
            responses = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
            before = contents[i - 1] if i else {"role": "user", "parts": []}
            if calls:
                self.need(
                    i and before.get("role", "user") == "user",
                    at,
                    "a call that follows neither a user nor a response",
                )
                after = contents[i + 1] if i + 1 < len(contents) else {"role": "none", "parts": []}
                answers = [p["functionResponse"] for p in after["parts"] if "functionResponse" in p]
                self.need(
                    after.get("role", "user") == "user" and len(answers) == len(calls),
                    at,
                    f"{len(calls)} calls, {len(answers)} responses",
                )
                names = (
                    sorted(c.get("name") or "" for c in calls),
                    sorted(a.get("name") or "" for a in answers),
                )
                self.need(names[0] == names[1], at, f"calls {names[0]}, responses {names[1]}")
                ids = {
                    c["id"]: c["name"] for c in calls if c.get("id")
                }  # a response may go without
                for answer in answers:
                    self.need(
                        not answer.get("id") or ids.get(answer["id"]) == answer["name"],
                        at,
                        f"no call {answer.get('id')} of {answer['name']}",
                    )
            if responses:
                self.need(
                    any("functionCall" in p for p in before["parts"]),
                    at,
                    "a response that follows no call",
                )

    def signatures(self, contents):
        begin = 0
        for i, content in enumerate(contents):
            if content.get("role", "user") == "user" and any(
                "functionResponse" not in p for p in content["parts"]
            ):
                begin = i + 1
        for i in range(begin, len(contents)):
            calls = [p for p in contents[i]["parts"] if "functionCall" in p]
            self.need(
                not calls or calls[0].get("thoughtSignature"),
                f"contents[{i}]",
                "a call without thought signature",
            )
