"""Measures the agent: codes, compared with the start of the command and with `pass otp`, and its memory."""
import contextlib
import json
import os
import random
import subprocess
import tempfile

from figures import Failure, fastest, run

START_ROUNDS = 200
PEER_ROUNDS = 20
ENTRIES = 50
MANY_ENTRIES = 1_000
PASSPHRASE = "correct horse battery staple"
KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def measure(table, place, folder):
    with unlocked(place, folder, ENTRIES) as agent:
        measure_start(table, place, folder, agent)
        measure_peer(table, folder, agent)
        agent.run("edit", agent.names[-1], "--this-device=file")
        measure_start(table, place, folder, agent, " of an entry that is bound to the device")
    # Only one agent may run while shared memory is measured.
    with unlocked(place, folder, MANY_ENTRIES) as agent:
        measure_start(table, place, folder, agent)
        measure_rate(table, agent)
        measure_memory(table, agent)


class Agent:
    """A vault that an agent of the benchmark holds."""

    def __init__(self, place, vault, runtime, entries):
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": runtime, "WATCHWORD_CLOCK_WARNING": "off"}
        self.command = [place.shipped("watchword"), "--vault", vault]
        self.entries = entries
        self.names = [f"Service{number}:ann" for number in range(entries)]

    def run(self, *arguments):
        return run([*self.command, *arguments], env=self.environment)

    def code(self, *names):
        return [*self.command, "code", *names]

    def processes(self):
        """The key holder, and the supervisor that started it."""
        holder = json.loads(self.run("agent", "status", "--json"))["pid"]
        return holder, int(field(f"/proc/{holder}/status", "PPid"))


@contextlib.contextmanager
def unlocked(place, folder, entries):
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory() as runtime:
        agent = Agent(place, os.path.join(folder, f"vault-{entries}"), runtime, entries)
        generator = random.Random(6238)
        lines = []
        for name in agent.names:
            key = "".join(generator.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=32))
            lines.append(f"otpauth://totp/{name}?secret={key}&issuer={name.split(':')[0]}")
        opening = ["--passphrase-file", written(folder, "passphrase", PASSPHRASE)]
        agent.run("init", "--no-recovery-key", *opening)
        agent.run("import", written(folder, "entries", "\n".join(lines)), *opening)
        agent.run("unlock", *opening)
        try:
            yield agent
        finally:
            agent.run("agent", "stop")


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(f"{text}\n")
    return path


def measure_start(table, place, folder, agent, which=""):
    times = fastest(START_ROUNDS, {
        "code": agent.code(agent.names[-1]),
        "totp": [place.shipped("watchword"), "totp", "--secret-file", written(folder, "key", KEY)],
    }, environment=agent.environment)
    table.at_most(f"`code`{which} through the agent, {agent.entries:,} entries, whole process; `watchword totp`",
                  times["code"] * 1e3, times["totp"] * 1e3, 1.5, "ms")


def measure_peer(table, folder, agent):
    for passphrase, what in ((PASSPHRASE, "passphrase cached"), ("", "key without a passphrase")):
        with password_store(folder, agent.environment, passphrase) as environment:
            times = fastest(PEER_ROUNDS, {"ours": agent.code(agent.names[-1]), "theirs": ["pass", "otp", "bench"]},
                            environment=environment)
        table.faster(f"`code` through the agent; `pass otp` with a warm gpg-agent, {what}", times["ours"] * 1e3,
                     times["theirs"] * 1e3, 5, "ms")


@contextlib.contextmanager
def password_store(folder, environment, passphrase):
    """The environment for `pass`, with one key whose passphrase gpg-agent has cached."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory(dir=folder) as store:
        environment = environment | {"GNUPGHOME": home, "PASSWORD_STORE_DIR": store}
        gpg = ["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", passphrase]
        try:
            run([*gpg, "--quick-generate-key", "bench", "default", "default", "never"], env=environment)
            run(["pass", "init", "bench"], env=environment)
            subprocess.run(["pass", "otp", "insert", "bench"], env=environment, check=True, capture_output=True,
                           input=f"otpauth://totp/bench?secret={KEY}\n".encode())
            run([*gpg, "--decrypt", os.path.join(store, "bench.gpg")], env=environment)
            yield environment
        finally:
            run(["gpgconf", "--kill", "all"], env=environment)


def measure_rate(table, agent):
    """One process asks for the codes of all entries on one connection; its start is subtracted."""
    times = fastest(PEER_ROUNDS, {"all": agent.code(*agent.names), "one": agent.code(agent.names[0])},
                    environment=agent.environment)
    each = (times["all"] - times["one"]) / (agent.entries - 1)
    table.minimum(f"codes of {agent.entries:,} entries on one connection", 1 / each, 1_000, "/s")


def measure_memory(table, agent):
    processes = agent.processes()
    shared = sum(megabytes(process, "smaps_rollup", "Pss") for process in processes)
    table.maximum("memory of the agent's two processes at rest, shared pages counted in proportion (PSS)", shared,
                  15, "MB")
    resident = [megabytes(process, "status", "VmRSS") for process in processes]
    table.figures("resident memory (RSS) of the process with the keys; of the other",
                  "; ".join(f"{number:.1f} MB" for number in resident))


def megabytes(process, name, label):
    try:
        return int(field(f"/proc/{process}/{name}", label).split()[0]) * 1024 / 1e6
    except PermissionError:
        raise Failure("only root can read how a process that cannot be dumped shares memory; run this part as root") \
            from None


def field(path, label):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"{label}:"):
                return line.split(":")[1].strip()
    raise Failure(f"{path}: no {label}")
