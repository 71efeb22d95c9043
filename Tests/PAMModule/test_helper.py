"""How the module starts the helper that talks to a remote server; a script takes the helper's place."""
import os
import pathlib
import time

from login_server import response
from support import ACCEPTED, ModuleTestCase

REMOTE = "auth required MODULE server=https://mill.example key=/etc/key"


class HelperTests(ModuleTestCase):
    def helper(self, script):
        """Installs a shell script as the helper."""
        path = pathlib.Path("/usr/libexec/watchword/watchword-pam-remote")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.addCleanup(path.unlink, missing_ok=True)

    def answering(self, reply):
        (self.folder / "reply").write_bytes(reply)
        return f"head -c 512 > {self.folder}/request; cat {self.folder}/reply"

    def recorded(self, name):
        return (self.folder / name).read_text()

    def test_answers(self):
        """The helper gets the request, and its answer counts."""
        for reply, result in ((ACCEPTED, "success"), (response("denied"), "denied"), (b"", "unavailable"),
                              (response("unavailable"), "unavailable"), (response("enrolled"), "unavailable")):
            self.helper(self.answering(reply))
            self.assertEqual(self.sign_in("123456", stack=REMOTE).result, result)
            request = (self.folder / "request").read_bytes()
            self.assertEqual((len(request), request[298:304]), (512, b"123456"))
            self.doCleanups()
            self.setUp()

    def test_arguments(self):
        """The helper gets the options that are for it, and no code."""
        self.helper(f'echo "$@" > {self.folder}/arguments; env > {self.folder}/environment; ' + self.answering(ACCEPTED))
        self.sign_in("123456", stack=f"{REMOTE} ca=/etc/ca realm=mill timeout=7", settings={"SECRET": "x", "LD_DEBUG": ""})
        self.assertEqual(self.recorded("arguments"),
                         "--timeout 7 --server https://mill.example --key /etc/key --ca /etc/ca --realm mill\n")
        names = {line.split("=")[0] for line in self.recorded("environment").splitlines()}
        self.assertEqual(names - {"PWD", "_", "SHLVL", "OLDPWD"}, {"PATH", "LC_ALL"})

    def test_surroundings(self):
        """The helper inherits nothing: root's identity, its own session, three files, no blocked or ignored signal."""
        # The shell reads its status itself: while it starts a program, it blocks signals.
        self.helper(f"""while IFS= read -r line; do
    case $line in Uid*|Gid*|Groups*|SigBlk*|SigIgn*) echo "$line" ;; esac
done < /proc/$$/status > {self.folder}/status
ls -l /proc/$$/fd > {self.folder}/files; pwd > {self.folder}/place; cut -d' ' -f 1,6 /proc/$$/stat > {self.folder}/session
""" + self.answering(ACCEPTED))
        # As su does: root's rights, on behalf of a user.
        outcome = self.sign_in("123456", stack=REMOTE, identity=["--ruid=65533", "--rgid=65533", "--groups=65532"])
        self.assertEqual(outcome.result, "success")
        self.assertEqual(self.recorded("status").split("\n"), [
            "Uid:\t0\t0\t0\t0", "Gid:\t0\t0\t0\t0", "Groups:\t ", "SigBlk:\t0000000000000000",
            "SigIgn:\t0000000000000000", ""])
        # Two sockets, and what the shell itself has opened: its script, and this record.
        files = {line.split(" -> ")[1] for line in self.recorded("files").splitlines() if " -> " in line}
        self.assertEqual({name.split(":")[0] for name in files},
                         {"socket", "/usr/libexec/watchword/watchword-pam-remote", f"{self.folder}/files"})
        self.assertEqual(len(files), 4)
        self.assertEqual(self.recorded("place"), "/\n")
        process, session = self.recorded("session").split()
        self.assertEqual(process, session)

    def test_complaints(self):
        """What the helper says is in the log, made printable."""
        self.helper("printf 'the certificate\\nhas \\033expired\\n' >&2; exit 1")
        self.assertEqual(self.sign_in("123456", stack=REMOTE).log, ["the certificate?has ?expired"])
        self.helper("head -c 100000 /dev/zero | tr '\\0' x >&2; " + self.answering(response("unavailable")))
        self.assertEqual(self.sign_in("123456", stack=REMOTE + " timeout=1").log, [255 * "x"])

    def test_missing(self):
        outcome = self.sign_in("123456", stack=REMOTE)
        self.assertEqual((outcome.result, outcome.log), ("unavailable", ["watchword-pam-remote is not installed"]))

    def test_slow(self):
        """A helper that hangs is not waited for after the deadline."""
        self.helper(f"echo $$ > {self.folder}/process; exec sleep 60")
        start = time.monotonic()
        self.assertEqual(self.sign_in("123456", stack=f"{REMOTE} timeout=1").result, "unavailable")
        self.assertLess(time.monotonic() - start, 5)
        os.kill(int(self.recorded("process")), 9)

    def test_interruptions(self):
        self.helper(self.answering(ACCEPTED))
        outcome = self.sign_in("123456", stack=REMOTE, settings={"HOST_ALARM": "1", "HOST_REPEATS": "20"})
        self.assertEqual(outcome.results, 20 * ["success"])
