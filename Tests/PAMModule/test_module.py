"""What the module answers, whatever the server, the person and the administrator do."""
import os
import pathlib
import random
import re
import socket
import subprocess
import threading
import time
import unittest

from login_server import LoginServer, response
from real_server import PROGRAMS
from support import ACCEPTED, BUILT, OTHER_USER, ModuleTestCase

DENIED = response("denied")


class AnswerTests(ModuleTestCase):
    def test_accepted(self):
        """A code is sent once, with the name of the account, the service and the remote host."""
        server = self.serve()
        outcome = self.sign_in("123456", settings={"HOST_REMOTE": "192.0.2.1"})
        self.assertEqual(outcome.lines, ["prompt: One-time code: ", "result: 0 Success"])
        self.assertEqual(server.requests, [{
            "operation": "verify", "reasons": False, "service": "service", "user": "root", "host": "192.0.2.1",
            "code": "123456"}])

    def test_denied(self):
        self.serve(lambda request: DENIED)
        self.assertEqual(
            self.sign_in("123456").lines, ["prompt: One-time code: ", "result: 7 Authentication failure"])

    def test_unknown_user(self):
        """An unknown name is asked about like a known one, and never passes with nullok."""
        server = self.serve(lambda request: response("never enrolled") if request["operation"] == "status" else DENIED)
        outcome = self.sign_in("123456", user="nobody-of-that-name", options="nullok")
        self.assertEqual((outcome.result, [request["operation"] for request in server.requests]),
                         ("denied", ["status", "verify"]))

    def test_reasons(self):
        """Why a code was denied is told only with the option, and not if the program wants silence."""
        for answer, text in (
                (response("denied", "replayed"), "This code was used already; wait for the next one."),
                (response("denied", "must wait", 30), "There were several wrong codes; try again in 30 seconds."),
                (response("denied", "locked"), "Your codes are locked; ask an administrator."),
                (response("denied", "malformed"), "This is not a code."), (DENIED, None)):
            server = self.serve(lambda request, answer=answer: answer, path=f"{self.folder}/{len(text or '')}")
            options = f"socket={server.path}"
            told = self.sign_in("123456", stack=f"auth required MODULE {options} reasons")
            self.assertEqual((told.of("error"), told.result), ([text] if text else [], "denied"))
            self.assertEqual(self.sign_in("123456", stack=f"auth required MODULE {options}").of("error"), [])
            silent = self.sign_in(
                "123456", stack=f"auth required MODULE {options} reasons", settings={"HOST_SILENT": "1"})
            self.assertEqual(silent.of("error"), [])
            self.assertEqual([request["reasons"] for request in server.requests], [True, False, True])

    def test_nullok(self):
        """With nullok, only the answer "never enrolled" lets somebody pass, without a prompt."""
        for status, result, prompts in (
                ("never enrolled", "permission denied", 0), ("enrolled", "denied", 1), ("unavailable", "unavailable", 0),
                ("accepted", "unavailable", 0), ("denied", "unavailable", 0)):
            path = f"{self.folder}/{status}".replace(" ", "-")
            self.serve(lambda request, status=status: response(status) if request["operation"] == "status" else DENIED,
                       path=path)
            outcome = self.sign_in("123456", stack=f"auth required MODULE socket={path} nullok")
            # A stack in which every module is ignored fails.
            self.assertEqual((outcome.result, len(outcome.of("prompt"))), (result, prompts), status)
        path = f"{self.folder}/never-enrolled"
        outcome = self.sign_in(stack=f"auth required MODULE socket={path} nullok\nauth required pam_permit.so")
        self.assertEqual(outcome.lines, ["result: 0 Success"])

    def test_never_asked(self):
        """The status answers no verification, and without nullok nobody asks about it."""
        for verdict in ("never enrolled", "enrolled"):
            path = f"{self.folder}/{verdict}".replace(" ", "-")
            server = self.serve(lambda request, verdict=verdict: response(verdict), path=path)
            outcome = self.sign_in("123456", stack=f"auth required MODULE socket={path}")
            self.assertEqual(outcome.result, "unavailable")
            self.assertEqual([request["operation"] for request in server.requests], ["verify"])

    def test_malformed(self):
        """What cannot be a code is not sent, and denied whatever the server says about the mark instead of it."""
        server = self.serve()
        for text in ("@empty", "correct horse", "12345", "123456" + 59 * " ", "@long"):
            self.assertEqual(self.sign_in(text).result, "denied", text)
        self.assertEqual([request["code"] for request in server.requests], 5 * ["?"])
        self.assertEqual(self.sign_in("123456" + 58 * " ").result, "success")

    def test_conversation(self):
        """A conversation function that fails, or answers nothing, lets nobody in."""
        self.serve()
        self.assertEqual(self.sign_in("@error").result, "conversation error")
        self.assertEqual(self.sign_in("@left").result, "conversation error")
        self.assertEqual(self.sign_in("@null").result, "conversation error")
        self.assertEqual(self.sign_in("@none").result, "conversation error")
        self.assertEqual(self.sign_in("@again").result, "incomplete")

    def test_items(self):
        """A conversation function that replaces the user's name does not change who is asked about."""
        server = self.serve()
        outcome = self.sign_in("@items", user="nobody-of-that-name", settings={"HOST_REMOTE": "192.0.2.1"})
        self.assertEqual((outcome.result, server.requests[0]["user"]), ("success", "nobody-of-that-name"))

    def test_user_name(self):
        """A name that no account can have is refused without asking."""
        server = self.serve()
        for user in ("u" * 128, "jürgen", "John Doe"):
            self.assertEqual(self.sign_in("123456", user=user).result, "success")
        for user in ("u" * 129, "a\nb", "a\x7fb"):
            self.assertEqual(self.sign_in("123456", user=user).result, "unknown user")
        self.assertEqual(len(server.requests), 3)

    def test_texts(self):
        """The prompt and the service's name can be chosen."""
        server = self.serve()
        outcome = self.sign_in("123456", options="[prompt=Code, please: ] service=front-door")
        self.assertEqual(outcome.of("prompt"), ["Code, please: "])
        self.assertEqual(server.requests[0]["service"], "front-door")

    def test_options(self):
        """A wrong option is named in the log, and lets nobody in."""
        self.serve()
        for option in ("nulok", "nullok=1", "timeout=0", "timeout=61", "timeout=007", "timeout=", "timeout", "timeout=-1",
                       "timeout=5s", "forward_pass=5", "forward_pass=9", "prompt=", "prompt", "reasons reasons",
                       "socket=relative", "key=/key", "ca=/ca", "realm=mill", "server=https://mill.example", "debug",
                       "NULLOK", "nullok ", "=", "prompt=a prompt=b"):
            outcome = self.sign_in("123456", stack=f"auth required MODULE [{option}]" if option.endswith(" ")
                                   else f"auth required MODULE {option}")
            self.assertEqual(outcome.result, "service error", option)
            self.assertEqual(len(outcome.log), 1, option)
            self.assertEqual(outcome.of("prompt"), [])
        both = self.sign_in("123456", options="server=https://mill.example key=/key")
        self.assertEqual(both.result, "service error")


