// How a client starts the server of a bundle, as JSON: config.mjs NODE_MODULES PLATFORM FOLDER MANIFEST
// The setting is left blank, so its reference stays as it is.
import { readFileSync } from "node:fs";

const [modules, platform, folder, manifestPath] = process.argv.slice(2);
const { getMcpConfigForManifest } = await import(`${modules}/@anthropic-ai/mcpb/dist/index.js`);

Object.defineProperty(process, "platform", { value: platform });
const config = await getMcpConfigForManifest({
  manifest: JSON.parse(readFileSync(manifestPath, "utf8")),
  extensionPath: folder,
  systemDirs: {},
  userConfig: {},
  pathSeparator: platform === "win32" ? "\\" : "/",
});
console.log(JSON.stringify(config));
