"""Threads, locks, conditions, thread-local storage, a pool, timers."""

import concurrent.futures
import queue
import threading
import time

counts, lock = {"total": 0}, threading.Lock()


def add(times: int) -> None:
    for _ in range(times):
        with lock:
            counts["total"] += 1


workers = [threading.Thread(target=add, args=(1000,)) for _ in range(32)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print("counted", counts["total"])

box: "queue.Queue[int]" = queue.Queue(2)
threading.Thread(target=lambda: [box.put(i) for i in range(10)]).start()
print("queued", [box.get(timeout=10) for _ in range(10)])

with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print("pooled", sum(pool.map(lambda n: n * n, range(100))))

barrier = threading.Barrier(4)
passed = []
for i in range(4):
    threading.Thread(target=lambda i=i: passed.append(barrier.wait(10) >= 0)).start()
deadline = time.monotonic() + 10
while len(passed) < 4 and time.monotonic() < deadline:
    time.sleep(0.01)
print("barrier", passed)

fired = threading.Event()
threading.Timer(0.05, fired.set).start()
print("timer", fired.wait(10))
