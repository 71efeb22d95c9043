"""Verifications over HTTP by 32 connections: against another verifier, and against bare HTTP."""
import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request

from figures import figure, run

PEOPLE = 100_000
PEER_PEOPLE = 20_000
SECONDS = 5
ROUNDS = 2
CONNECTIONS = 32
OPEN = 900
HERE = os.path.dirname(os.path.abspath(__file__))


def measure(table, shipped, benchmark, peers, python, folder, store):
    """Adds the rows; `store` has what a decision costs without HTTP around it."""
    ours = peer = bare = None
    for number in range(ROUNDS):
        place = os.path.join(folder, f"service-{number}")
        ours = better(ours, our_service(shipped, benchmark, place))
        peer = better(peer, flask(python, benchmark, place))
        bare = better(bare, bare_http(os.path.join(peers, "bare_http"), benchmark, place))
    table.rate(f"verifications over HTTP, SQLite, {CONNECTIONS} connections; Flask, gunicorn, SQLAlchemy",
               ours["each"], peer["each"], 10)
    own = store["sqlite-32-processor"]
    table.at_most("the server's processor time for a verification over HTTP, the store's own "
                  f"({figure(own / 1e3)} µs) left out; libmicrohttpd's bare answer",
                  (ours["processor"] - own) / 1e3, bare["processor"] / 1e3, 2, "µs")
    table.told(f"the server's memory at rest; with {OPEN:,} open connections",
               f"{figure(ours['rest'])} MB; {figure(ours['open'])} MB")


def better(before, now):
    return now if before is None else {name: min(before[name], now[name]) for name in now}


def our_service(shipped, benchmark, place):
    server = os.path.join(shipped, "watchword-server")
    os.makedirs(place, mode=0o700)
    database, keys = os.path.join(place, "watchword.db"), os.path.join(place, "keys")
    where = ["--store", f"sqlite:{database}", "--keys", keys]
    token = run([server, "client", "add", "bench", "--scope", "verify", *where], text=True).strip()
    run([benchmark, "fill", database, keys, str(PEOPLE)])
    log = os.path.join(place, "log")
    command = [server, "serve", *where, "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
               "--no-clock-check"]
    with open(log, "wb") as output, ended(subprocess.Popen(command, stderr=output)) as process:
        port = until(lambda: listening(log), process)
        rest = memory(process.pid)
        found = load(port, token, benchmark, PEOPLE, place, [process.pid])
        with contextlib.ExitStack() as connections:
            for number in range(OPEN):
                # No address may have more than 200.
                source = (f"127.0.0.{2 + number // 180}", 0)
                connection = connections.enter_context(
                    socket.create_connection(("127.0.0.1", port), source_address=source))
                connection.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: bench\r\n\r\n")
                if not connection.recv(12).endswith(b"200"):
                    raise SystemExit("bench: a connection was refused")
            return found | {"rest": rest, "open": memory(process.pid)}


def flask(python, benchmark, place):
    database = os.path.join(place, "peer.db")
    peers = os.path.join(HERE, "peers")
    run([python, os.path.join(peers, "flask_verifier.py"), database, str(PEER_PEOPLE)])
    port = free_port()
    # Processes for the processors, and threads so that connections stay open.
    command = [python, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "3", "--threads", "12",
               "--worker-class", "gthread", "--keep-alive", "30", "--log-level", "error",
               "--chdir", peers, "--worker-tmp-dir", place, "flask_verifier:application"]
    environment = os.environ | {"WATCHWORD_PEER_DATABASE": database, "PYTHONDONTWRITEBYTECODE": "1"}
    with ended(subprocess.Popen(command, env=environment)) as process:
        until(lambda: answers(port), process)
        return load(port, "bench", benchmark, PEER_PEOPLE, place, [])


def bare_http(program, benchmark, place):
    with ended(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as process:
        port = int(process.stdout.readline())
        return load(port, "bench", benchmark, PEOPLE, place, [process.pid], once=False)


def load(port, token, benchmark, people, place, pids, once=True):
    """Sends right codes, each once; nanoseconds an answer, and of the processors in the server."""
    bodies = os.path.join(place, "bodies")
    with open(bodies, "wb") as file:
        subprocess.run([benchmark, "bodies", str(people)], check=True, stdout=file)
    before = sum(map(processor_time, pids))
    text = run(["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", os.path.join(HERE, "verifications.lua"),
                f"http://127.0.0.1:{port}", "--", bodies, token, "2"], text=True)
    used = sum(map(processor_time, pids)) - before
    found = {name: int(number) for name, number in
             (line.split() for line in text.splitlines()[-5:])}
    # Who answers always the same may be sent a body again.
    if found["accepted"] == 0 or (once and found["others"] > 0):
        raise SystemExit(f"bench: {found['others']} answers were not an acceptance")
    each = found["microseconds"] * 1e3 / found["accepted"]
    return {"each": each, "processor": used * 1e9 / found["accepted"]}


@contextlib.contextmanager
def ended(process):
    """Ends the process when it is left."""
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
            raise SystemExit("bench: a server ended")
        time.sleep(0.01)
    raise SystemExit("bench: a server does not answer")


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
    """Seconds that processors worked for the process."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """Megabytes that the process has in memory."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1e3
    raise SystemExit("bench: a server ended")
