#!/usr/bin/env node
// Build and search a word index over text files; worker threads read, a child process sorts.
import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const WORD = /[\p{L}\p{N}]{2,}/gu;

async function count(paths) {
  const found = {};
  for (const path of paths) {
    const words = (await readFile(path, "utf8")).toLowerCase().match(WORD) ?? [];
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    found[path] = [...counts];
  }
  return found;
}

async function* filesBelow(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else if (entry.isFile()) yield path;
  }
}

function inWorker(paths) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: paths });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

function sorted(lines) {
  return new Promise((resolve, reject) => {
    const child = spawn("sort", ["-u"], { env: { ...process.env, LC_ALL: "C" } });
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(out.split("\n").filter(Boolean)) : reject(new Error(`sort: ${code}`)),
    );
    child.stdin.end(lines.join("\n") + "\n");
  });
}

async function build(folder, out, workers) {
  const paths = [];
  for await (const path of filesBelow(folder)) paths.push(path);
  paths.sort();
  const shares = Array.from({ length: Math.max(1, Math.min(workers, paths.length)) }, () => []);
  paths.forEach((path, i) => shares[i % shares.length].push(path));
  const counted = Object.assign({}, ...(await Promise.all(shares.map(inWorker))));
  const words = new Map();
  for (const path of paths)
    for (const [word, times] of counted[path]) {
      if (!words.has(word)) words.set(word, {});
      words.get(word)[relative(folder, path)] = times;
    }
  const index = {};
  for (const word of await sorted([...words.keys()])) index[word] = words.get(word);
  await writeFile(out, JSON.stringify({ files: paths.length, words: index }, null, 1) + "\n");
  console.log(`${paths.length} files, ${words.size} words → ${out}`);
}

async function search(path, query) {
  const { words } = JSON.parse(await readFile(path, "utf8"));
  const wanted = query.toLowerCase().match(WORD) ?? [];
  const lists = wanted.map((word) => (Object.hasOwn(words, word) ? words[word] : {}));
  const hits = Object.keys(lists[0] ?? {})
    .filter((file) => lists.every((list) => file in list))
    .map((file) => [file, lists.reduce((sum, list) => sum + list[file], 0)])
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  for (const [file, score] of hits) console.log(`${score}\t${file}`);
  return hits.length ? 0 : 1;
}

function option(args, name, fallback) {
  const at = args.indexOf(name);
  return at < 0 ? fallback : args.splice(at, 2)[1];
}

async function main(args) {
  const out = option(args, "--out", "index.json");
  const workers = Number(option(args, "--workers", "2"));
  const [command, ...rest] = args;
  if (command === "build" && rest.length === 1) return (await build(rest[0], out, workers)) ?? 0;
  if (command === "search" && rest.length === 2) return search(rest[0], rest[1]);
  console.error("usage: index.mjs build DIR [--out FILE] [--workers N] | search FILE WORDS");
  return 2;
}

if (isMainThread) {
  main(process.argv.slice(2)).then(
    (code) => (process.exitCode = code),
    (error) => {
      console.error(error.message);
      process.exitCode = 1;
    },
  );
} else {
  parentPort.postMessage(await count(workerData));
}
