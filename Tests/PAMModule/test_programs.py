"""The module in real programs: sshd and su, with accounts and service files that only this process sees."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from login_server import response
from support import ACCEPTED, BUILT, OTHER_USER, ModuleTestCase

SSHD = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
PORT = 2022
PASSWORD = "correct horse"


def setUpModule():
    """Covers files in /etc by others: Scripts/check-pam gave this process a mount namespace of its own."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/run"))
    folder.chmod(0o755)
    hashed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], check=True, capture_output=True, text=True).stdout
    for name, lines in (("passwd", "alice:x:65001:65534::/missing:/bin/sh\nrescue:x:65003:65534::/:/bin/sh\nsshd:x:65002:65534::/run/sshd:/bin/false\n"),
                        ("shadow", f"alice:{hashed.strip()}:20000::::::\n")):
        kept = [line for line in pathlib.Path("/etc", name).read_text().splitlines(True)
                if not line.startswith("sshd:")]
        (folder / name).write_text("".join(kept) + lines)
        (folder / name).chmod(0o600 if name == "shadow" else 0o644)
        subprocess.run(["mount", "--bind", folder / name, f"/etc/{name}"], check=True)
    (folder / "pam.d").mkdir()
    subprocess.run(["mount", "--bind", folder / "pam.d", "/etc/pam.d"], check=True)


class ProgramTestCase(ModuleTestCase):
    def setUp(self):
        super().setUp()
        # Programs know nothing of the address sanitizer, so they load the module as it is shipped.
        self.module = str(BUILT / "shipped.so")

    def service(self, name, *stack):
        pathlib.Path("/etc/pam.d", name).write_text("".join(
            line.replace("MODULE", f"{self.module} socket={self.socket}") + "\n" for line in stack))

    def run_program(self, *command, typed="", settings=None):
        return subprocess.run(
            command, input=typed, capture_output=True, text=True, timeout=60, cwd="/",
            env={"PATH": os.environ["PATH"]} | (settings or {}))


class SuTests(ProgramTestCase):
    def become_alice(self, code):
        return self.run_program("setpriv", *OTHER_USER, "su", "alice", "-c", "id -un", typed=f"{code}\n")

    def test_su(self):
        """A program that runs as root on behalf of a user uses root's socket."""
        self.service("su", "auth required MODULE", "account required pam_permit.so", "session required pam_permit.so")
        server = self.serve(lambda request: ACCEPTED if request["code"] == "123456" else response("denied"))
        self.assertEqual(self.become_alice("123456").stdout, "alice\n")
        denied = self.become_alice("654321")
        self.assertEqual((denied.returncode, denied.stdout), (1, ""))
        self.assertEqual([(request["service"], request["user"]) for request in server.requests], 2 * [("su", "alice")])

    def test_unavailable(self):
        """Without a server, nobody gets in."""
        self.service("su", "auth required MODULE timeout=1", "account required pam_permit.so",
                     "session required pam_permit.so")
        self.assertEqual(self.become_alice("123456").returncode, 1)


class ManualTests(ProgramTestCase):
    """The examples of the manual page."""

    @classmethod
    def setUpClass(cls):
        page = pathlib.Path(__file__).parents[2] / "Sources/Programs/pam_watchword/pam_watchword.8"
        cls.examples = re.findall(r"^\.Bd -literal.*\n((?:(?!\.Ed).*\n)*)\.Ed", page.read_text(), re.M)

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

    def test_break_glass(self):
        """Without a server, a code of the file works once, for one account, and is reported."""
        codes = self.break_glass()
        self.assertEqual([len(code) for code in codes], 5 * [24])
        self.assertEqual(self.sign_in_with_stack("123456", codes[0]), "success")
        self.assertIn("rescue", (self.folder / "report").read_text())
        for code in (codes[0], "123456", "@empty", codes[1][:-1]):
            self.assertEqual(self.sign_in_with_stack("123456", code), "system error", code)
        self.assertEqual(self.sign_in_with_stack("123456", codes[1], user="alice"), "denied")
        for code in codes[1:]:
            self.assertEqual(self.sign_in_with_stack("123456", code), "success")
        self.assertEqual((self.folder / "break-glass").read_text(), "")

    def test_break_glass_with_server(self):
        """While the server decides, the file is not asked."""
        codes = self.break_glass()
        server = self.serve(lambda request: ACCEPTED if request["code"] == "123456" else response("denied"))
        self.assertEqual(self.sign_in_with_stack("654321", codes[0]), "denied")
        self.assertEqual(self.sign_in_with_stack("123456"), "success")
        self.assertEqual(self.sign_in_with_stack(codes[0]), "denied")
        self.assertEqual(len(server.requests), 3)

    def test_options(self):
        """The module knows the options of all examples."""
        lines = [line for example in self.examples for line in example.splitlines() if "pam_watchword.so" in line]
        self.assertGreater(len(lines), 6)
        for line in lines:
            stack = line.replace("pam_watchword.so", "MODULE")
            self.assertNotEqual(self.sign_in("123456", stack=stack).result, "service error", line)


