"""Scripts of a public repository of skills give under wardian what they give without.

WARDIAN_SKILLS_REPO names a checkout of github.com/anthropics/skills; without it nothing is tried.
What a script needs is fetched from the package index, once. The scripts run natively too, as the
oracle, with a home of their own; those that install things are left out of that.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wardian.runner.cases.model import Case, Expectation
from wardian.runner.cases.running import Options, run_case
from wardian.runner.location import located
from wardian.skills.scripts import scripts_in

REPO = os.environ.get("WARDIAN_SKILLS_REPO", "")
pytestmark = pytest.mark.skipif(not REPO, reason="WARDIAN_SKILLS_REPO is not set")

PACKAGES = (
    "defusedxml", "imageio", "lxml", "numpy", "openpyxl", "pdfplumber", "pillow", "pypdf",
    "python-docx", "python-pptx", "pyyaml", "reportlab",
)  # fmt: skip
DOCX = """
import docx; d = docx.Document(); d.core_properties.author = "A"; d.add_heading("Title", 1)
p = d.add_paragraph("Some "); p.add_run("bold").bold = True; d.add_table(2, 2); d.save("in.docx")
"""
PPTX = """
import pptx; p = pptx.Presentation()
for n in range(3): s = p.slides.add_slide(p.slide_layouts[1]); s.shapes.title.text = f"Slide {n}"
p.save("in.pptx")
"""
XLSX = """
import openpyxl; b = openpyxl.Workbook(); s = b.active; s.append([1, 2]); s["C1"] = "=A1+B1"; s["D1"] = "=1/0"
b.save("in.xlsx")
"""
PDF = """
from reportlab.pdfgen import canvas; c = canvas.Canvas("in.pdf", invariant=1)
c.drawString(72, 720, "Name:"); c.rect(120, 710, 200, 20)
f = c.acroForm; f.textfield(name="name", x=120, y=710, width=200, height=20)
f.checkbox(name="agree", x=120, y=650); c.save()
c = canvas.Canvas("plain.pdf", invariant=1); c.drawString(72, 720, "Name:"); c.line(120, 715, 320, 715); c.save()
"""
FIELDS = '{"pages": [{"page_number": 1, "image_width": 100, "image_height": 100}], "form_fields": []}'
BOXES = (
    '{"pages": [{"page_number": 1, "pdf_width": 612, "pdf_height": 792}], "form_fields": [{"page_number": 1,'
    ' "description": "name", "field_label": "Name", "label_bounding_box": [72, 60, 110, 80],'
    ' "entry_bounding_box": [120, 60, 320, 80], "entry_text": {"text": "Ada", "font_size": 12}}]}'
)
VALUES = '[{"field_id": "name", "description": "n", "page": 1, "value": "Ada"}]'
SKILL_MD = "---\nname: demo\ndescription: A demonstration\n---\n# Demo\n"
GIF = """
import sys; sys.path.insert(0, "{skill}")
from core.gif_builder import GIFBuilder
from core.frame_composer import create_gradient_background, draw_circle
from core.easing import interpolate
b = GIFBuilder(width=64, height=64, fps=10)
for i in range(6):
    f = create_gradient_background(64, 64, (0, 0, 50), (200, 100, 0)); draw_circle(f, (int(interpolate(5, 55, i / 5, "bounce_out")), 30), 5, fill_color=(255, 255, 255)); b.add_frame(f)
