// A program can be started and its output read, by Node.
import { execFileSync } from "node:child_process";

import { main } from "../../_runner.mjs";

const CAPABILITY = "process_spawn";

main(CAPABILITY, () => {
  if (execFileSync("/bin/echo", ["hello"]).toString() !== "hello\n") throw new Error("echo");
  return "echo said hello";
});
