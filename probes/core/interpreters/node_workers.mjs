// Node runs code in threads of its own (worker_threads), with memory shared between them.
import { Worker } from "node:worker_threads";

import { main } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_workers";

main(CAPABILITY, async () => {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const code = `Atomics.add(require("node:worker_threads").workerData, 0, 42);`;
  const worker = new Worker(code, { eval: true, workerData: shared });
  await new Promise((done, failed) => worker.on("exit", done).on("error", failed));
  if (shared[0] !== 42) throw new Error("the worker wrote nothing");
  return "a worker wrote to shared memory";
});
