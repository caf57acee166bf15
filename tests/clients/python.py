"""The official Python SDK and fastmcp: python.py SERVER mcp|fastmcp"""
import asyncio, json, pathlib, sys, time

server, sdk = sys.argv[1:]
calls = json.loads(pathlib.Path(__file__).with_name("expect.json").read_text("utf-8"))["calls"]

if sdk == "mcp":
    from mcp import Client, StdioServerParameters

    def transport():
        return StdioServerParameters(command=server)
else:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    def transport():
        return StdioTransport(server, [], keep_alive=False)  # by default the server outlives the session


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def answer(client, call):
    try:
        result = await client.call_tool(call["tool"], call["arguments"])
    except Exception as error:  # each SDK has its own kinds; the judge wants only to know that it was refused
        return {"error": str(error)}
    content = [plain(block) for block in result.content]
    return {"content": content, "structuredContent": result.structured_content, "isError": result.is_error}


async def session(mode):
    async with Client(transport(), mode=mode) as client:
        listed = await client.list_tools()
        tools = [plain(tool) for tool in getattr(listed, "tools", listed)]  # fastmcp gives the bare list
        answers = [await answer(client, call) for call in calls]
        seen = {"protocol": client.protocol_version, "server": client.server_info and client.server_info.name,
                "instructions": client.instructions, "tools": tools, "answers": answers}
        start = time.monotonic()
    return seen | {"secondsToClose": time.monotonic() - start}


async def main():
    # auto, the default, opens with server/discover; legacy with initialize
    print(json.dumps([await session(mode) for mode in ("auto", "legacy")]))

asyncio.run(main())
