"""Tests of Scripts/enrol-folder, with a fake watchword program."""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

from watchword_tools import ROOT

# Records its arguments. `init` creates the vault; `import` prints the items in ANSWER, or exits with that status.
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    print(json.dumps(words), file=calls)
if words[0] == "init":
    open(words[words.index("--vault") + 1], "x").close()
    print("RECOVERY-KEY")
    sys.exit(0)
answer = json.loads(os.environ["ANSWER"])
if isinstance(answer, int):
    print("watchword: wrong passphrase", file=sys.stderr)
    sys.exit(answer)
for item in answer or [{"message": "there is no result", "result": "failed", "status": 1}]:
    print(json.dumps(item))
sys.exit(1 if not answer or any(item["result"] in ("refused", "unread") for item in answer) else 0)
"""
ADDED = {"file": "in/a", "result": "added", "entry": "A"}
DAMAGED = {"file": "in/c", "result": "unread", "reason": "damaged"}
REFUSED = {"file": "in/d", "result": "refused", "reason": "bad-uri"}


class EnrolmentTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        program = self.path("watchword")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(program, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def enrol(self, answer, *options):
        """Runs the script; returns its exit status, its report and the calls of the program."""
        ran = subprocess.run(
            [sys.executable, os.path.join(ROOT, "Scripts/enrol-folder"), "in", "--vault", self.path("vault"),
             "--passphrase-file", "pass", *options],
            env={"PATH": f"{self.folder}:/usr/bin:/bin", "CALLS": self.path("calls"), "ANSWER": json.dumps(answer)},
            capture_output=True, encoding="utf-8", check=False)
        with open(self.path("calls"), encoding="utf-8") as calls:
            words = [json.loads(line) for line in calls]
        os.remove(self.path("calls"))
        self.errors = ran.stderr
        return ran.returncode, json.loads(ran.stdout) if ran.stdout else None, words

    def test_a_vault_is_created_once_and_everything_is_imported(self):
        status, report, calls = self.enrol([ADDED])
        self.assertEqual((status, report["created"], report["items"]), (0, True, [ADDED]))
        self.assertEqual(report["counts"], {"added": 1, "skipped": 0, "refused": 0, "unread": 0})
        common = ["--vault", self.path("vault"), "--passphrase-file", "pass"]
        self.assertEqual(
            calls, [["init", *common, "--no-recovery-key"], ["import", *common, "--json", "--", "in"]])
        status, report, calls = self.enrol([dict(ADDED, result="skipped")])
        self.assertEqual((status, report["created"], report["counts"]["skipped"]), (0, False, 1))
        self.assertEqual([words[0] for words in calls], ["import"])

    def test_one_import_tries_all_passwords(self):
        options = ["--export-password-file", "p1", "--export-password-file", "p2"]
        status, report, calls = self.enrol([ADDED, DAMAGED], *options)
        self.assertEqual((status, report["items"]), (1, [ADDED, DAMAGED]))
        self.assertEqual([words[0] for words in calls], ["init", "import"])
        self.assertEqual(calls[-1][-6:], [*options, "--", "in"])

    def test_the_exit_status_is_1_for_a_refused_or_unread_item_or_an_empty_folder_and_otherwise_the_programs(self):
        for item in DAMAGED, REFUSED:
            status, report, _ = self.enrol([ADDED, item])
            self.assertEqual((status, report["counts"][item["result"]]), (1, 1))
        status, report, _ = self.enrol([])
        self.assertEqual((status, report["items"]), (1, []))
        self.assertEqual(self.enrol(4)[:2], (4, None))
        self.assertEqual(self.errors, "watchword: wrong passphrase\n")

    def test_only_their_owner_can_read_the_recovery_key_and_the_report(self):
        self.enrol([ADDED], "--recovery-key", self.path("key"), "--report", self.path("report"))
        for name, content in ("key", "RECOVERY-KEY\n"), ("report", None):
            with open(self.path(name), encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text if content else json.loads(text)["items"], content or [ADDED])
            self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)
        os.remove(self.path("vault"))
        status, _, _ = self.enrol_without_calls("--recovery-key", self.path("key"))
        self.assertEqual(status, 6, "an existing file is not overwritten")

    def enrol_without_calls(self, *options):
        open(self.path("calls"), "w", encoding="utf-8").close()
        return self.enrol([ADDED], *options)


if __name__ == "__main__":
    unittest.main()