@unittest.skipUnless(SSHD, "sshd is not installed; 'Scripts/setup test' installs it")
class SSHTests(ProgramTestCase):
    def setUp(self):
        super().setUp()
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        os.chmod(self.folder / "user.pub", 0o644)
        (self.folder / "answers").write_text(
            f"#!/bin/sh\ncase $1 in *Password:*) echo '{PASSWORD}' ;; *) cat {self.folder}/code ;; esac\n")
        (self.folder / "answers").chmod(0o755)

    def start(self, methods, password="no"):
        (self.folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{PORT}\nHostKey {self.folder}/host\nUsePAM yes\nKbdInteractiveAuthentication yes\n"
            f"PasswordAuthentication {password}\nAuthorizedKeysFile {self.folder}/user.pub\nAuthenticationMethods {methods}\n"
            f"PidFile none\nLogLevel VERBOSE\n")
        log = open(self.folder / "log", "w")
        self.addCleanup(log.close)
        sshd = subprocess.Popen([SSHD, "-D", "-e", "-f", self.folder / "sshd_config"], stderr=log)
        self.addCleanup(lambda: (sshd.terminate(), sshd.wait()))
        deadline = time.monotonic() + 20
        while "Server listening" not in (self.folder / "log").read_text():
            self.assertIsNone(sshd.poll(), (self.folder / "log").read_text())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def log_in(self, code, user="alice"):
        (self.folder / "code").write_text(code + "\n")
        return self.run_program(
            "ssh", "-p", str(PORT), "-i", self.folder / "user", "-o", "StrictHostKeyChecking=no", "-o",
            f"UserKnownHostsFile={self.folder}/known", "-o", "NumberOfPasswordPrompts=1", "-o", "IdentitiesOnly=yes",
            f"{user}@127.0.0.1", "id -un",
            settings={"SSH_ASKPASS": f"{self.folder}/answers", "SSH_ASKPASS_REQUIRE": "force"})

    def check(self):
        server = self.serve(lambda request: ACCEPTED if request["code"] == "123456" else response("denied"))
        outcome = self.log_in("123456")
        self.assertEqual(outcome.stdout, "alice\n", outcome.stderr + (self.folder / "log").read_text())
        self.assertEqual(server.requests[-1], {
            "operation": "verify", "reasons": False, "service": "sshd", "user": "alice", "host": "127.0.0.1",
            "code": "123456"})
        self.assertEqual(self.log_in("654321").stdout, "")
        self.assertEqual(self.log_in("123456", user="nobody-of-that-name").stdout, "")

    def test_key_and_code(self):
        """A public key and a code."""
        self.service("sshd", "auth required MODULE", "account required pam_permit.so", "session required pam_permit.so")
        self.start("publickey,keyboard-interactive:pam")
        self.check()

    def test_password_and_code(self):
        """A password and a code, in the stack that the manual shows."""
        self.service("sshd", "auth requisite pam_unix.so", "auth required MODULE", "account required pam_permit.so",
                     "session required pam_permit.so")
        self.start("keyboard-interactive:pam")
        self.check()

    def test_password_method(self):
        """sshd's method that answers every prompt with the password lets nobody in, and the password stays here."""
        self.service("sshd", "auth requisite pam_unix.so", "auth required MODULE", "account required pam_permit.so",
                     "session required pam_permit.so")
        self.start("password", password="yes")
        server = self.serve()
        self.assertEqual(self.log_in(PASSWORD).stdout, "")
        self.assertEqual([request["code"] for request in server.requests], ["?"])
