#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["pillow>=10"]
# ///
"""Put pictures on one labelled contact sheet."""

import argparse
import math
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps, UnidentifiedImageError

GAP, LABEL = 8, 14


def pictures(paths):
    for path in map(Path, paths):
        found = sorted(path.iterdir()) if path.is_dir() else [path]
        for one in found:
            if not one.is_file():
                continue
            try:
                with Image.open(one) as image:
                    yield one.name, ImageOps.exif_transpose(image).convert("RGB")
            except (UnidentifiedImageError, OSError) as error:
                print(f"left out: {one}: {error}", file=sys.stderr)


def sheet(images, columns, size):
    rows = math.ceil(len(images) / columns)
    width = GAP + columns * (size + GAP)
    height = GAP + rows * (size + LABEL + GAP)
    page = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(page)
    for number, (name, image) in enumerate(images):
        left = GAP + number % columns * (size + GAP)
        top = GAP + number // columns * (size + LABEL + GAP)
        small = ImageOps.contain(image, (size, size))
        page.paste(small, (left + (size - small.width) // 2, top + (size - small.height) // 2))
        draw.text((left, top + size + 1), name[: size // 6], fill="black")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", help="pictures, and folders of them")
    parser.add_argument("--out", default="sheet.png")
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--size", type=int, default=160, help="of a thumbnail, in pixels")
    args = parser.parse_args()
    if args.columns < 1 or not 16 <= args.size <= 2000:
        parser.error("at least 1 column, and thumbnails of 16 to 2000 pixels")
    images = list(pictures(args.paths))
    if not images:
        sys.exit("no pictures there")
    page = sheet(images, min(args.columns, len(images)), args.size)
    page.save(args.out)
    print(f"{len(images)} pictures, {page.width} x {page.height} → {args.out}")


if __name__ == "__main__":
    main()
