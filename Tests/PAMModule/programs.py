"""The module in real programs, with accounts and service files that only this process sees."""
import functools
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from support import BUILT, ModuleTestCase

SOURCES = pathlib.Path(__file__).parents[2] / "Sources"
SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
PORT = 2022
PASSWORD = "correct horse"
ALICE = ["--reuid=65001", "--regid=65534", "--clear-groups"]
# As the kernel shows users of other user namespaces.
NOBODY = ["--reuid=65534", "--regid=65534", "--clear-groups"]
ACCOUNTS = """alice:x:65001:65534::/missing:/bin/sh
rescue:x:65003:65534::/:/bin/sh
sshd:x:65002:65534::/run/sshd:/bin/false
"""


@functools.cache
def cover_accounts():
    """Covers files in /etc by others: Scripts/check-pam gave this process a mount namespace of its own."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/run"))
    folder.chmod(0o755)
    hashed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], check=True, capture_output=True, text=True).stdout
    for name, lines in (("passwd", ACCOUNTS), ("shadow", f"alice:{hashed.strip()}:20000::::::\n")):
        kept = [line for line in pathlib.Path("/etc", name).read_text().splitlines(True)
                if not line.startswith("sshd:")]
        (folder / name).write_text("".join(kept) + lines)
        subprocess.run(["mount", "--bind", folder / name, f"/etc/{name}"], check=True)
    (folder / "passwd").chmod(0o644)
    # As Debian has it: a screen locker's helper belongs to this group.
    (folder / "shadow").chmod(0o640)
    shutil.chown(folder / "shadow", group="shadow")
    (folder / "pam.d").mkdir()
    subprocess.run(["mount", "--bind", folder / "pam.d", "/etc/pam.d"], check=True)


class ProgramTestCase(ModuleTestCase):
    @classmethod
    def setUpClass(cls):
        cover_accounts()

    def setUp(self):
        super().setUp()
        # Programs know nothing of the address sanitizer, so they load the module as it is shipped.
        self.module = str(BUILT / "shipped.so")

    def service(self, name, *stack):
        """Writes a service file; its groups account and session permit everything."""
        lines = (*stack, "account required pam_permit.so", "session required pam_permit.so")
        pathlib.Path("/etc/pam.d", name).write_text("".join(
            line.replace("MODULE", f"{self.module} socket={self.socket}") + "\n" for line in lines))

    def run_program(self, *command, typed="", settings=None):
        return subprocess.run(
            command, input=typed, capture_output=True, text=True, timeout=60, cwd="/",
            env={"PATH": os.environ["PATH"]} | (settings or {}))

    def on_terminal(self, command, *answers):
        """Runs a command on a terminal. Each answer follows its prompt, if the command does not end before; `None` ends
        it. Returns the status and what was shown."""
        shown, seen = "", 0
        with subprocess.Popen(
                ["script", "--quiet", "--return", "--command", command, "/dev/null"], cwd="/", bufsize=0,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"]}) as script:
            self.addCleanup(script.kill)
            for prompt, answer in answers:
                while (place := shown.find(prompt, seen)) < 0:
                    self.assertTrue(select.select([script.stdout], [], [], 30)[0], shown)
                    part = os.read(script.stdout.fileno(), 65536).decode()
                    if not part:
                        return script.wait(), shown
                    shown += part
                seen = place + len(prompt)
                if answer is None:
                    script.kill()
                    return script.wait(), shown
                script.stdin.write(f"{answer}\n".encode())
            shown += script.communicate(timeout=30)[0].decode()
        return script.returncode, shown


class ManualTestCase(ProgramTestCase):
    """The examples of the manual page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = (SOURCES / "Programs/pam_watchword/pam_watchword.8").read_text()
        cls.examples = re.findall(r"^\.Bd -literal.*\n((?:(?!\.Ed).*\n)*)\.Ed", cls.page, re.M)

    def example(self, text):
        found, = (example for example in self.examples if text in example)
        return found

    def break_glass(self):
        """Installs the program and five codes, which it returns."""
        file = self.folder / "break-glass"
        (self.folder / "logger").write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/report\n')
        (self.folder / "logger").chmod(0o755)
        program = pathlib.Path("/usr/local/sbin/watchword-break-glass")
        program.parent.mkdir(exist_ok=True)
        program.write_text(self.example("#!/bin/sh").replace("/etc/watchword/break-glass", str(file))
                           .replace("PATH=", f"PATH={self.folder}:"))
        program.chmod(0o755)
        made = self.run_program("sh", "-c", self.example("for i in").replace("/etc/watchword/break-glass", str(file)))
        return made.stdout.split()

    def sign_in_with_stack(self, *answers, user="rescue"):
        return self.sign_in(*answers, user=user, stack=self.example("success=done").replace(
            "pam_watchword.so", f"MODULE socket={self.socket} timeout=1")).result


@unittest.skipUnless(SSHD, "sshd is not installed; 'Scripts/setup test' installs it")
class SSHTestCase(ProgramTestCase):
    def setUp(self):
        super().setUp()
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        os.chmod(self.folder / "user.pub", 0o644)
        (self.folder / "answers").write_text(
            f"#!/bin/sh\ncase $1 in *Password:*) echo '{PASSWORD}' ;; *) cat {self.folder}/code ;; esac\n")
        (self.folder / "answers").chmod(0o755)

    def start(self, methods, password="no", port=PORT, under=()):
        """Starts sshd, perhaps under another command."""
        configuration, log = self.folder / f"sshd_config-{port}", self.log(port)
        configuration.write_text(
            f"ListenAddress 127.0.0.1:{port}\nHostKey {self.folder}/host\nUsePAM yes\n"
            f"KbdInteractiveAuthentication yes\nPasswordAuthentication {password}\n"
            f"AuthorizedKeysFile {self.folder}/user.pub\nAuthenticationMethods {methods}\n"
            f"PidFile none\nLogLevel VERBOSE\n")
        with open(log, "w") as output:
            sshd = subprocess.Popen([*under, SSHD, "-D", "-e", "-f", configuration], stderr=output)
        self.addCleanup(lambda: (sshd.terminate(), sshd.wait()))
        deadline = time.monotonic() + 20
        while "Server listening" not in log.read_text():
            self.assertIsNone(sshd.poll(), log.read_text())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def log(self, port=PORT):
        return self.folder / f"log-{port}"

    def log_in(self, code, user="alice", port=PORT):
        (self.folder / "code").write_text(code + "\n")
        return self.run_program(
            "ssh", "-p", str(port), "-i", self.folder / "user", "-o", "StrictHostKeyChecking=no", "-o",
            f"UserKnownHostsFile={self.folder}/known", "-o", "NumberOfPasswordPrompts=1", "-o", "IdentitiesOnly=yes",
            f"{user}@127.0.0.1", "id -un",
            settings={"SSH_ASKPASS": f"{self.folder}/answers", "SSH_ASKPASS_REQUIRE": "force"})
