// Workers, children, watches, sockets, crypto, streams.
const { Worker } = require('worker_threads');
const { execSync, spawn, fork, execFileSync } = require('child_process');
const fs = require('fs'), net = require('net'), http = require('http'), os = require('os');
const path = require('path'), crypto = require('crypto'), zlib = require('zlib'), dns = require('dns');

if (process.argv[2] === 'child') {
  process.on('message', (m) => { process.send(m * 2); process.disconnect(); });
} else {
  main().then(() => console.log('done'), (e) => { console.log('FAILED', e.message); process.exit(1); });
}

function once(emitter, event) {
  return new Promise((resolve, reject) => { emitter.once(event, resolve); emitter.once('error', reject); });
}

async function main() {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const workers = [1, 2, 3, 4].map((n) => new Worker(
    'const {workerData: d} = require("worker_threads"); for (let i = 0; i < 1000; i++) Atomics.add(d, 0, 1)',
    { eval: true, workerData: shared }));
  await Promise.all(workers.map((w) => once(w, 'exit')));
  console.log('workers', shared[0]);
  console.log('execSync', execSync('echo $((6*7))').toString().trim(), execFileSync('uname').toString().trim());
  const child = spawn('cat'); let out = ''; child.stdout.on('data', (d) => { out += d; });
  child.stdin.end('through a pipe'); await once(child, 'close'); console.log('spawn', out);
  const forked = fork(__filename, ['child']); forked.send(21);
  console.log('fork', await once(forked, 'message'));
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'n-'));
  const watcher = fs.watch(dir); const change = once(watcher, 'change');
  fs.writeFileSync(path.join(dir, 'f'), 'x'); console.log('watch', await change); watcher.close();
  await fs.promises.cp(dir, dir + '-copy', { recursive: true });
  console.log('cp', fs.readdirSync(dir + '-copy'));
  fs.rmSync(dir, { recursive: true }); fs.rmSync(dir + '-copy', { recursive: true });
  for (const where of [{ host: '127.0.0.1', port: 0 }, { host: '::1', port: 0 }, { path: path.join(os.tmpdir(), 's.sock') }]) {
    const server = net.createServer((s) => s.pipe(s)); server.listen(where); await once(server, 'listening');
    const client = net.connect(where.path ? where : { host: where.host, port: server.address().port });
    client.write('echo'); console.log('net', (await once(client, 'data')).toString()); client.destroy(); server.close();
  }
  const server = http.createServer((q, r) => r.end('page ' + q.url)); server.listen(0, 'localhost'); await once(server, 'listening');
  const reply = await fetch(`http://localhost:${server.address().port}/x`); console.log('http', await reply.text());
  server.close(); server.closeAllConnections();
  console.log('crypto', crypto.randomBytes(8).length, crypto.scryptSync('a', 'b', 8).length, crypto.createHash('sha1').update('a').digest('hex'));
  console.log('zlib', zlib.gunzipSync(zlib.gzipSync('zipped')).toString());
  console.log('dns', (await dns.promises.lookup('localhost', { family: 4 })).address);
  console.log('os', os.cpus().length > 0, os.totalmem() > 0, os.userInfo().uid >= 0);
  process.once('SIGUSR2', () => console.log('signal')); process.kill(process.pid, 'SIGUSR2');
  await new Promise((r) => setTimeout(r, 50));
}
