"""Holds a client's transcript (stdin) against expect.json and shared/strings.json: judge.py CLIENT PIDS

Prints a summary, or what is wrong and exits 1. PIDS lists the servers the client started. A transcript is a list of sessions:
{protocol, server, instructions, tools, answers, secondsToClose}, the answers in the order of the expected calls, each a tool result or
{error}. In expect.json `protocols` has each client's sessions (null: it does not show the handshake) and `answer` the part of an answer
that must be there.
"""
import json, os, pathlib, signal, subprocess, sys, time

here = pathlib.Path(__file__).parent
expect = json.loads((here / "expect.json").read_text("utf-8"))
strings = json.loads((here / "../../shared/strings.json").read_text("utf-8"))


def contains(actual, part):
    if isinstance(part, dict):
        return isinstance(actual, dict) and all(key in actual and contains(actual[key], part[key]) for key in part)
    if isinstance(part, list):
        return isinstance(actual, list) and len(actual) == len(part) and all(map(contains, actual, part))
    return actual == part


def tools_faults(tools):
    if sorted(tool["name"] for tool in tools) != sorted(expect["tools"]):
        yield f"tools are {[tool['name'] for tool in tools]}"
        return
    for tool in tools:
        wanted = expect["tools"][tool["name"]] | {"title": strings["tools"][tool["name"]]["title"]}
        if tool.get("annotations") != wanted or tool.get("title") != wanted["title"]:
            yield f"{tool['name']} has title {tool.get('title')!r} and annotations {tool.get('annotations')}"


def answer_faults(call, result):
    name = f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}"
    failed = "error" in result or result.get("isError", False)
    if "Connection closed" in result.get("error", ""):
        yield f"{name} ended the server"
    elif call.get("refused"):
        if not failed:
            yield f"{name} was not refused"
    elif failed:
        yield f"{name} failed: {result.get('error') or result['content']}"
    elif json.loads(result["content"][0]["text"]) != result.get("structuredContent"):
        yield f"{name}: text and structuredContent differ"
    elif not contains(result["structuredContent"], call["answer"]):
        yield f"{name} answered {json.dumps(result['structuredContent'], ensure_ascii=False)}"


def session_faults(protocol, session):
    if protocol:
        wanted = {"protocol": protocol, "server": expect["server"], "instructions": strings["server"]["instructions"]}
        for key, value in wanted.items():
            if session.get(key) != value:
                yield f"{key} is {session.get(key)!r}"
        # An SDK kills a server that stays, but not before this time is over.
        if session["secondsToClose"] >= expect["secondsToLeave"]:
            yield "the server does not leave when its input ends"
    yield from tools_faults(session["tools"])
    for call, result in zip(expect["calls"], session["answers"], strict=True):
        yield from answer_faults(call, result)


def alive(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return state.strip() and not state.startswith("Z")


def process_faults(pids):
    if not pids:
        yield "no server was started"
    deadline = time.monotonic() + expect["secondsToLeave"]
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        yield f"server {pid} was left behind"


client, pid_file = sys.argv[1:]
protocols = expect["protocols"][client]
faults = []
try:
    sessions = json.load(sys.stdin)
except ValueError:
    faults.append("the client broke off")
else:
    for number, (protocol, session) in enumerate(zip(protocols, sessions, strict=True), 1):
        faults += [f"session {number}: {fault}" for fault in session_faults(protocol, session)]
faults += process_faults([int(pid) for pid in pathlib.Path(pid_file).read_text().split()])
if faults:
    print("; ".join(faults))
    sys.exit(1)
spoken = " and ".join(filter(None, protocols))
print(f"{spoken and spoken + ', '}{len(expect['tools'])} tools, {len(expect['calls'])} calls")
