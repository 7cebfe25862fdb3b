# mypy: ignore-errors
"""What an interpreter that stays runs inside, by ``python3 -c``: reads cells, runs them, says what
came of each. Never imported outside. For Python 3.8 and later.

Its socket comes as standard input and is moved away from there before the first cell; a cell reads
/dev/null. Output is the process's own 1 and 2."""

import ast
import base64
import json
import linecache
import os
import signal
import sys
import traceback

TEXT, VALUE, IMAGES, SHOWN = 64 << 10, 1 << 20, 32 << 20, 200


class Cells:
    def __init__(self):
        self.channel = os.dup(0)
        os.set_inheritable(self.channel, False)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self.owner, self.running, self.loop = os.getpid(), False, None
        self.names = {"__name__": "__main__", "__builtins__": __builtins__, "display": self.display}
        main = type(sys)("__main__")
        main.__dict__.update(self.names)
        self.names = main.__dict__
        sys.modules["__main__"] = main
        sys.argv[:] = [""]
        sys.path[:1] = [""]
        sys.meta_path.insert(0, Figures(self))
        signal.signal(signal.SIGINT, self.on_interrupt)

    # The channel

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = os.read(self.channel, count - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return data

    def send(self, message):
        data = json.dumps(message).encode()
        view = memoryview(len(data).to_bytes(4, "little") + data)
        while view:
            view = view[os.write(self.channel, view) :]

    def on_interrupt(self, number, frame):
        if self.running and os.getpid() == self.owner:
            raise KeyboardInterrupt

    # What is shown

    def display(self, *things):
        """Show things: as text, and as HTML or an image where they have such a form."""
        for thing in things:
            self.show(thing)

    def show(self, thing):
        form = {"text": self.cut(self.text_of(thing))}
        html, png = self.form_of(thing, "_repr_html_"), self.form_of(thing, "_repr_png_")
        if type(thing).__module__ == "matplotlib.figure" and hasattr(thing, "savefig"):
            png = self.drawn(thing)
        if isinstance(html, str):
            form["html"] = self.cut(html, VALUE)
        if isinstance(png, bytes) and len(png) <= self.room:
            self.room -= len(png)
            form["png"] = base64.b64encode(png).decode()
        elif png is not None:
            self.truncated = True
        if len(self.shown) < SHOWN:
            self.shown.append(form)
        else:
            self.truncated = True

    def form_of(self, thing, name):
        try:
            method = getattr(thing, name, None)
            return method() if callable(method) and not isinstance(thing, type) else None
        except Exception:
            return None

    def text_of(self, thing):
        try:
            return repr(thing)
        except Exception as error:
            return f"<{type(thing).__name__}: its repr raised {type(error).__name__}>"

    def cut(self, text, most=TEXT):
        if len(text) > most:
            self.truncated = True
            text = text[:most]
        return text

    def drawn(self, figure):
        import io

        file = io.BytesIO()
        try:
            figure.savefig(file, format="png")
        except Exception:
            return None
        return file.getvalue()

    def show_figures(self):
        """Those of matplotlib that are open: shown, and closed."""
        plots = sys.modules.get("matplotlib.pyplot")
        if plots is None or not hasattr(plots, "get_fignums"):
            return
        for number in plots.get_fignums():
            self.figures.append(plots.figure(number))
            self.show(self.figures[-1])
        plots.close("all")

    # A cell

    def plain(self, value, left, depth=0):
        """Is all of it what JSON has a form for? Counts down what may be looked at."""
        left[0] -= 1
        if left[0] < 0 or depth > 50:
            return False
        kind = type(value)
        if kind is float:
            return abs(value) < float("inf")
        if kind is int:
            return -(1 << 1024) < value < 1 << 1024
        if kind is list:
            return all(self.plain(one, left, depth + 1) for one in value)
        if kind is dict:
            return all(
                type(key) is str and self.plain(one, left, depth + 1) for key, one in value.items()
            )
        return value is None or kind in (bool, str)

    def compiled(self, text, name):
        """The statements, and the last expression apart."""
        tree = ast.parse(text, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
            if text.rstrip().endswith(";"):
                tree.body.append(ast.copy_location(ast.Expr(last.body), last.body))
                last = None
        flags = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)
        codes = [compile(tree, name, "exec", flags, True)]
        if last is not None:
            codes.append(compile(last, name, "eval", flags, True))
        return codes

    def evaluated(self, code):
        value = eval(code, self.names)  # noqa: S307
        if not code.co_flags & 0x80:  # it awaits nothing
            return value
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(value)

    def described(self, error):
        """Its traceback begins in the cell, and has nothing of ours."""
        trace = error.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
            trace = trace.tb_next
        try:
            report = traceback.TracebackException(type(error), error, trace)
            if report.stack and report.stack[-1].name == "on_interrupt":
                report.stack.pop()
            lines, message = list(report.format()), str(error)
        except Exception:
            lines, message = [type(error).__name__ + "\n"], ""
        return [type(error).__name__, self.cut(message), self.cut("".join(lines), VALUE)]

    def run(self, text, name):
        self.shown, self.figures, self.room, self.truncated = [], [], IMAGES, False
        said = {"text": None, "has_value": False}
        lines = [line + "\n" for line in text.splitlines()]
        linecache.cache[name] = (len(text), None, lines, name)
        value = None
        try:
            self.running = True
            for code in self.compiled(text, name):
                value = self.evaluated(code)
            self.show_figures()
        except BaseException as error:
            self.running = False
            if isinstance(error, SystemExit):
                raise
            said["error"] = self.described(error)
            said["interrupted"] = isinstance(error, KeyboardInterrupt)
            value = None
        finally:
            self.running = False
        if value is not None:
            self.names["_"] = value
            said["text"] = self.cut(self.text_of(value))
            has_forms = any(hasattr(type(value), form) for form in ("_repr_html_", "_repr_png_"))
            if has_forms and not any(value is one for one in self.figures):
                self.show(value)
            if self.plain(value, [100000]):
                said["value"], said["has_value"] = value, True
        said["display"], said["truncated"] = self.shown, self.truncated
        return said

    def serve(self):
        while True:
            asked = json.loads(self.read(int.from_bytes(self.read(4), "little")))
            said = self.run(asked["code"], asked["name"])
            if os.getpid() != self.owner:
                os._exit(0)  # a cell forked, and came back
            for stream in (sys.stdout, sys.stderr):
                self.form_of(stream, "flush")  # it may be closed, or something else by now
            said["id"] = asked["id"]
            if len(json.dumps(said.get("value"))) > VALUE:
                said["value"], said["has_value"], said["truncated"] = None, False, True
            self.send(said)


class Figures:
    """Has ``matplotlib.pyplot.show`` show where there is no screen, once it is imported."""

    def __init__(self, session):
        self.session = session

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load, session = spec.loader.exec_module, self.session

        def exec_module(module):
            load(module)
            module.switch_backend("agg")
            module.show = lambda *words, **named: session.show_figures()

        spec.loader.exec_module = exec_module
        return spec


Cells().serve()
