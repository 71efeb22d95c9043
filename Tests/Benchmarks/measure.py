#!/usr/bin/env python3
"""Compares the release programs with others, part by part, and prints Markdown tables of ratios.

    measure.py PLACE [--only PART]… [--write]
    measure.py PLACE [--only PART]… --list      prints the names of the parts

PLACE contains the programs, as Scripts/bench builds them. Rounds are interleaved, so that a disturbance
affects all programs alike, and the minimum of the rounds counts.

Each part's rows are kept in PLACE, so a part that fails does not affect the others: `--only` measures
it again. `--write` puts the tables into RESULTS.md once every part has its rows.
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

import agent
import decisions
import logins
import passkeys
import postgresql
import programs
import scale
import services
from figures import Failure, Place, Table

# Each part: the title of its table, and what measures it.
PARTS = {
    "codes": ("Codes", programs.measure_codes),
    "start": ("Start of the command", programs.measure_start),
    "agent": ("The agent", agent.measure),
    "vault": ("A large vault", programs.measure_vault),
    "pictures": ("Pictures", programs.measure_pictures),
    "sqlite": ("Decisions on SQLite", decisions.measure_store),
    "passkeys": ("Passkeys on SQLite", passkeys.measure),
    "denials": ("Timing of denials", decisions.measure_denials),
    "year": ("A year of daily logins", decisions.measure_year),
    "postgresql": ("Decisions on PostgreSQL", postgresql.measure),
    "scale-sqlite": ("Up to a million credentials on SQLite", scale.measure_sqlite),
    "scale-postgresql": ("Up to a million credentials on PostgreSQL", scale.measure_postgresql),
    "logins": ("Logins through PAM", logins.measure),
    "http": ("HTTP", services.measure),
    "memory": ("Memory", services.measure_memory),
}
MARKS = ("<!-- measured: Scripts/bench --write -->", "<!-- end of measurements -->")


def measure(name, place):
    """Measures a part; returns its rows and the date."""
    say(name)
    start = time.monotonic()
    table = Table()
    # On a disk, as in production, not in memory.
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        PARTS[name][1](table, place, folder)
    for row in table.rows:
        say("  " + " | ".join(row))
    say(f"{name} took {time.monotonic() - start:.0f} s")
    return {"day": datetime.date.today().isoformat(), "rows": table.rows}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Kept:
    """The rows of each part, in one file per part."""

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
        """The names and results of the parts that have rows, in order."""
        for name in PARTS:
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="utf-8") as file:
                    yield name, json.load(file)


def text_of(parts):
    lines = [f"Measured on {machine()}. Each figure is the minimum of interleaved rounds."]
    for name, part in parts:
        lines += ["", f"### {PARTS[name][0]}", "", f"`Scripts/bench --only {name}`, {part['day']}", "",
                  "| measurement; reference | Watchword | reference | ratio | goal |", "|---|---|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in part["rows"]]
    return "\n".join(lines)


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                     platform.machine())
    return f"{model}, {os.cpu_count()} cores"


def write(results, text):
    with open(results, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    with open(results, "w", encoding="utf-8") as file:
        file.write(f"{before}{MARKS[0]}\n{text}\n\n{MARKS[1]}{after}")


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
    # Ends what was started, and removes what was written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: terminated"))
    place = Place(wanted.place)
    kept = Kept(os.path.join(place.folder, "rows"))
    # A complete run starts without earlier rows.
    if not wanted.only:
        kept.forget()
    for name in wanted.only or PARTS:
        try:
            kept.write(name, measure(name, place))
        except Failure as failure:
            raise SystemExit(f"bench: {name}: {failure}\nbench: the rows of other parts are kept; "
                             f"parts without rows: {' '.join(kept.missing())}") from None
    text = text_of(list(kept.read()))
    print(text)
    if wanted.write:
        if kept.missing():
            raise SystemExit(f"bench: nothing written; parts without rows: {' '.join(kept.missing())}")
        write(place.source("RESULTS.md"), text)


main()
