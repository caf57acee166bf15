"""Starts a server as Claude Desktop does and uses it: client.py CONFIG MANIFEST CATALOG [WRAPPER…]

CONFIG is what config.mjs prints. The working folder is / and there are few variables.
"""

import json
import os
import queue
import subprocess
import sys
import threading

config, manifest, catalog, *wrapper = sys.argv[1:]
config = json.loads(config)
with open(manifest, encoding="utf-8") as file:
    manifest = json.load(file)

environment = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
environment |= config["env"]
environment["TABLECLOTH_CATALOG_URL"] = catalog
if wrapper:
    # Wine reads arguments in the locale's encoding, and keeps its things in the folder where it is started.
    environment["LC_ALL"] = "C.UTF-8"
    environment |= {name: value for name, value in os.environ.items() if name.startswith("WINE")}
assert config["env"]["TABLECLOTH_WSB_RUNNER"] == "${user_config.runner}", config

server = subprocess.Popen(
    [*wrapper, config["command"], *config["args"]],
    cwd=None if wrapper else "/",
    env=environment,
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
)
lines = queue.Queue()
threading.Thread(target=lambda: [lines.put(line) for line in server.stdout] + [lines.put(None)], daemon=True).start()


def send(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
    server.stdin.flush()


def ask(number, method, params):
    send({"id": number, "method": method, "params": params})
    line = lines.get(timeout=120)
    assert line, f"the server ended before it answered {method}"
    answer = json.loads(line)
    assert answer["id"] == number and "result" in answer, answer
    return answer["result"]


try:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bundle", "version": "1"}}
    info = ask(1, "initialize", client)["serverInfo"]
    assert (info["name"], info["version"]) == (manifest["name"], manifest["version"]), info
    send({"method": "notifications/initialized"})

    tools = ask(2, "tools/list", {})["tools"]
    listed = [{"name": tool["name"], "description": tool["description"]} for tool in tools]
    assert listed == manifest["tools"], "the manifest's tools are not those of the server"

    search = {"name": "search_services", "arguments": {"query": "홈택스"}}
    found = ask(3, "tools/call", search)["structuredContent"]
    assert "Hometax" in [result["id"] for result in found["results"]], found
    assert "catalogNotice" not in found, found

    server.stdin.close()
    assert lines.get(timeout=30) is None
    assert server.wait(timeout=30) == 0, server.returncode
finally:
    server.kill()
