// A file can have two names, by Node.
import { linkSync, statSync, unlinkSync, writeFileSync } from "node:fs";

import { main, scratch } from "../../_runner.mjs";

const CAPABILITY = "filesystem_hard_link";

main(CAPABILITY, () => {
  const first = scratch("first");
  writeFileSync(first, "", { flag: "wx" });
  linkSync(first, `${first}-second`);
  const links = statSync(first).nlink;
  unlinkSync(`${first}-second`);
  unlinkSync(first);
  if (links !== 2) throw new Error(`${links} names`);
  return "linked a file";
});