class PasswordTests(ModuleTestCase):
    """Passwords and codes of several modules; pam_exec writes down what the next module gets."""

    def stack(self, options, before=""):
        script = self.folder / "record"
        script.write_text(f"#!/bin/sh\ntr '\\0' '\\n' > {self.folder}/password\n")
        script.chmod(0o755)
        return (f"{before}auth required MODULE socket={self.socket} {options}\n"
                f"auth required pam_exec.so expose_authtok {script}")

    def next_password(self):
        return (self.folder / "password").read_text().strip()

    def test_forward(self):
        """With forward_pass, the next module gets the password without the code."""
        server = self.serve()
        for options, typed, password, code in (
                ("forward_pass", "correct horse 1123456", "correct horse 1", "123456"),
                ("forward_pass=8", "horse12345678", "horse", "12345678"),
                ("forward_pass", "horseABCD-EFGH-IJKL-MNOP", "horse", "ABCD-EFGH-IJKL-MNOP")):
            outcome = self.sign_in(typed, stack=self.stack(options))
            self.assertEqual(outcome.of("prompt"), ["Password and one-time code: "])
            self.assertEqual((outcome.result, self.next_password()), ("success", password))
            self.assertEqual(server.requests[-1]["code"], code)

    def test_forward_without_password(self):
        """If only a code is typed, the next module asks for the password."""
        self.serve()
        outcome = self.sign_in("123456", "horse", stack=self.stack("forward_pass"))
        self.assertEqual(outcome.of("prompt"), ["Password and one-time code: ", "Password: "])
        self.assertEqual((outcome.result, self.next_password()), ("success", "horse"))

    def test_forward_denied(self):
        """After a wrong code, the next module still gets the password, but nobody gets in."""
        self.serve(lambda request: DENIED)
        outcome = self.sign_in("horse123456", stack=self.stack("forward_pass"))
        self.assertEqual((outcome.result, self.next_password()), ("denied", "horse"))

    def test_forward_without_code(self):
        """A password without a code is not sent to the server."""
        server = self.serve()
        outcome = self.sign_in("horse", stack=self.stack("forward_pass"))
        self.assertEqual((outcome.result, self.next_password()), ("denied", "horse"))
        self.assertEqual([request["code"] for request in server.requests], ["?"])

    def test_first_pass(self):
        """With try_first_pass, what an earlier module asked for is used if it is a code; a password is not sent."""
        server = self.serve()
        earlier = "auth required pam_exec.so expose_authtok /bin/true\n"
        outcome = self.sign_in("123456", stack=self.stack("try_first_pass", earlier))
        self.assertEqual((outcome.of("prompt"), outcome.result), (["Password: "], "success"))
        outcome = self.sign_in("horse", "234567", stack=self.stack("try_first_pass", earlier))
        self.assertEqual((outcome.of("prompt"), outcome.result), (["Password: ", "One-time code: "], "success"))
        outcome = self.sign_in("123456", "234567", stack=self.stack("", earlier))
        self.assertEqual(outcome.of("prompt"), ["Password: ", "One-time code: "])
        outcome = self.sign_in("horse345678", stack=self.stack("try_first_pass forward_pass", earlier))
        self.assertEqual((outcome.of("prompt"), self.next_password()), (["Password: "], "horse"))
        self.assertEqual([request["code"] for request in server.requests], ["123456", "234567", "234567", "345678"])


