"""Measures decisions on SQLite in one process: throughput, timing of denials, and a year of use."""
import os

from figures import keep, least

ROUNDS = 3
SLICES = 25
DENIALS = 10_000


def measure_store(table, place, folder):
    found = {}
    for number in range(ROUNDS):
        # A new database each time; `measure_year` measures how age affects it.
        keep(found, decisions(place, os.path.join(folder, str(number)), SLICES))
    for callers, goal in ((1, 0.8), (32, 3)):
        table.rate(f"verifications, {callers} caller{'s' if callers > 1 else ''}; "
                   "a loop of the same `UPDATE` alone", found[f"sqlite-{callers}"], found["sqlite-bare"], goal)
    counts = [10, 1_000, 100_000]
    found |= least(1, [[place.peer("usersfile"), folder, *map(str, counts)]])
    for count in counts:
        table.faster(f"time of a verification; libpam-oath, file of {count:,} users", found["sqlite-1"] / 1e6,
                     found[f"usersfile-{count}"] / 1e6, 100 if count == 100_000 else None, "ms")


def decisions(place, folder, slices):
    """Nanoseconds for each decision with one caller and with 32, and the processor time they take."""
    return least(1, [[place.benchmark("StoreBenchmark"), "decisions", os.path.join(folder, "watchword.db"),
                      str(slices)]])


def measure_denials(table, place, folder):
    denials(table, place, os.path.join(folder, "watchword.db"), "SQLite", DENIALS)


def denials(table, place, store, kind, count):
    """Alternates both kinds of denial in an empty store."""
    found = least(1, [[place.benchmark("StoreBenchmark"), "denials", store, str(count)]])
    table.at_most(f"time of a denial on {kind}, wrong code; unknown subject (medians of {count:,} each)",
                  found["denial-wrong-p50"] / 1e3, found["denial-unknown-p50"] / 1e3, None, "µs")
    table.within("share of pairs in which the wrong code takes longer (50 % means that timing reveals nothing)",
                 found["denial-superiority"] * 100, 45, 55, "%")


def measure_year(table, place, folder):
    found = least(1, [[place.benchmark("StoreBenchmark"), "year", os.path.join(folder, "watchword.db")]])
    table.at_most("time of a verification after a year of daily logins; in the second month",
                  found["year-last"] / 1e3, found["year-first"] / 1e3, 1.25, "µs")
    table.at_most("size of the database after that year; after the second month (events kept for 30 days)",
                  found["year-last-bytes"] / 1e6, found["year-first-bytes"] / 1e6, 1.1, "MB")
