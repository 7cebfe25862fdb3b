#!/usr/bin/env python3
"""Summarise a CSV file: its columns, or totals of one column grouped by another."""

import argparse
import csv
import json
import statistics
import sys
from collections import defaultdict
from decimal import Decimal, InvalidOperation


def read(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        sample = file.read(65536)
        file.seek(0)
        try:
            dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        except csv.Error:
            dialect = csv.excel
        rows = list(csv.reader(file, dialect))
    if not rows:
        sys.exit(f"{path}: no header line")
    header, *body = rows
    return header, [row + [""] * (len(header) - len(row)) for row in body if row]


def number(text):
    try:
        return Decimal(text.replace(" ", "").replace(",", "") if "." in text else text.strip())
    except InvalidOperation:
        return None


def describe(name, cells):
    filled = [cell for cell in cells if cell.strip()]
    numbers = [number(cell) for cell in filled]
    about = {
        "column": name,
        "filled": len(filled),
        "empty": len(cells) - len(filled),
        "distinct": len(set(filled)),
    }
    if filled and all(value is not None for value in numbers):
        about |= {
            "kind": "number",
            "min": str(min(numbers)),
            "max": str(max(numbers)),
            "median": str(statistics.median(numbers)),
        }
    else:
        about["kind"] = "text"
    return about


def totals(header, rows, by, column):
    for name in (by, column):
        if name not in header:
            sys.exit(f"there is no column {name!r}; there are: {', '.join(header)}")
    key, value = header.index(by), header.index(column)
    sums, counts = defaultdict(Decimal), defaultdict(int)
    for row in rows:
        amount = number(row[value])
        if amount is not None:
            sums[row[key]] += amount
            counts[row[key]] += 1
    return [
        {by: group, "rows": counts[group], column: str(sums[group])}
        for group in sorted(sums, key=lambda group: (-sums[group], group))
    ]


def markdown(records):
    if not records:
        return "(nothing)\n"
    names = list(dict.fromkeys(name for record in records for name in record))
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    for record in records:
        cells = [str(record.get(name, "")).replace("|", "\\|") for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--by", help="group by this column")
    parser.add_argument("--sum", help="and add up this one")
    parser.add_argument("--format", choices=("md", "json"), default="md")
    parser.add_argument("--out", help="write here instead of standard output")
    args = parser.parse_args()
    if bool(args.by) != bool(args.sum):
        parser.error("--by and --sum go together")
    header, rows = read(args.file)
    if args.by:
        records = totals(header, rows, args.by, args.sum)
    else:
        records = [describe(name, [row[i] for row in rows]) for i, name in enumerate(header)]
    text = json.dumps(records, indent=2) + "\n" if args.format == "json" else markdown(records)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{len(rows)} rows → {args.out}")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
