// Node hashes, encrypts and compresses.
import { createCipheriv, createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

import { main } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_crypto";

main(CAPABILITY, () => {
  const hash = createHash("sha256").update("").digest("hex");
  if (!hash.startsWith("e3b0c442")) throw new Error("sha256");
  createCipheriv("aes-256-gcm", randomBytes(32), randomBytes(12)).update("x");
  generateKeyPairSync("ed25519");
  if (gunzipSync(gzipSync("x")).toString() !== "x") throw new Error("gzip");
  return "sha256, aes-256-gcm, ed25519 and gzip work";
});
