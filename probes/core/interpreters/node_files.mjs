// Node reads, writes, watches and removes files asynchronously, on its pool of threads.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";

import { main, scratch } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_files";

main(CAPABILITY, async () => {
  const directory = scratch("files");
  await mkdir(`${directory}/inner`, { recursive: true });
  const names = Array.from({ length: 20 }, (_, number) => `${directory}/inner/${number}`);
  await Promise.all(names.map((name) => writeFile(name, name)));
  const texts = await Promise.all(names.map((name) => readFile(name, "utf8")));
  await rm(directory, { recursive: true });
  if (texts.some((text, number) => text !== names[number])) throw new Error("another text");
  return "20 files at once";
});
