// Both TypeScript SDKs: typescript.mjs FOLDER SERVER v1|v2
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const sdks = {
  v1: { client: "@modelcontextprotocol/sdk/client/index.js", stdio: "@modelcontextprotocol/sdk/client/stdio.js", options: [{}] },
  // By default v2 opens with initialize as v1 does; server/discover has to be asked for.
  v2: { client: "@modelcontextprotocol/client", stdio: "@modelcontextprotocol/client/stdio", options: [{}, { versionNegotiation: { mode: "auto" } }] },
};

const [folder, server, version] = process.argv.slice(2);
const { calls } = JSON.parse(readFileSync(new URL("expect.json", import.meta.url), "utf8"));
const sdk = sdks[version];
const load = createRequire(`${folder}/`); // the packages lie where a plain import does not look
const { Client } = load(sdk.client);
const { StdioClientTransport } = load(sdk.stdio);

async function session(options) {
  const client = new Client({ name: "tests-clients", version: "1.0.0" }, options);
  const transport = new StdioClientTransport({ command: server });
  let protocol;
  transport.setProtocolVersion = (agreed) => (protocol = agreed); // how v1 tells; v2 has a getter
  await client.connect(transport);
  protocol = client.getNegotiatedProtocolVersion?.() ?? protocol;
  const { tools } = await client.listTools();
  const answers = [];
  for (const call of calls) {
    answers.push(await client.callTool({ name: call.tool, arguments: call.arguments }).catch((error) => ({ error: error.message })));
  }
  const seen = { protocol, server: client.getServerVersion()?.name, instructions: client.getInstructions(), tools, answers };
  const start = performance.now();
  await client.close();
  return { ...seen, secondsToClose: (performance.now() - start) / 1000 };
}

const sessions = [];
for (const options of sdk.options) sessions.push(await session(options));
console.log(JSON.stringify(sessions));
