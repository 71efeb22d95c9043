"""The examples of the routes in the documentation: runs them and compares the responses."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from watchword_tools import ROOT

from . import blocks
from .tree import is_as_written, section

REFERENCE = ROOT / "Sources/Server/VerificationService/API.md"
PROGRAMS = ROOT / ".build/release"
METHODS = {"get", "post", "patch", "delete"}
SECTION = section("routes")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.S | re.M)


def steps(text):
    """The commands of the example, each with the lines that it prints."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        else:
            found[-1][1].append(line)
    return found


def described_routes():
    """Returns the server's OpenAPI document, as far as it names routes: the methods of each path."""
    described = json.loads(subprocess.run(
        [PROGRAMS / "watchword-server", "openapi"], check=True, capture_output=True).stdout)
    if not described["paths"]:
        sys.exit("the server's OpenAPI document describes no routes")
    return {path: METHODS & set(operations) for path, operations in described["paths"].items()}


def routes_without_example(commands, described):
    """Yields a complaint for each described route that no command uses."""
    for template, methods in described.items():
        path = re.sub(r"\\{\w+\\}", r"[^/ ]+", re.escape(template))
        for method in sorted(methods):
            if not re.search(rf"\b{method.upper()} {path}(?:[ ?]|$)", commands, re.M):
                yield f"no example in {REFERENCE.name}: {method.upper()} {template}"


def addresses(log, server):
    """The addresses that the server logs at its start."""
    while server.poll() is None:
        found = dict(re.findall(r'"(service|operations)":"([\d.:]+)"', log.read_text()))
        if len(found) == 2:
            return found
        time.sleep(0.1)
    sys.exit("the server did not start: " + log.read_text())


def run(parts, folder):
    """Runs the commands of API.md in `folder` and yields the differences."""
    environment = os.environ | {
        "XDG_STATE_HOME": str(folder), "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
    log = folder / "log"
    with open(log, "wb") as lines:
        server = subprocess.Popen(
            ["watchword-server", "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
             "--no-clock-check", "--rp-id", "mill.example", "--pages", "--audience",
             "https://login.example"], stderr=lines, env=environment)
    try:
        found = addresses(log, server)
        script = "exec 2>&1\n"
        for number, (command, _) in enumerate(parts):
            script += f"{command}\nprintf '\\n== {number}\\n'\n"
        script = script.replace("127.0.0.1:8420", found["service"])
        script = script.replace("127.0.0.1:8421", found["operations"])
        said = subprocess.run(["bash"], input=script, text=True, stdout=subprocess.PIPE,
                              cwd=folder, env=environment, timeout=120).stdout
    finally:
        server.terminate()
        status = server.wait()
    if status != 0:
        yield f"the server exited with status {status}"
    answers = re.split(r"\n== \d+\n", said)
    for (command, written), answer in zip(parts, answers):
        lines = [line for line in answer.splitlines() if line]
        if not is_as_written(lines, [line for line in written if line]):
            yield "\n".join(["$ " + command, f"{REFERENCE.name}:", *written, "actual:", *lines])


def check():
    """Runs the example of the routes in API.md; returns what is wrong with it."""
    found = SECTION.findall(REFERENCE.read_text())
    if len(found) != 1:
        return [f"{REFERENCE.name} needs exactly one example of the routes"]
    parts = steps("".join(BLOCK.findall(found[0][1])))
    mistakes = list(routes_without_example("\n".join(command for command, _ in parts), described_routes()))
    with tempfile.TemporaryDirectory() as folder:
        mistakes += run(parts, pathlib.Path(folder))
    print(f"{len(parts)} commands of {REFERENCE.name} run, {len(mistakes)} differences")
    return mistakes


def differences():
    """Runs the examples of API.md and README.md; returns what is wrong with them."""
    return check() + blocks.check(ROOT / "README.md")
