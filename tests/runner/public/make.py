"""Make the document of one kind that a case works on: make.py docx|pptx|xlsx|pdf|png|gif."""

import sys


def docx():
    from docx import Document

    document = Document()
    document.core_properties.author = "A"
    document.add_heading("Title", 1)
    document.add_paragraph("Some ").add_run("bold").bold = True
    document.add_table(2, 2)
    document.save("in.docx")


def pptx():
    from pptx import Presentation

    deck = Presentation()
    for number in range(3):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
    deck.save("in.pptx")


def xlsx():
    from openpyxl import Workbook

    book = Workbook()
    book.active.append([1, 2])
    book.active["C1"], book.active["D1"] = "=A1+B1", "=1/0"
    book.save("in.xlsx")


def pdf():
    from reportlab.pdfgen.canvas import Canvas

    page = Canvas("in.pdf", invariant=1)
    page.drawString(72, 720, "Name:")
    page.acroForm.textfield(name="name", x=120, y=710, width=200, height=20)
    page.acroForm.checkbox(name="agree", x=120, y=650)
    page.save()
    page = Canvas("plain.pdf", invariant=1)
    page.drawString(72, 720, "Name:")
    page.line(120, 715, 320, 715)
    page.save()


def png():
    from PIL import Image

    Image.new("RGB", (612, 792)).save("i.png")


def gif():
    sys.path.insert(0, sys.argv[2])
    from core.easing import interpolate
    from core.frame_composer import create_gradient_background, draw_circle
    from core.gif_builder import GIFBuilder

    builder = GIFBuilder(width=64, height=64, fps=10)
    for step in range(6):
        frame = create_gradient_background(64, 64, (0, 0, 50), (200, 100, 0))
        left = int(interpolate(5, 55, step / 5, "bounce_out"))
        draw_circle(frame, (left, 30), 5, fill_color=(255, 255, 255))
        builder.add_frame(frame)
    builder.save("out.gif", num_colors=16)


if __name__ == "__main__":
    {"docx": docx, "pptx": pptx, "xlsx": xlsx, "pdf": pdf, "png": png, "gif": gif}[sys.argv[1]]()
