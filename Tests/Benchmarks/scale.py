"""Measures decisions as the store grows from a thousand credentials to a million."""
import os
import sys

from figures import figure, least, run
from postgresql import database, server, tell

SMALLEST = 1_000
COUNTS = [SMALLEST, 100 * SMALLEST, 1_000 * SMALLEST]
# Filling a large store takes minutes; this allows for a slower or busy machine.
TIMEOUT = 3_600


def measure_sqlite(table, place, folder):
    scale(table, place, folder, "SQLite", [os.path.join(folder, str(count), "watchword.db") for count in COUNTS])


def measure_postgresql(table, place, folder):
    with server() as address:
        stores = [database(address, f"scale_{count}") for count in COUNTS]
        scale(table, place, folder, "PostgreSQL", stores, tidy)


def tidy(store):
    """Finishes the work that filling leaves behind, so that it does not disturb the measurement."""
    tell(store, "VACUUM ANALYZE", "CHECKPOINT")


def scale(table, place, folder, kind, stores, tidy=None):
    benchmark, keys = place.benchmark("StoreBenchmark"), os.path.join(folder, "keys")
    for count, store in zip(COUNTS, stores):
        print(f"bench:   filling {kind} with {count:,} credentials", file=sys.stderr)
        run([benchmark, "fill", store, keys, str(count)], timeout=TIMEOUT)
        if tidy:
            tidy(store)
    sizes = [text for count, store in zip(COUNTS, stores) for text in (str(count), store)]
    found = least(1, [[benchmark, "scale", keys, "1", *sizes]], TIMEOUT)
    for callers in (1, 32):
        who = f"{callers} caller{'s' if callers > 1 else ''}"
        for count in COUNTS[1:]:
            # In other words, at most 1.25 times the time.
            table.rate(f"verifications with {count:,} credentials; with {SMALLEST:,} ({who})",
                       found[f"scale-{count}-{callers}"], found[f"scale-{SMALLEST}-{callers}"], 0.8)
        for count in COUNTS[1:]:
            table.figures(f"latency (50th, 99th, 99.9th percentile) with {count:,} credentials; "
                       f"with {SMALLEST:,} ({who})",
                       percentiles(found, count, callers), percentiles(found, SMALLEST, callers))


def percentiles(found, count, callers):
    parts = [figure(found[f"scale-{count}-{callers}-{part}"] / 1e6) for part in ("p50", "p99", "p999")]
    return f"{', '.join(parts)} ms"
