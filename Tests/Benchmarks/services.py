"""Measures the server: its memory, and verifications over HTTP, compared with another verifier and bare HTTP."""
import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

from decisions import decisions
from figures import Failure, figure, keep, run

PEOPLE = 100_000
PEER_PEOPLE = 20_000
SECONDS = 5
ROUNDS = 2
CONNECTIONS = 32
OPEN = 1_000
# The server limits the connections from one address.
SHARE = 180
# More slices do not lower the minimum.
SLICES = 25


def measure(table, place, folder):
    found = {}
    for number in range(ROUNDS):
        round_folder = os.path.join(folder, str(number))
        os.mkdir(round_folder, mode=0o700)
        keep(found, named("ours", our_service(place, round_folder)))
        keep(found, named("flask", flask(place, round_folder)))
        keep(found, named("bare", bare_http(place, round_folder)))
        # The cost of a decision without HTTP.
        keep(found, decisions(place, os.path.join(round_folder, "store"), SLICES))
    table.rate(f"verifications over HTTP, {CONNECTIONS} connections; Flask, gunicorn, SQLAlchemy",
               found["ours-each"], found["flask-each"], 10)
    own = found["sqlite-32-processor"]
    table.at_most("processor time of a verification over HTTP, without the store's "
                  f"({figure(own / 1e3)} µs); libmicrohttpd alone",
                  (found["ours-processor"] - own) / 1e3, found["bare-processor"] / 1e3, 2, "µs")


def named(name, found):
    return {f"{name}-{part}": number for part, number in found.items()}


def measure_memory(table, place, folder):
    with serving(place, folder) as (process, port), contextlib.ExitStack() as connections:
        rest = memory(process.pid)
        for number in range(OPEN):
            source = (f"127.0.0.{2 + number // SHARE}", 0)
            connection = connections.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=10, source_address=source))
            connection.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: bench\r\n\r\n")
            if not connection.recv(12).endswith(b"200"):
                raise Failure(f"connection {number} was refused")
        table.figures(f"memory of an idle server; with {OPEN:,} open connections",
                   f"{figure(rest)} MB; {figure(memory(process.pid))} MB")


def our_service(place, folder):
    token = run([place.shipped("watchword-server"), "client", "add", "bench", "--scope", "verify", *state(folder)],
                text=True).strip()
    run([place.benchmark("StoreBenchmark"), "fill", database(folder), keys(folder), str(PEOPLE)])
    with serving(place, folder) as (process, port):
        return load(place, port, token, PEOPLE, folder, [process.pid])


def database(folder):
    return os.path.join(folder, "watchword.db")


def keys(folder):
    return os.path.join(folder, "keys")


def state(folder):
    return ["--store", f"sqlite:{database(folder)}", "--keys", keys(folder)]


@contextlib.contextmanager
def serving(place, folder, *options):
    """Our server on that folder's database, and its port."""
    log = os.path.join(folder, "log")
    command = [place.shipped("watchword-server"), "serve", *state(folder), "--listen", "127.0.0.1:0",
               "--ops-listen", "127.0.0.1:0", "--no-clock-check", *options]
    with open(log, "wb") as output, ended(subprocess.Popen(command, stderr=output)) as process:
        yield process, until(lambda: listening(log), process)


def flask(place, folder):
    peers, path = place.source("peers"), os.path.join(folder, "peer.db")
    run([place.python, os.path.join(peers, "flask_verifier.py"), path, str(PEER_PEOPLE)])
    port = free_port()
    # Processes use the processors; threads keep connections open.
    command = [place.python, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "3", "--threads", "12",
               "--worker-class", "gthread", "--keep-alive", "30", "--log-level", "error",
               "--chdir", peers, "--worker-tmp-dir", folder, "flask_verifier:application"]
    environment = os.environ | {"WATCHWORD_PEER_DATABASE": path, "PYTHONDONTWRITEBYTECODE": "1"}
    with ended(subprocess.Popen(command, env=environment)) as process:
        until(lambda: answers(port), process)
        return load(place, port, "bench", PEER_PEOPLE, folder, [])


def bare_http(place, folder):
    with ended(subprocess.Popen([place.peer("bare_http")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as process:
        port = int(process.stdout.readline())
        return load(place, port, "bench", PEOPLE, folder, [process.pid], once=False)


def load(place, port, token, people, folder, pids, once=True):
    """Sends correct codes, each once; returns nanoseconds per response and the server's processor time."""
    bodies = os.path.join(folder, "bodies")
    with open(bodies, "wb") as file:
        file.write(run([place.benchmark("StoreBenchmark"), "bodies", str(people)]))
    before = sum(map(processor_time, pids))
    text = run(["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", place.source("verifications.lua"),
                f"http://127.0.0.1:{port}", "--", bodies, token, "2"], text=True)
    used = sum(map(processor_time, pids)) - before
    found = {name: int(number) for name, number in
             (line.split() for line in text.splitlines()[-5:])}
    # A server whose response never changes may receive a body twice.
    if found["accepted"] == 0 or (once and found["others"] > 0):
        raise Failure(f"{found['others']} responses were not acceptances")
    each = found["microseconds"] * 1e3 / found["accepted"]
    return {"each": each, "processor": used * 1e9 / found["accepted"]}


@contextlib.contextmanager
def ended(process):
    """Ends the process at the end of the block."""
    try:
        yield process
    finally:
        process.terminate()
        if process.stdin:
            process.stdin.close()
        process.wait()


def until(attempt, process):
    for _ in range(1_000):
        found = attempt()
        if found:
            return found
        if process.poll() is not None:
            raise Failure("a server exited")
        time.sleep(0.01)
    raise Failure("a server does not respond")


def listening(log):
    with open(log, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line) if line.endswith("\n") else {}
            if event.get("event") == "listening":
                return int(event["service"].rsplit(":", 1)[1])
    return None


def answers(port):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def processor_time(pid):
    """Processor seconds that the process used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Resident memory of the process in megabytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1e3
    raise Failure("a server exited")
