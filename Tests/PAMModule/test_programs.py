"""The module in sshd and su, with a server that a script plays."""
import os
import re

from login_server import response
from programs import PASSWORD, SOURCES, ManualTestCase, ProgramTestCase, SSHTestCase
from support import ACCEPTED, OTHER_USER


class SuTests(ProgramTestCase):
    def become_alice(self, code):
        return self.run_program("setpriv", *OTHER_USER, "su", "alice", "-c", "id -un", typed=f"{code}\n")

    def test_su(self):
        """A program that runs as root on behalf of a user uses root's socket."""
        self.service("su", "auth required MODULE")
        server = self.serve(lambda request: ACCEPTED if request["code"] == "123456" else response("denied"))
        self.assertEqual(self.become_alice("123456").stdout, "alice\n")
        denied = self.become_alice("654321")
        self.assertEqual((denied.returncode, denied.stdout), (1, ""))
        self.assertEqual([(request["service"], request["user"]) for request in server.requests], 2 * [("su", "alice")])

    def test_unavailable(self):
        """Without a server, nobody gets in."""
        self.service("su", "auth required MODULE timeout=1")
        self.assertEqual(self.become_alice("123456").returncode, 1)


class ManualTests(ManualTestCase):
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

    def test_documented(self):
        """The manual describes each option of the module, and no other one."""
        table = (SOURCES / "Programs/pam_watchword/options.c").read_text()
        options = re.findall(r'^    \{"(\w+)", kind_', table, re.M)
        self.assertGreater(len(options), 6)
        self.assertEqual(sorted(re.findall(r"^\.It Cm (\w+)", self.page, re.M)), sorted(options))


class NoticeTests(ProgramTestCase):
    def test_terminals(self):
        """The script in Operations.md writes a notice to all terminals of its recipient, and nowhere else."""
        page = (SOURCES / "Programs/ServerCommands/Operations.md").read_text()
        script = re.search(r"^```sh\n(#!/bin/sh\n# Writes the text of the mail.*?)^```", page, re.M | re.S)[1]
        terminals = [os.openpty() for _ in range(3)]
        for file in sum(terminals, ()):
            self.addCleanup(os.close, file)
            os.set_blocking(file, False)
        names = [os.ttyname(inner).removeprefix("/dev/") for _, inner in terminals]
        outside = self.folder / "outside"
        (self.folder / "who").write_text("#!/bin/sh\n" + "".join(
            f"echo '{user} {place} 2026-11-29 10:00 (192.0.2.1)'\n" for user, place in (
                ("alice", names[0]), ("alice", ":0"), ("alice", f"pts/0/../../..{outside}"), ("bob", names[1]),
                ("alice", names[2]))))
        (self.folder / "who").chmod(0o755)
        notice = "An authenticator was added to your account.\n\nTo: bob\n"
        run = self.run_program("sh", "-c", script, typed=f"To: alice\nSubject: x\n\n{notice}",
                               settings={"PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        shown = ("\n" + notice).replace("\n", "\r\n").encode()
        self.assertEqual([os.read(terminals[number][0], 4096) for number in (0, 2)], 2 * [shown])
        self.assertRaises(BlockingIOError, os.read, terminals[1][0], 4096)
        self.assertFalse(outside.exists())


class SSHTests(SSHTestCase):
    def check(self):
        server = self.serve(lambda request: ACCEPTED if request["code"] == "123456" else response("denied"))
        outcome = self.log_in("123456")
        self.assertEqual(outcome.stdout, "alice\n", outcome.stderr + self.log().read_text())
        # She needs no home.
        self.assertIn("/missing: No such file", outcome.stderr)
        self.assertEqual(server.requests[-1], {
            "operation": "verify", "reasons": False, "service": "sshd", "user": "alice", "host": "127.0.0.1",
            "code": "123456"})
        self.assertEqual(self.log_in("654321").stdout, "")
        self.assertEqual(self.log_in("123456", user="nobody-of-that-name").stdout, "")

    def test_key_and_code(self):
        """A public key and a code."""
        self.service("sshd", "auth required MODULE")
        self.start("publickey,keyboard-interactive:pam")
        self.check()

    def test_password_and_code(self):
        """A password and a code, in the stack that the manual shows."""
        self.service("sshd", "auth requisite pam_unix.so", "auth required MODULE")
        self.start("keyboard-interactive:pam")
        self.check()

    def test_password_method(self):
        """sshd's method that answers every prompt with the password lets nobody in, and the password stays here."""
        self.service("sshd", "auth requisite pam_unix.so", "auth required MODULE")
        self.start("password", password="yes")
        server = self.serve()
        self.assertEqual(self.log_in(PASSWORD).stdout, "")
        self.assertEqual([request["code"] for request in server.requests], ["?"])
