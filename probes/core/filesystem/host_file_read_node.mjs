// A file of the caller's that was never shared can be read, by Node.
import { readFileSync } from "node:fs";

import { main, witness } from "../../_runner.mjs";

const CAPABILITY = "filesystem_host_file_read";

main(CAPABILITY, () => {
  readFileSync(witness("FILE"));
  return "read a file outside the sandbox";
});
