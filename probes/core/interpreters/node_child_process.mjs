// Node starts programs and reads what they write.
import { execFileSync, spawn } from "node:child_process";

import { main } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_child_process";

main(CAPABILITY, async () => {
  if (execFileSync("echo", ["hello"]).toString() !== "hello\n") throw new Error("echo");
  const child = spawn("sh", ["-c", "read word; exit $word"], { stdio: ["pipe", 2, 2] });
  child.stdin.end("7\n");
  const code = await new Promise((done, failed) => child.on("exit", done).on("error", failed));
  if (code !== 7) throw new Error(`exit code ${code}`);
  return "echo and sh answered";
});
