"""Real programs, each with a directory to work on, that the trace of is compared with strace's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

Prepare = Callable[[Path], None]


def nothing(work: Path) -> None:
    """An empty directory is enough."""


def a_tree(work: Path) -> None:
    """Directories, files, and links in them."""
    for i in range(4):
        folder = work / "tree" / f"d{i}" / "deep"
        folder.mkdir(parents=True)
        for j in range(5):
            (folder / f"f{j}.txt").write_text(f"line {i} {j}\nneedle {i * j}\n" * 20)
    (work / "tree" / "link").symlink_to("d0/deep/f0.txt")
    (work / "tree" / "dangling").symlink_to("nowhere")


def lines(work: Path) -> None:
    """A file with lines in no order."""
    (work / "in.txt").write_text("".join(f"{i * 7919 % 5003} word{i % 17}\n" for i in range(5000)))


def sources(work: Path) -> None:
    """A program in C of five files, and how to make it."""
    names = [f"part{i}" for i in range(4)]
    for name in names:
        (work / f"{name}.c").write_text(f"int {name}(void) {{ return {len(name)}; }}\n")
    calls = " + ".join(f"{name}()" for name in names)
    declared = "".join(f"int {name}(void);\n" for name in names)
    (work / "main.c").write_text(f"{declared}int main(void) {{ return ({calls}) != 20; }}\n")
    objects = " ".join(f"{name}.o" for name in [*names, "main"])
    (work / "Makefile").write_text(
        f"app: {objects}\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -c -o $@ $<\n"
    )


def a_repository(work: Path) -> None:
    """A git repository with two commits."""
    repository = work / "origin"
    repository.mkdir()
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(repository)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for name in ("one", "two"):
        (repository / f"{name}.txt").write_text(name * 100)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", name], check=True)


THREADS = """
import threading, queue, time
done = queue.Queue()
def work(n):
    for i in range(20):
        open(f"t{n}", "a").write("x")
        time.sleep(0.0001)
    done.put(n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(done.qsize())
"""
MULTIPROCESSING = """
import multiprocessing, os
def work(n):
    with open(f"m{n}", "w") as file:
        file.write(str(os.getpid()))
    return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(sum(pool.map(work, range(12))))
"""
SPAWNS = """
import os, subprocess
for i in range(6):
    subprocess.run(["true"], check=True)
    os.waitpid(os.posix_spawn("/usr/bin/true", ["true"], {}), 0)
    pid = os.fork()
    if pid == 0:
        os.execv("/usr/bin/true", ["true"])
    os.waitpid(pid, 0)
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError:
    pass
"""
EXEC_IN_THREAD = """
import os, threading
def work():
    os.execv("/usr/bin/head", ["head", "-c", "5", "/usr/bin/env"])
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
SQLITE = """
import sqlite3
db = sqlite3.connect("data.db")
db.execute("create table t (a integer primary key, b text)")
with db:
    db.executemany("insert into t (b) values (?)", [(str(i),) for i in range(500)])
db.execute("pragma journal_mode=wal"); db.execute("insert into t (b) values ('x')"); db.commit()
print(db.execute("select count(*) from t").fetchone()); db.close()
"""
SOCKETS = """
import os, socket, tempfile
a = socket.socket(socket.AF_UNIX); a.bind("sock"); a.listen()
b = socket.socket(socket.AF_UNIX); b.connect("sock"); c, _ = a.accept()
b.sendall(b"hi"); print(c.recv(2)); os.unlink("sock")
with tempfile.TemporaryDirectory() as d, open(d + "/x", "w") as f: f.write("y")
with tempfile.TemporaryFile() as f: f.write(b"y")
"""
WORKERS = """
const { Worker, isMainThread, parentPort } = require("worker_threads");
const fs = require("fs");
if (isMainThread) {
  let left = 2;
  for (let i = 0; i < 2; i++) {
    new Worker(__filename).on("message", (m) => {
      fs.writeFileSync("n" + i, String(m));
      if (!--left) console.log("done");
    });
  }
} else parentPort.postMessage(42);
"""


def script(name: str, text: str) -> Prepare:
    """A directory with this one script in it."""

    def prepare(work: Path) -> None:
        (work / name).write_text(text)

    return prepare


PIPELINE = "seq 500 | sort -r | head -5 > a & seq 9 > b & wait; cat <(cat a) b | wc -l"
LOOP = "for i in 1 2 3 4 5 6; do (echo $i; date >/dev/null) >>o; done"
TAR = "tar czf t.tgz tree && mkdir x && tar xzf t.tgz -C x && rm -r tree"
XARGS = "find tree -type f | xargs -P 3 -n 4 wc -c >sizes"
LINKS = (
    "ln tree/d0/deep/f0.txt hard; ln -s hard soft; mv hard tree/d1/; mv -n tree/d1/hard tree/d2/;"
    " ln -s x soft; mkdir tree/d0; rmdir tree/d0; rm soft; rm -r tree; ls missing"
)
AWK = '{ n[$2] += $1 } END { for (k in n) print k, n[k] > "sums" }'
PERL = 'copy("in.txt", "o"); rename "o", "p"; print strftime("%Y", gmtime 0); system("true")'
SORT = ("sort", "-n", "-u", "--parallel=2", "-S", "64K", "-T", "/tmp", "-o", "out", "in.txt")
FIND = ("find", "tree", "-name", "f*.txt", "-newer", "tree", "-o", "-type", "l")
SED = ("sed", "-i", "s/needle/straw/", "tree/d1/deep/f1.txt", "tree/d2/deep/f2.txt")
DD = ("dd", "if=/dev/zero", "of=zeros", "bs=4096", "count=20", "conv=fsync")

# name: the program that must be there, what to prepare, the command
PROGRAMS: Mapping[str, tuple[str, Prepare, tuple[str, ...]]] = {
    "python with threads": ("python3", script("t.py", THREADS), ("python3", "t.py")),
    "python multiprocessing": ("python3", script("m.py", MULTIPROCESSING), ("python3", "m.py")),
    "python subprocesses": ("python3", script("s.py", SPAWNS), ("python3", "s.py")),
    "exec in a thread": ("python3", script("e.py", EXEC_IN_THREAD), ("python3", "e.py")),
    "sqlite": ("python3", script("q.py", SQLITE), ("python3", "q.py")),
    "sockets and temporary files": ("python3", script("k.py", SOCKETS), ("python3", "k.py")),
    "bash pipeline": ("bash", nothing, ("bash", "-c", PIPELINE)),
    "sh loop": ("sh", nothing, ("sh", "-c", LOOP)),
    "node with workers": ("node", script("w.js", WORKERS), ("node", "w.js")),
    "npm": ("npm", nothing, ("npm", "--version")),
    "git clone": ("git", a_repository, ("git", "clone", "-q", "origin", "copy")),
    "gcc": ("gcc", sources, ("gcc", "-O1", "-o", "part", "-c", "part0.c")),
    "make": ("make", sources, ("make", "-s", "-j4", "app")),
    "tar": ("tar", a_tree, ("sh", "-c", TAR)),
    "find": ("find", a_tree, FIND),
    "sort": ("sort", lines, SORT),
    "awk": ("awk", lines, ("awk", AWK, "in.txt")),
    "perl": ("perl", lines, ("perl", "-MFile::Copy", "-MPOSIX", "-e", PERL)),
    "xargs": ("xargs", a_tree, ("sh", "-c", XARGS)),
    "dd": ("dd", nothing, DD),
    "grep": ("grep", a_tree, ("grep", "-r", "-n", "needle 9", "tree")),
    "sed": ("sed", a_tree, SED),
    "cp": ("cp", a_tree, ("cp", "-a", "tree", "copy")),
    "ln, mv and rm": ("ln", a_tree, ("sh", "-c", LINKS)),
    "ls": ("ls", a_tree, ("ls", "-laR", "tree")),
}
