#!/usr/bin/env python3
"""Measures the shipped programs against others, part by part, and prints a Markdown table of ratios.

    measure.py PLACE [--only PART]… [--write]
    measure.py PLACE [--only PART]… --list      the parts alone

PLACE has the programs, as Scripts/bench builds them. Rounds are interleaved, so that whatever disturbs
the machine disturbs everybody, and the minimum of the rounds counts.

Each part's rows are kept in PLACE, so that one that fails costs no other: `--only` measures it again
beside the rest. `--write` puts the table into the README once every part has its rows.
"""
import argparse
import datetime
import json
import os
import platform
import signal
import sys
import tempfile
import time

import decisions
import postgresql
import programs
import scale
import services
from figures import Failure, Place, Table

PARTS = {
    "codes": programs.measure_codes,
    "start": programs.measure_start,
    "vault": programs.measure_vault,
    "pictures": programs.measure_pictures,
    "sqlite": decisions.measure_store,
    "denials": decisions.measure_denials,
    "year": decisions.measure_year,
    "postgresql": postgresql.measure,
    "scale-sqlite": scale.measure_sqlite,
    "scale-postgresql": scale.measure_postgresql,
    "http": services.measure,
    "memory": services.measure_memory,
}
MARKS = ("<!-- measured: Scripts/bench --write -->", "<!-- end of what was measured -->")


def measure(name, place):
    """Measures a part; returns its rows, with the day."""
    say(name)
    start = time.monotonic()
    table = Table()
    # On the disk that the measured programs would have, not in memory.
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        PARTS[name](table, place, folder)
    for row in table.rows:
        say("  " + " | ".join(row))
    say(f"{name} took {time.monotonic() - start:.0f} s")
    return {"day": datetime.date.today().isoformat(), "rows": table.rows}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Kept:
    """The rows of parts, each in a file of its own."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, f"{name}.json")

    def forget(self):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))

    def write(self, name, part):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(part, file)

    def missing(self):
        return [name for name in PARTS if not os.path.exists(self.path(name))]

    def read(self):
        """The parts that have rows, in their order."""
        for name in PARTS:
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="utf-8") as file:
                    yield json.load(file)


def text_of(parts):
    lines = ["| | Watchword | the other | ratio | goal |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for part in parts for row in part["rows"]]
    days = sorted({part["day"] for part in parts})
    lines += ["", f"Measured on {machine()}, {' and '.join(days)}; the minimum of interleaved rounds."]
    return "\n".join(lines)


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                     platform.machine())
    return f"{model}, {os.cpu_count()} cores"


def write(readme, text):
    with open(readme, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(readme, "w", encoding="utf-8") as file:
        file.write(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")


def main():
    arguments = argparse.ArgumentParser(prog="bench")
    arguments.add_argument("place")
    arguments.add_argument("--only", action="append", choices=PARTS, metavar="PART")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--list", action="store_true")
    wanted = arguments.parse_args()
    if wanted.list:
        print("\n".join(wanted.only or PARTS))
        return
    # What was started ends with us, and what was written goes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: told to end"))
    place = Place(wanted.place)
    kept = Kept(os.path.join(place.folder, "rows"))
    # A whole run owes nothing to an earlier one.
    if not wanted.only:
        kept.forget()
    for name in wanted.only or PARTS:
        try:
            kept.write(name, measure(name, place))
        except Failure as failure:
            raise SystemExit(f"bench: {name}: {failure}\nbench: the other parts' rows are kept; "
                             f"without rows: {' '.join(kept.missing())}") from None
    text = text_of(list(kept.read()))
    print(text)
    if wanted.write:
        if kept.missing():
            raise SystemExit(f"bench: not written, without rows: {' '.join(kept.missing())}")
        write(place.source("..", "..", "README.md"), text)


main()
