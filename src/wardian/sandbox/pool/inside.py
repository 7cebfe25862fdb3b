# mypy: ignore-errors
"""What an interpreter of a pool runs inside, by ``python3 -c``: it loads modules, says so, reads
its request, and becomes the script. Never imported outside. For Python 3.7 and later.

Standard input brings the request first (eight bytes of length, then marshal) and the script's own
input after it. Once the script starts, nothing of this is left in ``__main__``, and no descriptor
but 0, 1 and 2 is open. Two frames lie below the script's own; tracebacks omit them."""

import marshal
import os
import sys


class _Waiting:
    AT_START = ("LANG", "LANGUAGE", "TZ", "HOME", "GLIBC_TUNABLES")  # read when Python starts
    AT_START_PREFIXES = ("PYTHON", "LC_", "LD_", "MALLOC_")

    def __init__(self):
        self.sys, self.os, self.marshal = sys, os, marshal
        self.main = sys.modules["__main__"].__dict__
        self.python = (getattr(sys, "orig_argv", None) or [sys.executable])[0]
        self.importing = sys.modules["_frozen_importlib_external"]
        # A script's own directory comes first on sys.path; meanwhile, nothing does.
        bare = getattr(sys.flags, "safe_path", False) or sys.flags.isolated
        self.first = [] if bare else sys.path[:1]
        del sys.path[: len(self.first)]

    def load(self, modules):
        """What is printed meanwhile is dropped."""
        saved, null = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        said = "+"
        for name in modules:
            try:
                __import__(name)
            except BaseException as error:
                said = f"-{name}: {type(error).__name__}: {error}"[:2000].replace("\n", " ")
                break
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for number in (*saved, null):
            os.close(number)
        return said.encode("utf-8", "replace") + b"\n"

    def settle(self):
        """What is loaded by now lives until the end: a collector that goes through all of it when
        Python ends would take half of the time of a short script."""
        known = "gc" in sys.modules
        import gc

        gc.collect()
        gc.freeze()
        if not known:
            del sys.modules["gc"]

    def read(self, count):
        """Not one byte more."""
        pieces = []
        while count > 0:
            piece = self.os.read(0, min(count, 1 << 20))
            if not piece:
                self.os._exit(125)  # nobody wants it any more
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def hear(self):
        asked = self.marshal.loads(self.read(int.from_bytes(self.read(8), "little")))
        self.words, self.args, self.env = asked["words"], asked["args"], asked["env"]
        self.script, self.text = asked["script"], asked["code"]
        if not asked["input"]:
            self.read_nothing()

    def become(self):
        """A new interpreter, for what only that does right."""
        import _signal

        for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):  # which Python has ignored
            if hasattr(_signal, name):
                _signal.signal(getattr(_signal, name), _signal.SIG_DFL)
        self.os.execve(self.sys.executable, [self.python, *self.words], self.env)

    def read_nothing(self):
        """Standard input as Python makes it, of /dev/null."""
        null = self.os.open(self.os.devnull, self.os.O_RDONLY)
        self.os.dup2(null, 0)
        self.os.close(null)
        old = self.sys.stdin
        if old is not None:
            buffer = open(0, "rb", -1, None, None, None, False)  # noqa: SIM115
            buffer.raw.name = "<stdin>"
            self.sys.stdin = type(old)(buffer, old.encoding, old.errors, "\n", False)
            self.sys.stdin.mode = "r"
            self.sys.__stdin__ = self.sys.stdin

    def set_environment(self):
        held, given = dict(self.os.environ), self.env
        changed = [name for name in {**held, **given} if held.get(name) != given.get(name)]
        for name in changed:
            if name in self.AT_START or name.startswith(self.AT_START_PREFIXES):
                self.become()
        if changed:
            self.os.environ.clear()
            self.os.environ.update(given)

    def compiled(self):
        """The program, and its name in tracebacks."""
        try:
            if self.script is None:
                return compile(self.text, "<string>", "exec", dont_inherit=True), "<string>"
            path = self.script
            if self.sys.version_info >= (3, 9):
                path = self.os.path.join(self.os.getcwd(), path)
            with open(path, "rb", 0) as file:
                data = file.read()
            if data[:4] == self.importing.MAGIC_NUMBER or b"\0" in data:
                self.become()  # compiled already, or an archive
            return compile(data, path, "exec", dont_inherit=True), path
        except Exception:
            self.become()  # which reports it

    def set_up(self, code, name):
        """``sys`` and ``__main__``, as they are when Python starts a script."""
        own = self.sys
        own.argv[:] = ["-c" if self.script is None else self.script, *self.args]
        if hasattr(own, "orig_argv"):
            own.orig_argv[:] = [self.python, *self.words]
        for left in ("_Waiting", "marshal", "os", "sys", "__doc__"):
            self.main.pop(left, None)
        rest = dict(self.main)
        self.main.clear()
        self.main.update(__name__=rest.pop("__name__"), __doc__=None, **rest)
        if self.script is not None:
            path = self.os.path
            if self.first:
                own.path[:0] = [path.dirname(path.realpath(name))]
            loader = self.importing.SourceFileLoader("__main__", name)
            self.main.update(__loader__=loader, __file__=name, __cached__=None)
        else:
            own.path[:0] = self.first
        if own.version_info >= (3, 13):
            self.show_lines(code)

    def show_lines(self, code):
        """From Python 3.13 on, tracebacks show the lines of code that was given: not ours."""
        import linecache

        held = linecache.cache.pop("<string>", None)
        if hasattr(linecache, "_interactive_cache"):
            linecache._interactive_cache.clear()
            held = self.script is None and linecache._register_code(code, self.text, "<string>")
        elif held is not None and self.script is None:
            lines = [line + "\n" for line in self.text.splitlines()]
            linecache.cache["<string>"] = (len(self.text), None, lines, "<string>")

    def omit_own_frames(self, own):
        """In the traceback that is about to be printed."""
        hook, about = getattr(self.sys, "excepthook", None), self.sys

        def show(kind, value, trace):
            while trace is not None and trace.tb_frame.f_code in own:
                trace = trace.tb_next
            value.__traceback__ = about.last_traceback = trace
            hook(kind, value, trace)

        if hook is not None:
            self.sys.excepthook = show

    def run(self):
        own = (self.sys._getframe().f_code, self.sys._getframe(1).f_code)
        said = self.load(self.sys.argv[1:])
        self.settle()
        self.os.write(1, said)
        self.hear()
        self.set_environment()
        code, name = self.compiled()
        self.set_up(code, name)
        try:
            exec(code, self.main)  # noqa: S102
        except SystemExit:
            raise
        except BaseException:
            self.omit_own_frames(own)
            raise


_Waiting().run()
