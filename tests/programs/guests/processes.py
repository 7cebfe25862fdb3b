"""multiprocessing by fork, spawn and forkserver: pools, queues, locks, shared memory, managers."""

import multiprocessing
import os
from multiprocessing import shared_memory


def square(n: int) -> int:
    return n * n


def produce(box, lock, counter) -> None:  # type: ignore[no-untyped-def]
    with lock:
        counter.value += 1
    box.put(os.getpid() > 1)


def main() -> None:
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, "pool", pool.map(square, range(10)))
        box, lock, counter = context.Queue(), context.Lock(), context.Value("i", 0)
        children = [context.Process(target=produce, args=(box, lock, counter)) for _ in range(3)]
        for child in children:
            child.start()
        print(method, "queue", [box.get(timeout=30) for _ in children])
        for child in children:
            child.join(30)
        print(method, "codes", [child.exitcode for child in children], counter.value)
    with multiprocessing.get_context("fork").Manager() as manager:
        shared = manager.dict(a=1)
        shared["b"] = 2
        print("manager", dict(shared))
    memory = shared_memory.SharedMemory(create=True, size=1 << 20)
    memory.buf[:3] = b"abc"
    again = shared_memory.SharedMemory(memory.name)
    print("shared memory", bytes(again.buf[:3]))
    again.close()
    memory.close()
    memory.unlink()


if __name__ == "__main__":
    main()
