"""What programs ask of the kernel directly: descriptors of every kind, locks, memory, timers."""

import array
import ctypes
import fcntl
import mmap
import os
import pathlib
import resource
import select
import signal
import socket
import struct
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *args: object) -> int:
    got = getattr(libc, name)(*args)
    if got < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return int(got)


def memory() -> None:
    fd = os.memfd_create("m", os.MFD_ALLOW_SEALING)
    os.write(fd, b"memory")
    fcntl.fcntl(fd, 1033, 0x1 | 0x2 | 0x4 | 0x8)  # F_ADD_SEALS
    print("memfd", os.pread(fd, 6, 0), fcntl.fcntl(fd, 1034))
    shared = mmap.mmap(-1, 4096)
    if os.fork() == 0:
        shared[:5] = b"child"
        os._exit(0)
    os.wait()
    print("mmap", shared[:5])
    with open("/dev/shm/wardian-test", "w+b") as file:
        os.unlink(file.name)
        file.truncate(8192)
        view = mmap.mmap(file.fileno(), 8192)
        view[0:2] = b"ok"
        view.flush()
        print("shm", os.pread(file.fileno(), 2, 0))
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    print("executable memory", len(code))
    call("mlock", ctypes.create_string_buffer(4096), ctypes.c_size_t(4096))
    print("mlock")
    key = call("shmget", 0, 4096, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(key, None, 0)
    ctypes.memmove(at, b"sysv", 4)
    print("sysv shm", ctypes.string_at(at, 4))
    call("shmctl", key, 0, None)
    sem = call("semget", 0, 1, 0o1600)
    call("semctl", sem, 0, 0)
    print("sysv sem")


def descriptors() -> None:
    fd = os.eventfd(3)
    print("eventfd", os.eventfd_read(fd))
    timer = call("timerfd_create", 1, 0)
    call("timerfd_settime", timer, 0, struct.pack("qqqq", 0, 0, 0, 20_000_000), None)
    print("timerfd", struct.unpack("Q", os.read(timer, 8)))
    mask = ctypes.create_string_buffer(128)
    libc.sigaddset(mask, signal.SIGUSR2)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    signals = call("signalfd", -1, mask, 0)
    os.kill(os.getpid(), signal.SIGUSR2)
    print("signalfd", struct.unpack_from("I", os.read(signals, 128))[0] == signal.SIGUSR2)
    watch = call("inotify_init1", 0)
    call("inotify_add_watch", watch, b".", 0x100)
    open("watched", "w").close()
    print("inotify", os.read(watch, 4096)[16:23])
    os.unlink("watched")
    reader, writer = os.pipe2(os.O_NONBLOCK)
    epoll = select.epoll()
    epoll.register(reader, select.EPOLLIN | select.EPOLLET)
    os.write(writer, b"x")
    print(
        "epoll",
        [event for _, event in epoll.poll(10)],
        select.select([reader], [], [], 10)[0] == [reader],
    )
    child = os.fork()
    if child == 0:
        time.sleep(0.05)
        os._exit(7)
    pidfd = os.pidfd_open(child)
    select.select([pidfd], [], [], 10)
    print("pidfd", os.waitid(os.P_PIDFD, pidfd, os.WEXITED).si_status)


def files() -> None:
    with open("locked", "w+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX, 10)
        if os.fork() == 0:
            other = os.open("locked", os.O_RDWR)
            try:
                fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB, 10)
                os._exit(1)
            except BlockingIOError:
                os._exit(0)
        print("locks", os.wait()[1])
        os.posix_fallocate(file.fileno(), 0, 4096)
        file.write(b"hello")
        file.flush()
        os.fsync(file.fileno())
        with open("copied", "w+b") as copy:
            print("copy", os.copy_file_range(file.fileno(), copy.fileno(), 5, 0, 0))
            print("sendfile", os.sendfile(copy.fileno(), file.fileno(), 0, 5))
    os.replace("copied", "moved")
    os.truncate("moved", 3)
    os.mkfifo("fifo")
    threading.Thread(target=pathlib.Path("fifo").write_bytes, args=(b"through",)).start()
    print("fifo", pathlib.Path("fifo").read_bytes(), pathlib.Path("moved").read_bytes())
    for name in ("locked", "moved", "fifo"):
        os.unlink(name)
    tmp = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    print("tmpfile", os.write(tmp, b"1"))
    print(
        "disk", os.statvfs(".").f_bsize > 0, os.access("/dev/null", os.W_OK), len(os.getrandom(8))
    )


def sockets() -> None:
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        server = socket.create_server((address, 0), family=family)
        client = socket.create_connection(server.getsockname()[:2], 10)
        peer, _ = server.accept()
        client.sendall(b"tcp")
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind((address, 0))
        udp.sendto(b"udp", udp.getsockname())
        print(family.name, peer.recv(10), udp.recv(10))
    for name in ("sock", "\0abstract-wardian"):
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        client = socket.socket(socket.AF_UNIX)
        client.connect(name)
        peer, _ = server.accept()
        socket.send_fds(client, [b"fd"], [0])
        data, fds, _, _ = socket.recv_fds(peer, 10, 4)
        print("unix", data, len(fds))
    os.unlink("sock")
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    left.sendmsg([b"a", b"b"])
    print("socketpair", right.recv(10), len(socket.if_nameindex()) > 0)


def signals() -> None:
    seen: list[str] = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    signal.pause()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.kill(os.getpid(), signal.SIGUSR1)
    print("signals", seen, signal.sigtimedwait([signal.SIGUSR1], 10).si_signo == signal.SIGUSR1)
    if os.fork() == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGKILL)
    print("killed", os.WTERMSIG(os.wait()[1]))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    print("rlimit", before > 64, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    print(
        "scheduling", os.nice(0) >= 0, len(os.sched_getaffinity(0)) > 0, os.getpriority(0, 0) >= 0
    )
    # Not "> 0": where the session's leader lives outside this pid namespace, it is 0.
    print("groups", os.getpgid(0) == os.getpgrp(), os.getsid(0) == os.getsid(os.getpid()))
    print("array", array.array("i", [1])[0])


memory()
descriptors()
files()
sockets()
signals()
