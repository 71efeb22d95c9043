"""The module in a program of ours (host.c), with service files and sockets in folders of the test."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from login_server import LoginServer, response

BUILT = pathlib.Path(os.environ["PAM_MODULE_FOLDER"])
RESULTS = {0: "success", 3: "service error", 4: "system error", 6: "permission denied", 7: "denied",
           9: "unavailable", 10: "unknown user", 19: "conversation error", 25: "ignore", 31: "incomplete"}
ACCEPTED = response("accepted")
OTHER_USER = ["--reuid=65533", "--regid=65533", "--clear-groups"]


class Outcome:
    """What the host printed."""

    def __init__(self, lines):
        self.lines = lines
        self.results = [RESULTS.get(int(line.split()[1]), line) for line in lines if line.startswith("result: ")]

    @property
    def result(self):
        return self.results[-1] if self.results else None

    @property
    def log(self):
        """What the module itself wrote to the log."""
        mark = "pam_watchword(service:auth): "
        return [line.removeprefix(mark) for line in self.of("log") if line.startswith(mark)]

    def of(self, kind):
        return [line.removeprefix(f"{kind}: ") for line in self.lines if line.startswith(f"{kind}: ")]


class ModuleTestCase(unittest.TestCase):
    def setUp(self):
        # Scripts/check-pam mounted an empty /run, which belongs to root.
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/run"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        # libpam looks for it, and complains without it.
        (self.folder / "other").touch()
        self.socket = str(self.folder / "pam")

    def serve(self, answer=lambda request: ACCEPTED, **options):
        """Starts a server for the rest of the test."""
        path = options.pop("path", self.socket)
        server = LoginServer(path, answer, **options)
        self.addCleanup(server.__exit__)
        return server

    def write(self, stack):
        """Writes the service file, unless another thread reads the same content already."""
        file = self.folder / "service"
        if not file.exists() or file.read_text() != stack:
            file.write_text(stack)

    def sign_in(self, *answers, options="", user="root", stack=None, settings=None, identity=None, under=()):
        """Runs the host, perhaps under another command; `stack` replaces the service file, in which MODULE is the
        module's path, and `identity` are setpriv's options."""
        stack = stack or f"auth required MODULE socket={self.socket} {options}"
        module = BUILT / "pam_watchword.so"
        self.write(stack.replace("MODULE", str(module)) + "\n")
        command = [*under, BUILT / "host", self.folder, "service", user, *answers]
        if identity:
            command = ["setpriv", *identity, *command]
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=120, errors="replace",
            env={"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0"} | (settings or {}))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(run.stderr, "")
        outcome = Outcome(run.stdout.splitlines())
        # Only pam_exec, beside the module in some stacks, has children.
        surprises = {"SIGCHLD arrived"} if "pam_exec" in stack else set()
        self.assertLessEqual(set(outcome.of("surprise")), surprises, run.stdout)
        return outcome
