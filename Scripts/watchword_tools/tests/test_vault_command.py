"""Tests of the command Scripts/read-vault.py."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from watchword_tools import ROOT
from watchword_tools.tests.vault_files import PASSPHRASE, vault_bytes


class ReadVaultTests(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.write("passphrase", PASSPHRASE + b"\n")
        self.write("vault", vault_bytes("every-kind"))

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def run_command(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "Scripts/read-vault.py", *arguments], cwd=self.folder,
                              capture_output=True, text=True)

    def test_the_content_is_printed_as_json_without_secrets(self):
        shown = self.run_command("vault", "--passphrase-file", "passphrase")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        vault = json.loads(shown.stdout)
        self.assertEqual(vault["attempts"], [])
        self.assertNotIn('"secret":', shown.stdout)

    def test_reveal_prints_what_the_vectors_say(self):
        cases = json.loads((ROOT / "Vectors/vault/vaults.json").read_text())["cases"]
        case = next(case for case in cases if case["file"] == "every-kind-v1.vault")
        shown = self.run_command("vault", "--passphrase-file", "passphrase", "--reveal")
        self.assertEqual(json.loads(shown.stdout), case["holds"])
        self.write("recovery", case["recoveryKey"].encode() + b"\n")
        self.assertEqual(self.run_command("vault", "--recovery-key-file", "recovery", "--reveal").stdout, shown.stdout)

    def test_a_wrong_passphrase_exits_with_status_1(self):
        self.write("passphrase", PASSPHRASE + b"x\n")
        shown = self.run_command("vault", "--passphrase-file", "passphrase")
        self.assertEqual((shown.returncode, shown.stdout, shown.stderr), (1, "", "wrong passphrase or recovery key\n"))

    def test_damage_exits_with_status_3(self):
        self.write("vault", vault_bytes("every-kind")[:-1])
        shown = self.run_command("vault", "--passphrase-file", "passphrase")
        self.assertEqual((shown.returncode, shown.stdout, shown.stderr),
                         (3, "", "not a vault, or damaged: truncated or damaged\n"))

    def test_missing_options_are_reported(self):
        for arguments in [[], ["vault"], ["vault", "--passphrase-file", "p", "--recovery-key-file", "r"]]:
            self.assertEqual(self.run_command(*arguments).returncode, 2)