b.save("out.gif", num_colors=16)
"""


def made(*sources: str) -> tuple[tuple[str, ...], ...]:
    return tuple(("{python}", "-c", source) for source in sources)


def case(name: str, skill: str, script: str, *args: str, **more: object) -> Case:
    values = {"packages": PACKAGES, "time_s": 180.0, "expect": Expectation(exit=None), **more}
    return Case(name=name, skill=skill, script=script, args=args, **values)  # type: ignore[arg-type]


def unpacked(skill: str, kind: str, source: str) -> tuple[tuple[str, ...], ...]:
    unpack = ("{python}", "{skill}/scripts/office/unpack.py", f"in.{kind}", "u")
    return (*made(source), unpack)


OFFICE = [
    one
    for skill, kind, source in (("docx", "docx", DOCX), ("pptx", "pptx", PPTX), ("xlsx", "xlsx", XLSX))
    for one in (
        case(f"{kind}: unpack", skill, "office/unpack.py", f"in.{kind}", "u", setup=made(source), compare=("exit", "stdout", "stderr")),
        case(f"{kind}: pack", skill, "office/pack.py", "u", f"out.{kind}", "--original", f"in.{kind}", setup=unpacked(skill, kind, source), compare=("exit", "stdout", "stderr")),
        case(f"{kind}: validate a directory", skill, "office/validate.py", "u", "--original", f"in.{kind}", setup=unpacked(skill, kind, source), compare=("exit", "stdout", "stderr")),
        case(f"{kind}: validate a file", skill, "office/validate.py", f"in.{kind}", setup=made(source), compare=("exit", "stdout", "stderr")),
        case(f"{kind}: a file that is not there", skill, "office/unpack.py", f"no.{kind}", "u"),
    )
]  # fmt: skip
CASES = [
    *OFFICE,
    case("docx: comment", "docx", "comment.py", "u", "0", "Look & see", setup=unpacked("docx", "docx", DOCX), compare=("exit", "stdout")),
    case("docx: accept changes by LibreOffice", "docx", "accept_changes.py", "in.docx", "out.docx", setup=made(DOCX), compare=("exit", "stdout"), needs=("soffice",)),
    case("pptx: add a slide", "pptx", "add_slide.py", "u", "slide2.xml", setup=unpacked("pptx", "pptx", PPTX), compare=("exit", "stdout")),
    case("pptx: clean", "pptx", "clean.py", "u", setup=unpacked("pptx", "pptx", PPTX), compare=("exit", "stdout")),
    case("pptx: thumbnails by LibreOffice", "pptx", "thumbnail.py", "in.pptx", "grid", setup=made(PPTX), compare=("exit", "stdout"), needs=("soffice", "pdftoppm")),
    case("xlsx: recalculate by LibreOffice", "xlsx", "recalc.py", "in.xlsx", "60", setup=made(XLSX), compare=("exit", "stdout"), needs=("soffice",)),
    case("pdf: fillable fields", "pdf", "check_fillable_fields.py", "in.pdf", setup=made(PDF)),
    case("pdf: no fillable fields", "pdf", "check_fillable_fields.py", "plain.pdf", setup=made(PDF)),
    case("pdf: field info", "pdf", "extract_form_field_info.py", "in.pdf", "info.json", setup=made(PDF)),
    case("pdf: form structure", "pdf", "extract_form_structure.py", "plain.pdf", "s.json", setup=made(PDF)),
    case("pdf: fill fields", "pdf", "fill_fillable_fields.py", "in.pdf", "values.json", "out.pdf", setup=made(PDF), files=(("values.json", VALUES.encode()),)),
    case("pdf: fill by annotations", "pdf", "fill_pdf_form_with_annotations.py", "plain.pdf", "f.json", "out.pdf", setup=made(PDF), files=(("f.json", BOXES.encode()),), compare=("exit", "stdout")),
    case("pdf: bounding boxes", "pdf", "check_bounding_boxes.py", "f.json", files=(("f.json", BOXES.encode()),)),
    case("pdf: validation image", "pdf", "create_validation_image.py", "1", "f.json", "i.png", "o.png", setup=made("from PIL import Image; Image.new('RGB', (612, 792)).save('i.png')"), files=(("f.json", BOXES.encode()),)),
    case("pdf: images", "pdf", "convert_pdf_to_images.py", "in.pdf", "images", setup=(*made(PDF), ("mkdir", "images")), compare=("exit", "stdout")),
    case("skill-creator: validate", "skill-creator", "quick_validate.py", "demo", files=(("demo/SKILL.md", SKILL_MD.encode()),)),
    case("skill-creator: validate a bad one", "skill-creator", "quick_validate.py", "demo", files=(("demo/SKILL.md", b"---\nname: Demo_\n---\n"),)),
    case("skill-creator: package, as a module", "skill-creator", "scripts.package_skill", "demo", "dist", files=(("demo/SKILL.md", SKILL_MD.encode()),), compare=("exit", "stdout")),
    case("skill-creator: package, as a file", "skill-creator", "package_skill.py", "demo", files=(("demo/SKILL.md", SKILL_MD.encode()),), compare=("exit", "stdout")),
    case("skill-creator: report", "skill-creator", "generate_report.py", "in.json", "-o", "out.html", files=(("in.json", b'{"history": [], "iterations": []}'),), compare=("exit", "stdout")),
    case("skill-creator: review page", "skill-creator", "eval-viewer/generate_review.py", "ws", "--static", "review.html", files=(("ws/eval-1/run-1/outputs/a.txt", b"hello"),), compare=("exit", "stdout")),
    case("skill-creator: benchmark", "skill-creator", "aggregate_benchmark.py", "ws", files=(("ws/eval-1/with_skill/run-1/grading.json", b'{"summary": {"pass_rate": 1.0, "passed": 1, "failed": 0, "total": 1}}'),), compare=("exit", "stdout")),
    case("slack-gif-creator: an animation", "slack-gif-creator", "core/easing.py", packages=("setuptools",), setup=made(GIF)),
    case("webapp-testing: a server and a client", "webapp-testing", "with_server.py", "--server", "python3 -m http.server 8931 --bind 127.0.0.1", "--port", "8931", "--", "python3", "-c", "import urllib.request as u; print(u.urlopen('http://localhost:8931/a.txt').read())", files=(("a.txt", b"served"),), compare=("exit",), expect=Expectation(exit=0)),
    case("algorithmic-art: the template", "algorithmic-art", "templates/generator_template.js", packages=(), needs=("node",)),
    # These install programs for the whole system (npm install -g), so nothing runs them natively.
    case("web-artifacts-builder: without a name", "web-artifacts-builder", "init-artifact.sh", packages=(), backends=("wardian",)),
    case("web-artifacts-builder: nothing to bundle", "web-artifacts-builder", "bundle-artifact.sh", packages=(), backends=("wardian",), expect=Expectation(exit=1)),
]  # fmt: skip


def repository() -> Path:
    root = Path(REPO)
    return root / "skills" if (root / "skills").is_dir() else root


def help_cases() -> list[Case]:
    """Every script that is a command, asked for help: it imports all it needs before it answers."""
    if not REPO:
        return []
    found = []
    for folder in sorted(repository().iterdir()):
        for script in scripts_in(folder) if folder.is_dir() else ():
            python = script.interpreter is not None and script.interpreter.name == "python"
            if python and script.path.rpartition("/")[2] != "__init__.py":
                name = f"{folder.name}: {script.path} --help"
                # mcp-builder and slack-gif-creator have a requirements.txt
                found.append(case(name, folder.name, script.path, "--help", compare=("exit", "stdout", "stderr")))
    return found


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp().parent / "cache"))


@pytest.mark.parametrize("one", [*CASES, *help_cases()], ids=lambda one: one.name)
def test_the_same_inside_and_outside(one: Case) -> None:
    with located(str(repository() / str(one.skill))) as skill:
        options = Options(("wardian",), oracle="host", say=lambda line: None)
        outcomes = run_case(skill, one, options)
    assert outcomes[0].verdict in ("pass", "skip"), "\n".join(outcomes[0].problems)
