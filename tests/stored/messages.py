"""Messages with tool calls in every form that programs store them, known to the engine or not: what belongs
together has to be found out, and stores have to keep what was found."""

import json


def function_call(call, name="read", arguments='{"path":"a.txt"}'):
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call, text="done"):
    return {"role": "tool", "toolCallId": call, "content": text}


def known_forms(p):
    """{form: messages}; ids begin with p."""
    assistant = {"role": "assistant"}
    use = {"type": "tool_use", "id": f"{p}use", "name": "grep", "input": {"q": "x"}}
    return {
        "toolCalls": [
            {**assistant, "content": None, "toolCalls": [function_call(f"{p}a")]},
            result(f"{p}a"),
        ],
        "tool_calls": [
            {**assistant, "content": "looking", "tool_calls": [function_call(f"{p}b")]},
            {"role": "tool", "tool_call_id": f"{p}b", "content": "found"},
        ],
        "parts": [
            {**assistant, "content": [{"type": "text", "text": "use"}, use]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"{p}use", "content": "grep says"}
                ],
            },
        ],
        "nested parts": [
            {
                **assistant,
                "content": [
                    {"type": "tool_use", "tool_use": {"id": f"{p}n", "name": "ls", "input": {}}}
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_result": {"tool_use_id": f"{p}n", "content": "a b c"},
                    }
                ],
            },
        ],
        "parallel calls": [
            {
                **assistant,
                "content": "both",
                "toolCalls": [function_call(f"{p}p1"), function_call(f"{p}p2", "write")],
            },
            result(f"{p}p2", "second first"),
            result(f"{p}p1", "first second"),
        ],
        "results in one turn": [
            {**assistant, "content": [{**use, "id": f"{p}t1"}, {**use, "id": f"{p}t2"}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"{p}t1",
                        "content": [{"type": "text", "text": "one"}],
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": f"{p}t2",
                        "content": "two",
                        "is_error": True,
                    },
                ],
            },
        ],
        "an id used again": [
            {**assistant, "content": "1st", "toolCalls": [function_call(f"{p}again")]},
            result(f"{p}again", "of the 1st"),
            {**assistant, "content": "2nd", "toolCalls": [function_call(f"{p}again")]},
            result(f"{p}again", "of the 2nd"),
        ],
        "a result before its call": [
            result(f"{p}early", "early"),
            {**assistant, "content": "late", "toolCalls": [function_call(f"{p}early")]},
        ],
        "a call told twice": [
            {
                **assistant,
                "content": [{**use, "id": f"{p}twice"}],
                "toolCalls": [function_call(f"{p}twice", "grep")],
            },
            result(f"{p}twice"),
        ],
        "a call listed twice": [
            {
                **assistant,
                "content": "x",
                "toolCalls": [function_call(f"{p}list"), function_call(f"{p}list")],
            },
            result(f"{p}list"),
        ],
        "a part and a list": [
            {
                **assistant,
                "content": [{**use, "id": f"{p}part"}],
                "toolCalls": [function_call(f"{p}listed")],
            },
            result(f"{p}listed"),
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"{p}part", "content": "p"}],
            },
        ],
        "an empty list beside": [
            {
                **assistant,
                "content": "y",
                "toolCalls": [],
                "tool_calls": [function_call(f"{p}beside")],
            },
            {"role": "tool", "tool_call_id": f"{p}beside", "content": "z"},
        ],
        "no arguments": [
            {
                **assistant,
                "content": None,
                "toolCalls": [{"id": f"{p}none", "name": "now", "arguments": ""}],
            },
            result(f"{p}none", "12:00"),
        ],
        "input and args": [
            {
                **assistant,
                "content": None,
                "toolCalls": [{"id": f"{p}two", "name": "f", "input": {"a": 1}, "args": {"b": 2}}],
            },
            result(f"{p}two"),
        ],
        "thinking between calls": [
            {
                **assistant,
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {**use, "id": f"{p}think"},
                ],
            },
            result(f"{p}think"),
            {
                **assistant,
                "content": [
                    {"type": "thinking", "thinking": "so", "signature": "sig2"},
                    {"type": "text", "text": "done"},
                ],
            },
        ],
        "an unanswered call": [
            {**assistant, "content": "waiting", "toolCalls": [function_call(f"{p}open")]}
        ],
        "an orphan result": [result(f"{p}nobody", "of nothing")],
        "ids that are none": [
            {**assistant, "content": "q", "toolCalls": None},
            {"role": "tool", "toolCallId": None, "content": "w"},
        ],
    }


