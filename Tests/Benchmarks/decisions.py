"""Decisions by the verifier in one process on SQLite: against the store's own rate, and as time goes by."""
import os

from figures import keep, least

ROUNDS = 3
SLICES = 25
DENIALS = 10_000


def measure_store(table, place, folder):
    found = {}
    for number in range(ROUNDS):
        # A database of its own each time: what it becomes by age is measured apart.
        keep(found, decisions(place, os.path.join(folder, str(number)), SLICES))
    for callers, goal in ((1, 0.8), (32, 3)):
        table.rate(f"durable verifications, SQLite, {callers} caller{'s' if callers > 1 else ''}; "
                   "a bare loop of the same `UPDATE`", found[f"sqlite-{callers}"], found["sqlite-bare"], goal)
    counts = [10, 1_000, 100_000]
    found |= least(1, [[place.peer("usersfile"), folder, *map(str, counts)]])
    for count in counts:
        table.faster(f"a verification; libpam-oath's file of {count:,} users", found["sqlite-1"] / 1e6,
                     found[f"usersfile-{count}"] / 1e6, 100 if count == 100_000 else None, "ms")


def decisions(place, folder, slices):
    """Nanoseconds a decision by one caller and by 32, and what they cost the processors."""
    return least(1, [[place.benchmark("StoreBenchmark"), "decisions", os.path.join(folder, "watchword.db"),
                      str(slices)]])


def measure_denials(table, place, folder):
    denials(table, place, os.path.join(folder, "watchword.db"), "SQLite", DENIALS)


def denials(table, place, store, kind, count):
    """Refusals of both kinds in turn, in an empty store."""
    found = least(1, [[place.benchmark("StoreBenchmark"), "denials", store, str(count)]])
    table.at_most(f"a wrong code; a subject that nobody knows ({kind}, the medians of {count:,} each)",
                  found["denial-wrong-p50"] / 1e3, found["denial-unknown-p50"] / 1e3, None, "µs")
    table.within(f"of two such answers ({kind}) the wrong code's comes later (one half: their times tell nothing)",
                 found["denial-superiority"] * 100, 45, 55, "%")


def measure_year(table, place, folder):
    found = least(1, [[place.benchmark("StoreBenchmark"), "year", os.path.join(folder, "watchword.db")]])
    table.at_most("a verification after a year of daily logins; in the second month",
                  found["year-last"] / 1e3, found["year-first"] / 1e3, 1.25, "µs")
    table.at_most("the database after that year; after the second month (events kept for 30 days)",
                  found["year-last-bytes"] / 1e6, found["year-first-bytes"] / 1e6, 1.1, "MB")
