// MCP Inspector, command line mode: inspector.mjs FOLDER SERVER
// It starts a server for each request and shows no handshake, so its session has no protocol, instructions or time of closing.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [folder, server] = process.argv.slice(2);
const { calls } = JSON.parse(readFileSync(new URL("expect.json", import.meta.url), "utf8"));

function request(...args) {
  const { status, stdout, stderr } = spawnSync(`${folder}/node_modules/.bin/mcp-inspector`, ["--cli", server, "--method", ...args], { encoding: "utf8" });
  return status === 0 ? JSON.parse(stdout) : { error: stderr.trim() };
}

const toolArg = ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
const answers = calls.map((call) => {
  const args = Object.entries(call.arguments).map(toolArg);
  return request("tools/call", "--tool-name", call.tool, ...(args.length ? ["--tool-arg", ...args] : []));
});
const { tools, error } = request("tools/list");
if (error) throw new Error(error);
console.log(JSON.stringify([{ tools, answers }]));