class HostileServerTests(ModuleTestCase):
    def unavailable(self, outcome):
        self.assertEqual((outcome.result, len(outcome.log)), ("unavailable", 1), outcome.lines)

    def test_broken_responses(self):
        """A response that is cut, empty, or of another protocol counts as none."""
        for number, answer in enumerate((None, b"", ACCEPTED[:31], b"HTTP/1.1 200 OK\r\n\r\n", b"\xff" * 32, bytes(32))):
            self.serve(lambda request, answer=answer: answer, path=f"{self.folder}/{number}")
            outcome = self.sign_in("123456", stack=f"auth required MODULE socket={self.folder}/{number}")
            self.unavailable(outcome)
            self.assertTrue(outcome.log[0].startswith(f"{self.folder}/{number}: "), outcome.log)

    def test_long_response(self):
        """What follows a response is not read."""
        self.serve(lambda request: ACCEPTED + b"x" * 100_000)
        self.assertEqual(self.sign_in("123456").result, "success")

    def test_random_responses(self):
        """10,000 random replies: only the one that means it lets anybody in."""
        generator = random.Random(28)
        sent = []

        def answer(_):
            reply = bytearray(response("denied"))
            for _ in range(generator.randrange(1, 4)):
                reply[generator.choice((0, 3, 4, 4, 4, 5, 6, 9, 10, 31))] = generator.choice((0, 1, 2, 3, 4, 5, 6, 255))
            if generator.randrange(4) == 0:
                reply = generator.randbytes(generator.randrange(64))
            sent.append(bytes(reply))
            return bytes(reply)

        self.serve(answer)
        outcome = self.sign_in("123456", settings={"HOST_REPEATS": "10000"})
        self.assertEqual(len(outcome.results), 10_000)
        accepted = [reply[:32] == ACCEPTED for reply in sent]
        self.assertGreater(sum(accepted), 10)
        self.assertEqual([result == "success" for result in outcome.results], accepted)

    def test_interruptions(self):
        """Signals that interrupt every call change nothing."""
        self.serve(lambda request: [0.05, ACCEPTED[:7], 0.05, ACCEPTED[7:]])
        outcome = self.sign_in("123456", settings={"HOST_ALARM": "1", "HOST_REPEATS": "20"})
        self.assertEqual(outcome.results, 20 * ["success"])

    def timed(self, *arguments, **options):
        start = time.monotonic()
        outcome = self.sign_in(*arguments, **options)
        took = time.monotonic() - start
        self.assertGreater(took, 0.9)
        self.assertLess(took, 5)
        return outcome

    def test_slow(self):
        """The deadline is for the whole exchange, not for each byte."""
        self.serve(lambda request: [part for byte in ACCEPTED for part in (bytes([byte]), 0.3)])
        self.unavailable(self.timed("123456", options="timeout=1"))
        self.unavailable(self.timed("123456", options="timeout=1", settings={"HOST_ALARM": "1"}))

    def test_silent(self):
        """A server that accepts no connection, or reads nothing, is waited for until the deadline."""
        self.serve(accepts=False)
        self.unavailable(self.timed("123456", options="timeout=1"))
        self.serve(lambda request: 60, reads=False, path=f"{self.folder}/deaf")
        self.unavailable(self.timed("123456", stack=f"auth required MODULE socket={self.folder}/deaf timeout=1"))

    def test_full_queue(self):
        """While the server's queue is full, the module waits for room, and gives up at its deadline."""
        server = self.serve(accepts=False, backlog=0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(2)]
        for connection in waiting:
            self.addCleanup(connection.close)
            connection.setblocking(False)
            try:
                connection.connect(self.socket)
            except BlockingIOError:
                pass
        self.unavailable(self.timed("123456", options="timeout=1"))
        threading.Timer(1, server.accept).start()
        self.assertEqual(self.timed("123456", options="timeout=10").result, "success")

    def test_closing(self):
        """A server that closes the connection without reading causes no signal."""
        self.serve(lambda request: None, reads=False)
        outcome = self.sign_in("123456", settings={"HOST_REPEATS": "300"})
        self.assertEqual(outcome.results, 300 * ["unavailable"])

    def test_many(self):
        """200 logins at once are all answered."""
        self.serve(lambda request: [0.2, ACCEPTED])
        outcomes = [self.sign_in("123456")]
        threads = [threading.Thread(target=lambda: outcomes.append(self.sign_in("123456"))) for _ in range(199)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([outcome.result for outcome in outcomes], 200 * ["success"])


class PlaceTests(ModuleTestCase):
    """Sockets that somebody else could have made."""

    def refused(self, path, reason, identity=None, shown=None):
        outcome = self.sign_in("123456", stack=f"auth required MODULE socket={path}", identity=identity)
        self.assertEqual(outcome.result, "unavailable")
        self.assertEqual(outcome.log, [f"{shown or path}: {reason}"])

    def test_missing(self):
        self.refused(f"{self.folder}/missing", "No such file or directory")
        self.refused(f"{self.folder}/missing/pam", "No such file or directory")
        self.refused("/" + "x" * 107, "the path is too long", shown="/" + "x" * 99)

    def test_stopped(self):
        """A socket without a server."""
        with LoginServer(self.socket, None):
            os.link(self.socket, f"{self.folder}/left")
        self.refused(f"{self.folder}/left", "Connection refused")

    def test_file(self):
        (self.folder / "file").touch()
        self.refused(f"{self.folder}/file", "not a socket")
        self.refused(f"{self.folder}/file/pam", "a folder in the path is a link or a file")

    def test_owner(self):
        """The socket must belong to root."""
        self.serve()
        os.chown(self.socket, 65533, 0)
        self.refused(self.socket, "the socket does not belong to root")
        os.chown(self.socket, 0, 65533)
        self.assertEqual(self.sign_in("123456").result, "success")

    def test_folders(self):
        """Every folder in the path must belong to root, and only root may write to it."""
        inner = self.folder / "inner"
        inner.mkdir()
        self.serve(path=f"{inner}/pam")
        for folder in (inner, self.folder):
            folder.chmod(0o775)
            self.refused(f"{inner}/pam", "non-root users can write to a folder in the path")
            folder.chmod(0o1777)
            self.refused(f"{inner}/pam", "non-root users can write to a folder in the path")
            folder.chmod(0o755)
            os.chown(folder, 65533, 0)
            self.refused(f"{inner}/pam", "a folder in the path does not belong to root")
            os.chown(folder, 0, 0)
        self.assertEqual(self.sign_in("123456", stack=f"auth required MODULE socket={inner}/pam").result, "success")

    def test_links(self):
        self.serve()
        (self.folder / "folder").symlink_to(self.folder)
        (self.folder / "link").symlink_to(self.socket)
        self.refused(f"{self.folder}/folder/pam", "a folder in the path is a link or a file")
        self.refused(f"{self.folder}/link", "not a socket")

    def test_standard(self):
        """Root's programs use the one socket, and those of others the other one."""
        pathlib.Path("/run/watchword").mkdir()
        self.addCleanup(os.rmdir, "/run/watchword")
        roots = self.serve(path="/run/watchword/pam")
        own = self.serve(path="/run/watchword/self", mode=0o666)
        self.assertEqual(self.sign_in("111111", stack="auth required MODULE").result, "success")
        self.assertEqual(self.sign_in("222222", stack="auth required MODULE", identity=OTHER_USER).result, "success")
        self.assertEqual([[request["code"] for request in server.requests] for server in (roots, own)],
                         [["111111"], ["222222"]])
        self.refused("/run/watchword/pam", "Permission denied", identity=OTHER_USER)


class ShippedTests(unittest.TestCase):
    """The module as it is shipped: any program that signs people in may load it."""
    # Also as the packages have it, if it was built.
    MODULES = [BUILT / "shipped.so", *PROGRAMS.glob("pam_watchword.so")]

    def shown(self, *command):
        return [subprocess.run([*command, module], check=True, capture_output=True, text=True).stdout
                for module in self.MODULES]

    def test_libraries(self):
        """It brings no library but libpam and the C library."""
        for text in self.shown("objdump", "-p"):
            self.assertEqual(set(re.findall(r"NEEDED +(\S+)", text)), {"libc.so.6", "libpam.so.0"})

    def test_functions(self):
        """It exports only what libpam calls."""
        for text in self.shown("nm", "--dynamic", "--defined-only"):
            names = {line.split()[-1] for line in text.splitlines()}
            self.assertEqual(names, {"pam_sm_authenticate", "pam_sm_setcred"})
