"""Chromium, driven by the DevTools protocol: JSON texts over the descriptors 3 and 4, a NUL after each."""
import fcntl
import json
import os
import shutil
import subprocess

FLAGS = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
         "--ignore-certificate-errors"]
DEADLINE = 20


def program():
    """Returns the path of Chromium, or `None`."""
    return shutil.which("chromium")


class ProtocolError(Exception):
    """The browser refused a command."""


class Chromium:
    """A browser process. `hosts` maps host names to ports of 127.0.0.1."""

    def __init__(self, folder, hosts):
        rules = ", ".join(f"MAP {host}:443 127.0.0.1:{port}" for host, port in hosts.items())
        flags = [*FLAGS, f"--user-data-dir={folder}/profile", f"--host-resolver-rules={rules}, MAP * ~NOTFOUND"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        (theirs_in, self.output), (ours_in, theirs_out) = os.pipe(), os.pipe()
        # Above 9, so that the first redirection does not replace the second one's source.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "bash", program(), *flags, "about:blank"],
            pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self.input = os.fdopen(ours_in, "rb")
        self.held, self.count, self.events = b"", 0, []

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result. Events that arrive meanwhile are kept in `events`."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.count:
                self.events.append(answer)
            elif "error" in answer:
                raise ProtocolError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def receive(self):
        while b"\0" not in self.held:
            some = self.input.read1(1 << 16)
            if not some:
                raise EOFError("the browser ended")
            self.held += some
        text, self.held = self.held.split(b"\0", 1)
        return json.loads(text)

    def close(self):
        os.close(self.output)
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.input.close()
