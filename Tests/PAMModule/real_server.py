"""The real server, a database for several of them, and the codes of the people whom they know."""
import hashlib
import hmac
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import unittest
import urllib.error
import urllib.request

# Here Scripts/check-pam mounts the folder with the programs, so that other users can start them.
PROGRAMS = pathlib.Path("/run/programs")
REALM = "mill"
needs_server = unittest.skipUnless(
    (PROGRAMS / "watchword-server").exists(), "there is no watchword-server; 'Scripts/build-release' builds it")
POSTGRESQL = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), default=None)
needs_postgresql = unittest.skipUnless(POSTGRESQL, "PostgreSQL is not installed; 'Scripts/setup test' installs it")


def key(user):
    return hashlib.sha1(user.encode()).digest()


def code(user, ahead=0):
    """The code of a time step: of the present one, or of a later one."""
    digest = hmac.digest(key(user), struct.pack(">Q", int(time.time()) // 30 + ahead), "sha1")
    offset = digest[-1] & 15
    return f"{(struct.unpack_from('>I', digest, offset)[0] & 0x7FFFFFFF) % 1_000_000:06}"


def wrong_codes(user, count):
    right = {code(user, ahead) for ahead in range(-50, 50)}
    return [text for text in map(str, range(100_000, 100_100 + count)) if text not in right][:count]


class RealServer:
    """A server for one test. Its files are in `folder`. Its sockets are in `place`, with the names of the options."""

    def __init__(self, case, folder, *sockets, place="/run/watchword", store=None):
        self.folder, self.case, self.process = folder, case, None
        self.log = case.folder / f"{folder.name}.log"
        self.options = [word for name in sockets for word in (f"--{name}-socket", f"{place}/{name}")]
        self.environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(folder)}
        if store:
            self.environment["WATCHWORD_STORE"] = store
        case.addCleanup(self.stop, signal.SIGKILL)

    def run(self, *arguments, settings=None):
        """Runs a command of the server, which must succeed."""
        run = subprocess.run([PROGRAMS / "watchword-server", *arguments], env=self.environment | (settings or {}),
                             capture_output=True, text=True, timeout=60)
        self.case.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def enrol(self, *users):
        file = self.case.folder / "users.oath"
        file.write_text("".join(f"HOTP/T30 {self.subject(user)} - {key(user).hex()}\n" for user in users))
        self.run("import", file)

    def subject(self, user):
        return f"unix:{REALM}:{user}"

    def start(self):
        """Starts the server; returns whether it becomes ready, and does not end."""
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "watchword-server", "serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
                 "--no-clock-check", "--realm", REALM, *self.options], env=self.environment, stderr=log)
        return self.is_ready()

    def is_ready(self):
        """Waits until the server is ready, or ends."""
        deadline = time.monotonic() + 30
        while self.process.poll() is None:
            self.case.assertLess(time.monotonic(), deadline, self.log.read_text())
            listening = [line for line in self.log.read_text().splitlines() if '"listening"' in line]
            try:
                if listening and self.ask("operations", "GET", "/readyz"):
                    return True
            except (urllib.error.HTTPError, json.JSONDecodeError):
                pass
            time.sleep(0.02)
        return False

    def address(self, part):
        """One of the addresses in the log."""
        line = next(line for line in self.log.read_text().splitlines() if '"listening"' in line)
        return json.loads(line)[part]

    def ask(self, part, method, target, body=None, secret=None):
        """Sends a request, which must succeed, to one of the addresses; returns the content."""
        request = urllib.request.Request(
            f"http://{self.address(part)}{target}", method=method, data=body and json.dumps(body).encode(),
            headers={"Content-Type": "application/json"} | ({"Authorization": f"Bearer {secret}"} if secret else {}))
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def client(self, name, scope, *options):
        """Adds an API client; returns its key."""
        return self.run("client", "add", name, "--scope", scope, *options).strip()

    def recovery_codes(self, user):
        answer = self.ask("service", "POST", f"/v1/subjects/{self.subject(user)}/credentials", {"type": "recovery"},
                          self.client("tests", "enrol"))
        return json.loads(answer)["codes"]

    def stop(self, number=signal.SIGTERM):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()


class PostgreSQL:
    """A database server for one test; its Unix socket is only for the system's user nobody."""
    url = "postgresql://watchword@127.0.0.1:5433/postgres"

    def __init__(self, case):
        self.folder = case.folder / "postgresql"
        self.folder.mkdir()
        os.chown(self.folder, *self.owner())
        self.run("initdb", "--no-sync", "--encoding=UTF8", "--auth=trust", "--username=watchword")
        (self.folder / "data/pg_hba.conf").write_text(
            "local all all peer map=server\nhost all all 127.0.0.1/32 trust\n")
        (self.folder / "data/pg_ident.conf").write_text("server nobody watchword\n")
        case.addCleanup(self.stop, check=False)
        self.start()

    def owner(self):
        entry = pathlib.Path("/etc/passwd").read_text().split("\npostgres:")[1].split(":")
        return int(entry[1]), int(entry[2])

    def run(self, name, *arguments, check=True):
        subprocess.run(
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", POSTGRESQL.parent / name,
             f"--pgdata={self.folder}/data", *arguments],
            check=check, cwd="/", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"}, stdout=subprocess.DEVNULL, timeout=60)

    def start(self):
        self.run("pg_ctl", "start", "--wait", f"--log={self.folder}/log",
                 f"--options=-c listen_addresses=127.0.0.1 -c port=5433 -c unix_socket_directories={self.folder}")

    def stop(self, check=True):
        self.run("pg_ctl", "stop", "--wait", "--mode=immediate", check=check)
