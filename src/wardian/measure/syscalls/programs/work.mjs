// The ordinary work of Node: files, children, workers, sockets, timers.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { promises as later } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import zlib from 'node:zlib';

const place = fs.mkdtempSync(path.join(os.tmpdir(), 'work-'));
const file = path.join(place, 'data.json');
fs.writeFileSync(file, JSON.stringify({ a: [1, 2] }));
JSON.parse(await later.readFile(file, 'utf8'));
fs.renameSync(file, `${file}.old`);
fs.copyFileSync(`${file}.old`, file);
fs.mkdirSync(path.join(place, 'a/b'), { recursive: true });
fs.readdirSync(place, { withFileTypes: true });
zlib.gunzipSync(zlib.gzipSync('x'.repeat(1000)));
fs.rmSync(place, { recursive: true });

execFileSync('sort', { input: 'b\na\n' });
await once(spawn('true'), 'close');
await once(new Worker('0', { eval: true }), 'exit');
process.once('SIGUSR2', () => {});
process.kill(process.pid, 'SIGUSR2');

const server = net.createServer((socket) => socket.end('hello\n'));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = net.connect(server.address().port, '127.0.0.1');
client.resume();
await once(client, 'close');
server.close();
await new Promise((done) => setTimeout(done, 5));
