// A file can be made, read back and removed in the temporary directory, by Node.
import { readFileSync, unlinkSync, writeFileSync } from "node:fs";

import { main, scratch } from "../../_runner.mjs";

const CAPABILITY = "filesystem_tmp_write";

main(CAPABILITY, () => {
  const path = scratch("tmp-write");
  writeFileSync(path, "capability", { flag: "wx" });
  if (readFileSync(path, "utf8") !== "capability") throw new Error("read back something else");
  unlinkSync(path);
  return `wrote and removed ${path}`;
});
