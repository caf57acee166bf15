// Unpacks a bundle as Claude Desktop does, every file with mode 0600: unpack.mjs NODE_MODULES BUNDLE FOLDER
import { createRequire } from "node:module";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";

const [modules, bundle, folder] = process.argv.slice(2);
const yauzl = createRequire(`${modules}/`)("yauzl");

const zip = await yauzl.openPromise(bundle, { strictFileNames: true });
let count = 0;
for await (const entry of zip.eachEntry()) {
  const path = join(folder, entry.fileName);
  mkdirSync(dirname(path), { recursive: true });
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { mode: 0o600 }));
  count += 1;
}
console.log(`${count} files`);
