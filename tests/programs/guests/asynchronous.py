"""asyncio: subprocesses, sockets, signals, a hundred sleepers, threads."""

import asyncio
import os
import signal
import sys


async def child(n: int) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import sys; print(sys.stdin.read() * 2)",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate(str(n).encode())
    return out.strip()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def talk(host: str) -> bytes:
    server = await asyncio.start_server(echo, host, 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"hello\n")
    answer = await reader.readline()
    writer.close()
    server.close()
    return answer


async def main() -> None:
    print("children", await asyncio.gather(*(child(n) for n in range(4))))
    shell = await asyncio.create_subprocess_shell("echo $((6 * 7)); exit 3", stdout=-1)
    print("shell", await shell.communicate(), shell.returncode)
    print("sockets", await asyncio.gather(talk("127.0.0.1"), talk("::1"), talk("localhost")))
    got = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 10)
    print("signal", got.is_set())
    print("threads", await asyncio.to_thread(sum, range(100)))
    await asyncio.gather(*(asyncio.sleep(0.05) for _ in range(100)))
    sleeper = await asyncio.create_subprocess_exec("sleep", "100")
    sleeper.terminate()
    print("terminated", await sleeper.wait())


asyncio.run(main())
