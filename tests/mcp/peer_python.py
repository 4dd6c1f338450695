"""Run by clients.py with the official client for Python: lists and calls what it is told to, and prints what came back as one line of JSON.

peer_python.py MODE TARGET CALLS    MODE: legacy, auto or a revision. TARGET and CALLS are JSON: {"url":…,"token":…} or {"command":[…],"cwd":…}
"""

import asyncio
import contextlib
import json
import sys

import httpx2 as httpx
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


@contextlib.asynccontextmanager
async def transport(target):
    if "url" in target:
        async with httpx.AsyncClient(
            headers={"Authorization": f"Bearer {target['token']}"}, timeout=60
        ) as http:
            yield streamable_http_client(target["url"], http_client=http)
    else:
        yield StdioServerParameters(
            command=target["command"][0],
            args=target["command"][1:],
            cwd=target["cwd"],
            env=target["env"],
        )


async def main(mode, target, calls):
    async with transport(target) as server, Client(server, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        texts = []
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            texts.append([result.is_error, result.content[0].text])
        resources = [str(resource.uri) for resource in (await client.list_resources()).resources]
        templates = [
            template.uri_template
            for template in (await client.list_resource_templates()).resource_templates
        ]
        read = (await client.read_resource(resources[0])).contents[0].text
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": tools,
                    "calls": texts,
                    "resources": resources,
                    "templates": templates,
                    "read": read,
                }
            )
        )


asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])))
