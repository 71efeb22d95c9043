"""Compares decisions on a temporary PostgreSQL server with pgbench running the same UPDATE."""
import contextlib
import glob
import os
import pwd
import shutil
import subprocess
import tempfile

import decisions
from figures import Failure, keep, least, run

PROGRAMS = max(glob.glob("/usr/lib/postgresql/*/bin"), default="")
SECONDS = 3
ROUNDS = 2
ROWS = 1_000
DENIALS = 4_000
# Our callers, pgbench's clients and the goal. The server allows 100 connections; our store uses four.
CALLERS = ((1, 1, None), (8, 8, None), (32, 32, 1.0), (128, 90, 2.0))

# The same columns and indexes as the table of credentials, with ids that pgbench can compute.
PEER = ["CREATE TABLE watchword.peer (LIKE watchword.credentials INCLUDING ALL)", f"""
INSERT INTO watchword.peer SELECT decode(lpad(to_hex(number), 32, '0'), 'hex'), subject, kind, state, version,
    key_id, fingerprint, created_at, lapses_at, body, authentication
    FROM (SELECT row_number() OVER () AS number, * FROM watchword.credentials LIMIT {ROWS}) AS filled
""", "VACUUM ANALYZE watchword.peer"]
UPDATE = f"""
\\set row random(1, {ROWS})
UPDATE watchword.peer SET version = version + 1, body = decode(repeat('2a', 200), 'hex')
    WHERE id = decode(lpad(to_hex(:row::integer), 32, '0'), 'hex') AND version < 9223372036854775807;
"""


def measure(table, place, folder):
    benchmark, keys = place.benchmark("StoreBenchmark"), os.path.join(folder, "keys")
    with server() as address, tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(UPDATE)
        script.flush()
        store = database(address, "bench")
        run([benchmark, "fill", store, keys, str(ROWS)])
        tell(store, *PEER)
        found = {}
        for number in range(ROUNDS):
            for _, clients, _ in CALLERS:
                keep(found, {f"pgbench-{clients}": pgbench(store, script.name, clients)})
            keep(found, least(1, [[benchmark, "callers", store, keys, str(ROWS), str(number + 1)]]))
        for callers, clients, goal in CALLERS:
            table.rate(f"verifications, {callers} caller{'s' if callers > 1 else ''}; "
                       f"`pgbench` with the same `UPDATE`, {clients} client{'s' if clients > 1 else ''}",
                       found[f"callers-{callers}"], found[f"pgbench-{clients}"], goal)
        decisions.denials(table, place, database(address, "denials"), "PostgreSQL", DENIALS)


def pgbench(address, script, clients):
    text = run([f"{PROGRAMS}/pgbench", "-n", "-M", "prepared", "-f", script, "-c", str(clients),
                "-j", str(min(clients, 2)), "-T", str(SECONDS), address], text=True)
    for line in text.splitlines():
        if line.startswith("tps"):
            return 1e9 / float(line.split()[2])
    raise Failure("pgbench printed no rate")


def database(address, name):
    """Creates a database and returns its address."""
    tell(f"{address} dbname=postgres", f"CREATE DATABASE {name}")
    return f"{address} dbname={name}"


def tell(store, *statements):
    for statement in statements:
        run(["psql", "-q", "-d", store, "-v", "ON_ERROR_STOP=1", "-c", statement])


@contextlib.contextmanager
def server():
    """A temporary server on a Unix socket, with full durability and default settings."""
    folder = tempfile.mkdtemp(prefix="watchword-bench-", dir="/var/tmp")
    before = []
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root.
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        before = ["runuser", "-u", "postgres", "--"]
    data = os.path.join(folder, "data")
    try:
        run([*before, f"{PROGRAMS}/initdb", "-D", data, "-U", "watchword", "-A", "trust", "-E", "UTF8", "--no-sync",
             "--locale=C"], cwd=folder)
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        control = [*before, f"{PROGRAMS}/pg_ctl", "-D", data, "-w", "-s"]
        # Not `run`: the server would keep its pipes open, and reading them would never end.
        subprocess.run([*control, "-o", options, "-l", os.path.join(folder, "log"), "start"], check=True,
                       cwd=folder, stdout=subprocess.DEVNULL)
        try:
            yield f"host={folder} user=watchword"
        finally:
            run([*control, "-m", "fast", "stop"], cwd=folder)
    finally:
        shutil.rmtree(folder)
