"""The "sh" blocks of a page that a "text" block with their output follows: runs each as a person pastes it."""
import os
import random
import re
import signal
import socket
import subprocess
import tempfile

from watchword_tools import ROOT

from .tree import is_as_written

PROGRAMS = ROOT / ".build/release"
DEADLINE = 120
# Ports that the kernel does not choose for outgoing connections.
PORTS = range(20000, 30000)
PAIR = re.compile(r"^```sh\n((?:(?!```).*\n)*)```\n+```text\n((?:(?!```).*\n)*)```$", re.M)


def is_free(port):
    with socket.socket() as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) != 0


def with_free_ports(commands):
    """Replaces each port of 127.0.0.1 by a free one, so that servers of this machine do not disturb the example."""
    free = filter(is_free, random.sample(PORTS, len(PORTS)))
    ports = {port: str(next(free)) for port in set(re.findall(r"127\.0\.0\.1:(\d+)", commands))}
    return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda found: ports[found[0]], commands)


def differences(name, commands, written):
    """Runs a block of the page `name` in an empty folder, and yields what is wrong with the block."""
    kept = {variable: value for variable, value in os.environ.items()
            if not variable.startswith(("XDG_", "WATCHWORD_"))}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        environment = kept | {"HOME": folder, "TMPDIR": folder, "PATH": f"{PROGRAMS}:{kept['PATH']}"}
        # The shell reads the block from standard input, so a command that reads standard input, too, fails here.
        shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, text=True,
                                 cwd=folder, env=environment, start_new_session=True)
        try:
            shell.communicate(with_free_ports(commands), timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            yield f"{name}: after {DEADLINE} s, a block had not ended:\n{commands}"
        try:
            os.killpg(shell.pid, signal.SIGKILL)
            yield f"{name}: a block does not end the processes that it starts:\n{commands}"
        except ProcessLookupError:
            pass
        if status := shell.wait():
            yield f"{name}: a block ends with status {status}:\n{commands}"
        output.seek(0)
        lines = output.read().splitlines()
    if not is_as_written(lines, written):
        yield "\n".join([f"{name}:", commands + "expected:", *written, "actual:", *lines])


def check(page):
    """Runs the blocks of a page; returns what is wrong with them."""
    pairs = PAIR.findall(page.read_text(encoding="utf-8"))
    if not pairs:
        return [f"{page.name} has no example that can be run"]
    mistakes = [mistake for commands, written in pairs
                for mistake in differences(page.name, commands, written.splitlines())]
    print(f"{len(pairs)} blocks of {page.name} run, {len(mistakes)} mistakes")
    return mistakes