def responses_request():
    """Items of the OpenAI Responses API, most of which are opaque to the engine."""
    return {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Fix the build"},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "look first"}],
                "encrypted_content": "enc1",
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_f1",
                "name": "read",
                "arguments": '{"path":"Makefile"}',
            },
            {
                "type": "function_call",
                "id": "fc_2",
                "call_id": "call_f2",
                "name": "read",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": "call_f1", "output": "all: x"},
            {
                "type": "function_call_output",
                "call_id": "call_f2",
                "output": [{"type": "input_text", "text": "parts"}],
            },
            {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "enc2"},
            {
                "type": "shell_call",
                "id": "sh_1",
                "call_id": "call_s1",
                "action": {"commands": ["make"], "timeout_ms": 1000},
                "status": "completed",
            },
            {
                "type": "shell_call_output",
                "call_id": "call_s1",
                "output": [
                    {
                        "stdout": "",
                        "stderr": "error: no x",
                        "outcome": {"type": "exit", "exit_code": 2},
                    }
                ],
            },
            {
                "type": "local_shell_call",
                "id": "ls_1",
                "call_id": "call_l1",
                "action": {"type": "exec", "command": ["ls"], "env": {}},
                "status": "completed",
            },
            {"type": "local_shell_call_output", "id": "ls_1", "output": "a b"},
            {
                "type": "apply_patch_call",
                "id": "ap_1",
                "call_id": "call_p1",
                "operation": {"type": "update_file", "path": "x", "diff": "+1"},
                "status": "completed",
            },
            {
                "type": "apply_patch_call_output",
                "call_id": "call_p1",
                "status": "completed",
                "output": "patched",
            },
            {
                "type": "computer_call",
                "id": "cu_1",
                "call_id": "call_c1",
                "action": {"type": "screenshot"},
                "pending_safety_checks": [],
                "status": "completed",
            },
            {
                "type": "computer_call_output",
                "call_id": "call_c1",
                "output": {"type": "computer_screenshot", "image_url": "https://example.com/s.png"},
            },
            {
                "type": "custom_tool_call",
                "id": "ct_1",
                "call_id": "call_t1",
                "name": "sql",
                "input": "select 1",
            },
            {"type": "custom_tool_call_output", "call_id": "call_t1", "output": "1"},
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "make error"},
            },
            {
                "type": "file_search_call",
                "id": "fs_1",
                "status": "completed",
                "queries": ["x"],
                "results": None,
            },
            {
                "type": "code_interpreter_call",
                "id": "ci_1",
                "status": "completed",
                "code": "1+1",
                "container_id": "c",
                "outputs": [{"type": "logs", "logs": "2"}],
            },
            {
                "type": "image_generation_call",
                "id": "ig_1",
                "status": "completed",
                "result": "aGk=",
            },
            {"type": "mcp_list_tools", "id": "ml_1", "server_label": "s", "tools": []},
            {
                "type": "mcp_approval_request",
                "id": "ma_1",
                "server_label": "s",
                "name": "n",
                "arguments": "{}",
            },
            {"type": "mcp_approval_response", "approval_request_id": "ma_1", "approve": True},
            {
                "type": "mcp_call",
                "id": "mc_1",
                "server_label": "s",
                "name": "n",
                "arguments": "{}",
                "output": "mcp says",
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Fixed.", "annotations": []}],
            },
            {"role": "user", "content": [{"type": "input_text", "text": "And now the tests"}]},
            {"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": "enc3"},
            {
                "type": "shell_call",
                "id": "sh_2",
                "call_id": "call_s2",
                "action": {"commands": ["make test"]},
                "status": "completed",
            },
            {
                "type": "shell_call_output",
                "call_id": "call_s2",
                "output": [
                    {"stdout": "ok", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
                ],
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "They pass."}],
            },
        ],
    }


