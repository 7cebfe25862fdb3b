// Node serves and asks over HTTP on the loopback.
import { createServer } from "node:http";

import { main } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_http";

main(CAPABILITY, async () => {
  const server = createServer((request, response) => response.end("hello"));
  await new Promise((done, failed) => server.listen(0, "127.0.0.1", done).on("error", failed));
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  if ((await answer.text()) !== "hello") throw new Error("another answer");
  server.close();
  return "HTTP on 127.0.0.1";
});
