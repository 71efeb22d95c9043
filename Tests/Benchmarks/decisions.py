"""Decisions by the verifier in one process: against the store's own rate, and as the store grows."""
import os

from figures import figure, least

ROUNDS = 3
SLICES = 25
SMALLEST = 1_000


def measure(table, benchmark, peers, folder):
    """Adds the rows; returns what was found by name."""
    found = {}
    for number in range(ROUNDS):
        # A database of its own each time: what it becomes by age is measured apart.
        place = os.path.join(folder, f"decisions-{number}", "watchword.db")
        for name, nanoseconds in least(1, [[benchmark, "decisions", place, str(SLICES)]]).items():
            found[name] = min(found.get(name, float("inf")), nanoseconds)
    for callers, goal in ((1, 0.8), (32, 3)):
        table.rate(f"durable verifications, SQLite, {callers} caller{'s' if callers > 1 else ''}; "
                   "a bare loop of the same `UPDATE`", found[f"sqlite-{callers}"], found["sqlite-bare"], goal)
    counts = [10, 1_000, 100_000]
    found |= least(1, [[os.path.join(peers, "usersfile"), folder, *map(str, counts)]])
    for count in counts:
        table.faster(f"a verification; libpam-oath's file of {count:,} users", found["sqlite-1"] / 1e6,
                     found[f"usersfile-{count}"] / 1e6, 100 if count == 100_000 else None, "ms")
    measure_scale(table, benchmark, folder)
    measure_year(table, benchmark, folder)
    return found


def measure_scale(table, benchmark, folder):
    counts = [SMALLEST, 100 * SMALLEST, 1_000 * SMALLEST]
    places = [os.path.join(folder, f"scale-{count}", "watchword.db") for count in counts]
    found = least(1, [[benchmark, "scale", str(SMALLEST), *places]])
    for count in counts[1:]:
        for callers in (1, 32):
            table.at_most(f"a verification among {count:,} credentials; among {SMALLEST:,} "
                          f"({callers} caller{'s' if callers > 1 else ''})",
                          found[f"scale-{count}-{callers}"] / 1e3, found[f"scale-{SMALLEST}-{callers}"] / 1e3,
                          1.25, "µs")
    for count in counts:
        percentiles = [figure(found[f"scale-{count}-32-{part}"] / 1e6) for part in ("p50", "p99", "p999")]
        table.told(f"how long 32 callers wait, {count:,} credentials: 50th, 99th, 99.9th percentile",
                   f"{', '.join(percentiles)} ms")


def measure_year(table, benchmark, folder):
    found = least(1, [[benchmark, "year", os.path.join(folder, "year", "watchword.db")]])
    table.at_most("a verification after a year of daily logins; in the second month",
                  found["year-last"] / 1e3, found["year-first"] / 1e3, 1.25, "µs")
    table.at_most("the database after that year; after the second month (events kept for 30 days)",
                  found["year-last-bytes"] / 1e6, found["year-first-bytes"] / 1e6, 1.1, "MB")