def anthropic_request():
    return {
        "model": "claude",
        "max_tokens": 10,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Search, please"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "search", "signature": "s1"},
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_1",
                        "name": "web_search",
                        "input": {"query": "q"},
                    },
                    {
                        "type": "web_search_tool_result",
                        "tool_use_id": "srvtoolu_1",
                        "content": [
                            {
                                "type": "web_search_result",
                                "url": "https://e.com",
                                "title": "t",
                                "encrypted_content": "e",
                            }
                        ],
                    },
                    {"type": "text", "text": "found"},
                ],
            },
            {"role": "user", "content": "Run it"},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "server_tool_use",
                        "id": "srvtoolu_2",
                        "name": "bash_code_execution",
                        "input": {"command": "ls"},
                    },
                    {
                        "type": "bash_code_execution_tool_result",
                        "tool_use_id": "srvtoolu_2",
                        "content": {
                            "type": "bash_code_execution_result",
                            "stdout": "a",
                            "stderr": "",
                            "return_code": 0,
                            "content": [],
                        },
                    },
                ],
            },
            {"role": "user", "content": "And the file"},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "mcp_tool_use",
                        "id": "mcptoolu_1",
                        "name": "echo",
                        "server_name": "s",
                        "input": {},
                    },
                    {
                        "type": "mcp_tool_result",
                        "tool_use_id": "mcptoolu_1",
                        "is_error": False,
                        "content": [{"type": "text", "text": "hi"}],
                    },
                    {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "file"}],
                    },
                    {"type": "text", "text": "go on"},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "redacted_thinking", "data": "xx"},
                    {"type": "text", "text": "Read."},
                ],
            },
        ],
    }


def gemini_request():
    return {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Compute"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "thinking", "thought": True},
                    {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                    {"text": "It is 1"},
                ],
            },
            {"role": "user", "parts": [{"text": "Look it up"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "lookup", "args": {"q": "a"}},
                        "thoughtSignature": "c2ln",
                    },
                    {"functionCall": {"id": "g2", "name": "lookup", "args": {"q": "b"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "lookup", "response": {"result": "A"}}},
                    {
                        "functionResponse": {
                            "id": "g2",
                            "name": "lookup",
                            "response": {"result": "B"},
                        }
                    },
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "A and B"},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                ],
            },
        ],
    }


def chat_request():
    return {
        "model": "gpt-4o",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": "Weather?", "name": "ann"},
            {
                "role": "assistant",
                "tool_calls": [
                    function_call("call_w1", "weather"),
                    {
                        "id": "call_w2",
                        "type": "custom",
                        "custom": {"name": "sql", "input": "select 2"},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "call_w1", "content": "sunny"},
            {"role": "tool", "tool_call_id": "call_w2", "content": [{"type": "text", "text": "2"}]},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "old", "arguments": "{}"},
            },
            {"role": "function", "name": "old", "content": "old result"},
            {
                "role": "assistant",
                "content": "Sunny.",
                "reasoning_content": "warm",
                "refusal": None,
            },
        ],
    }


def python_agents():
    """As the session of the OpenAI Agents SDK in Python stores items: what the engine has no word for is in
    `openaiItem`, whole items in its `item`."""

    def whole(item, content):
        return {"role": "assistant", "content": content, "openaiItem": {"item": item}}

    call = {
        "type": "shell_call",
        "call_id": "py_s1",
        "action": {"commands": ["make"]},
        "status": "completed",
    }
    output = {
        "type": "shell_call_output",
        "call_id": "py_s1",
        "output": [{"stdout": "built", "stderr": ""}],
    }
    return [
        {"role": "user", "content": "Build it"},
        whole(
            {
                "type": "reasoning",
                "id": "rs_py",
                "summary": [{"type": "summary_text", "text": "build first"}],
            },
            "build first",
        ),
        {
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "py_f1", "name": "read", "arguments": "{}"}],
            "openaiItem": {"call": {"type": "function_call", "id": "fc_py", "status": "completed"}},
        },
        {
            "role": "tool",
            "toolCallId": "py_f1",
            "content": "text",
            "openaiItem": {"output": {"type": "function_call_output"}},
        },
        whole(call, "shell_call"),
        whole(output, json.dumps(output["output"])),
        whole(
            {
                "type": "apply_patch_call",
                "call_id": "py_p1",
                "operation": {"type": "delete_file", "path": "x"},
            },
            "apply_patch_call",
        ),
        whole(
            {
                "type": "apply_patch_call_output",
                "call_id": "py_p1",
                "status": "completed",
                "output": "deleted",
            },
            "deleted",
        ),
        whole(
            {
                "type": "computer_call",
                "call_id": "py_c1",
                "action": {"type": "click", "x": 1, "y": 2},
            },
            "computer_call",
        ),
        whole(
            {
                "type": "computer_call_output",
                "call_id": "py_c1",
                "output": {"type": "computer_screenshot", "image_url": "data:,"},
            },
            "computer_call_output",
        ),
        whole(
            {
                "type": "local_shell_call",
                "call_id": "py_l1",
                "action": {"type": "exec", "command": ["ls"]},
            },
            "local_shell_call",
        ),
        whole({"type": "local_shell_call_output", "call_id": "py_l1", "output": "a"}, "a"),
        whole(
            {"type": "mcp_call", "id": "mc_py", "name": "n", "arguments": "{}", "output": "out"},
            "out",
        ),
        {
            "type": "message",
            "role": "assistant",
            "id": "msg_py",
            "status": "completed",
            "content": [{"type": "text", "text": "Built.", "annotations": []}],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "More."}],
            "openaiItem": {"message": {"type": "message", "extra": 1}},
        },
    ]


