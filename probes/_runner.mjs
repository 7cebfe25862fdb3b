// What a Node specimen needs: command line, observation, exit code. It needs no wardian.
//
// A specimen declares CAPABILITY and calls main(CAPABILITY, () => …), which may be async. Returning
// means allowed (the text is the detail); an error with a system code means blocked.
import { mkdirSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { dirname, resolve } from "node:path";

const DETAIL_SIZE = 500;

// The operation was refused in a way that no system error expresses; `code` is an errno's name.
export class Blocked extends Error {
  constructor(detail, code = null) {
    super(detail);
    this.code = code;
  }
}

// The question can't be put here.
export class Unavailable extends Error {}

// A path in the temporary directory that no other specimen uses; nothing is made there.
export function scratch(name = "probe") {
  return `${process.env.TMPDIR || "/tmp"}/wardian-${name}-${process.pid}`;
}

// What the harness placed on the host, outside the sandbox.
export function witness(name) {
  const value = process.env[`PROBE_HOST_${name}`];
  if (!value) throw new Unavailable(`PROBE_HOST_${name} is not set: \`wardian probe run\` sets it`);
  return value;
}

export async function main(capability, exercise) {
  const { output, id } = readArguments();
  const seen = await observe(exercise);
  const expected = process.env.PROBE_EXPECT === "blocked" ? "blocked" : "allowed";
  const status = classify(seen.observed, expected);
  const line = JSON.stringify({
    schema: "wardian.observation/1", id, capability, language: "node", observed: seen.observed,
    errno: seen.errno, detail: seen.detail.slice(0, DETAIL_SIZE), expected, status,
  });
  write(output, `${line}\n`);
  process.exit(status === "supported" || status === "blocked_expected" ? 0 : 1);
}

export async function observe(exercise) {
  try {
    return { observed: "allowed", errno: null, detail: String((await exercise()) ?? "") };
  } catch (error) {
    const detail = String(error?.message ?? error);
    if (error instanceof Unavailable) return { observed: "unavailable", errno: null, detail };
    const known = error?.code in constants.errno;
    if (error instanceof Blocked || known) {
      return { observed: "blocked", errno: known ? error.code : null, detail };
    }
    return { observed: "error", errno: null, detail: `${error?.name}: ${detail}` };
  }
}

export function classify(observed, expected) {
  if (observed === "allowed") return expected === "allowed" ? "supported" : "allowed_unexpected";
  if (observed === "blocked") return expected === "blocked" ? "blocked_expected" : "blocked_unexpected";
  return observed;
}

function readArguments() {
  const words = process.argv.slice(2);
  const named = process.env.PROBE_ID;
  let output = named ? `artifacts/${named}.json` : null;
  while (words.length > 0) {
    const word = words.shift();
    if (word.startsWith("--output=")) {
      output = word.slice("--output=".length);
    } else if (word === "--output" && words.length > 0) {
      output = words.shift();
    } else {
      process.stderr.write(`usage: ${process.argv[1]} [--output PATH]\n`);
      process.exit(2);
    }
  }
  const place = output === null || output === "-" ? null : resolve(output);
  return { output: place, id: named || idOfPath() };
}

function idOfPath() {
  const path = resolve(process.argv[1]).replace(/\.[^./]*$/, "");
  return path.replace(/^.*\/(core|fuzz)\//, "$1/").replaceAll("/", "__");
}

function write(output, text) {
  if (output === null) {
    writeSync(1, text);
    return;
  }
  mkdirSync(dirname(output), { recursive: true });
  const temporary = `${output}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, output);
}
