"""Python's asyncio works: a server, a client, a child process."""

import asyncio
import sys

sys.path.insert(0, f"{sys.path[0]}/../..")
from _runner import main

CAPABILITY = "interpreters_python_asyncio"


async def talk():
    async def answer(reader, writer):
        writer.write((await reader.readline()).upper())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"hello\n")
    assert await reader.readline() == b"HELLO\n"
    writer.close()
    server.close()
    child = await asyncio.create_subprocess_exec("true")
    assert await child.wait() == 0


def exercise():
    asyncio.run(asyncio.wait_for(talk(), 15))
    return "served, asked and started a child"


main(CAPABILITY, exercise)
