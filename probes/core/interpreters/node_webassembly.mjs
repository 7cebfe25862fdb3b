// Node compiles and runs WebAssembly, which makes code at run time.
import { main } from "../../_runner.mjs";

const CAPABILITY = "interpreters_node_webassembly";

// (module (func (export "f") (result i32) i32.const 42))
const CODE = "0061736d010000000105016000017f03020100070501016600000a06010400412a0b";

main(CAPABILITY, async () => {
  const { instance } = await WebAssembly.instantiate(Buffer.from(CODE, "hex"));
  if (instance.exports.f() !== 42) throw new Error("another number");
  return "a function of WebAssembly gave 42";
});