def node_agents():
    """As the session of the OpenAI Agents SDK in Node stores items: in `foreign`, without what is shown."""

    def foreign(item, **shown):
        return {**shown, "foreign": {"kind": "openai-agents", "item": item}}

    def call(kind, call_id, **rest):
        item = {"type": kind, "callId": call_id, **rest}
        arguments = rest.get("arguments") or json.dumps(rest.get("action") or rest.get("operation"))
        return foreign(
            item,
            role="assistant",
            content=None,
            toolCalls=[function_call(call_id, rest.get("name", kind), arguments)],
        )

    def moved(kind, home, item, **shown):
        return {**shown, "foreign": {"kind": "openai-agents", "item": item, "home": home, **kind}}

    item = {
        "type": "hosted_tool_call",
        "name": "web_search_call",
        "id": "ws_node",
        "status": "completed",
    }
    return [
        moved({}, ["content"], {"role": "user", "content": None}, role="user", content="Build it"),
        moved(
            {"strange": ["reasoning"]},
            [],
            None,
            role="assistant",
            content=[
                {
                    "type": "reasoning",
                    "id": "rs_node",
                    "content": [{"type": "input_text", "text": "hm"}],
                }
            ],
            id="rs_node",
        ),
        moved(
            {},
            ["rawContent"],
            {"type": "reasoning", "content": [], "rawContent": None},
            role="assistant",
            content=[{"type": "reasoning_text", "text": "raw thought"}],
        ),
        call("function_call", "no_f1", name="read", arguments="{}", status="completed"),
        moved(
            {},
            ["output", "text"],
            {
                "type": "function_call_result",
                "callId": "no_f1",
                "name": "read",
                "status": "completed",
                "output": {"type": "text", "text": None},
            },
            role="tool",
            content="text",
            name="read",
            toolCallId="no_f1",
        ),
        call("shell_call", "no_s1", action={"commands": ["make"]}),
        moved(
            {},
            ["output"],
            {"type": "shell_call_output", "callId": "no_s1", "output": None},
            role="tool",
            content=[{"stdout": "built", "stderr": "", "type": "x"}],
            toolCallId="no_s1",
        ),
        call(
            "apply_patch_call",
            "no_p1",
            operation={"type": "delete_file", "path": "x"},
            status="completed",
        ),
        moved(
            {},
            ["output"],
            {
                "type": "apply_patch_call_output",
                "callId": "no_p1",
                "status": "completed",
                "output": None,
            },
            role="tool",
            content="deleted",
            toolCallId="no_p1",
        ),
        call("computer_call", "no_c1", action={"type": "screenshot"}, status="completed"),
        foreign(
            {
                "type": "computer_call_result",
                "callId": "no_c1",
                "output": {"type": "computer_screenshot", "data": "data:,"},
            },
            role="tool",
            content='{"type":"computer_screenshot","data":"data:,"}',
            toolCallId="no_c1",
        ),
        moved({"strange": ["hosted_tool_call"]}, [], None, role="assistant", content=[item]),
        moved(
            {},
            ["content"],
            {"type": "message", "role": "assistant", "status": "completed", "content": None},
            role="assistant",
            content=[{"type": "output_text", "text": "Built."}],
        ),
    ]
