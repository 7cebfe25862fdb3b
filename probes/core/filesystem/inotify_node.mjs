// A new file in a directory is told to whoever watches it, by Node.
import { mkdirSync, rmSync, watch, writeFileSync } from "node:fs";

import { Blocked, main, scratch } from "../../_runner.mjs";

const CAPABILITY = "filesystem_inotify";

main(CAPABILITY, async () => {
  const directory = scratch("watched");
  mkdirSync(directory);
  try {
    const watcher = watch(directory);
    const told = new Promise((done) => watcher.on("change", (kind, name) => done(name)));
    writeFileSync(`${directory}/new`, "");
    const late = new Promise((done) => setTimeout(done, 5000, null));
    if ((await Promise.race([told, late])) !== "new") throw new Blocked("no word of the new file");
  } finally {
    rmSync(directory, { recursive: true });
  }
  return "told of a new file";
});
