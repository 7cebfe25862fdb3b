// A watched directory reports a new file, by Node.
import { mkdirSync, rmSync, watch, writeFileSync } from "node:fs";

import { Blocked, main, scratch } from "../../_runner.mjs";

const CAPABILITY = "filesystem_inotify";

main(CAPABILITY, async () => {
  const directory = scratch("watched");
  mkdirSync(directory);
  try {
    const watcher = watch(directory);
    const changed = new Promise((done) => watcher.on("change", (kind, name) => done(name)));
    writeFileSync(`${directory}/new`, "");
    const late = new Promise((done) => setTimeout(done, 5000, null));
    if ((await Promise.race([changed, late])) !== "new") throw new Blocked("the new file was not reported");
  } finally {
    rmSync(directory, { recursive: true });
  }
  return "a new file was reported";
});
