// A server and a client can talk over TCP on the loopback, by Node.
import { connect, createServer } from "node:net";

import { main } from "../../_runner.mjs";

const CAPABILITY = "network_loopback";

main(CAPABILITY, async () => {
  const server = createServer((socket) => socket.end("hello"));
  await new Promise((done, failed) => server.listen(0, "127.0.0.1", done).on("error", failed));
  const text = await new Promise((done, failed) => {
    const client = connect(server.address().port, "127.0.0.1");
    client.on("data", (data) => done(data.toString())).on("error", failed);
  });
  if (text !== "hello") throw new Error("another text");
  return "TCP on 127.0.0.1";
});
