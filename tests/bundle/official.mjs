// Reads a signed bundle as the official tool does: official.mjs PACKAGE-FOLDER FILE NAME
// The first certificate must be the one of NAME, and the content's hash the one that is signed.
import assert from "node:assert";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
const [packages, file, name] = process.argv.slice(2);
const forge = createRequire(join(packages, "package.json"))("node-forge");
const tool = join(packages, "node_modules/@anthropic-ai/mcpb/dist/node/sign.js");
const { extractSignatureBlock } = await import(pathToFileURL(tool));

const { originalContent, pkcs7Signature } = extractSignatureBlock(readFileSync(file));
const message = forge.pkcs7.messageFromAsn1(forge.asn1.fromDer(pkcs7Signature.toString("binary")));
assert.equal(message.type, forge.pki.oids.signedData);
assert.equal(message.certificates[0].subject.getField("CN").value, name);
const signed = message.rawCapture.signerInfos[0].value[3].value
  .map(({ value: [type, values] }) => [forge.asn1.derToOid(type.value), values.value[0].value])
  .find(([type]) => type === forge.pki.oids.messageDigest);
assert.equal(Buffer.from(signed[1], "binary").toString("hex"), createHash("sha256").update(originalContent).digest("hex"));
