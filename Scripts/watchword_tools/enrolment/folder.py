"""Runs `watchword init` and `watchword import`."""
import json
import os
import subprocess


class Failed(Exception):
    """`watchword` failed: its messages and its exit status."""

    def __init__(self, words, status):
        super().__init__(words)
        self.words, self.status = words, status


class Enrolment:
    def __init__(self, program, vault, passphrase_file):
        self.program = program
        self.vault = vault
        self.options = ["--vault", vault, "--passphrase-file", passphrase_file]

    def create_vault(self, recovery_key):
        """Creates the vault, unless there is one; returns whether it did."""
        if os.path.lexists(self.vault):
            return False
        if recovery_key is None:
            self.run(["init", "--no-recovery-key"])
            return True
        # The key must not be lost, so its file is opened before the vault is made, and never overwritten.
        with os.fdopen(os.open(recovery_key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(self.run(["init"]))
            file.flush()
            os.fsync(file.fileno())
        return True

    def import_all(self, folder, password_files):
        """Imports the folder in one save, and returns the items that `watchword import` reports."""
        passwords = [word for file in password_files for word in ("--export-password-file", file)]
        output = self.run(["import", "--json", *passwords, "--", folder], may_refuse=True)
        # An import that found nothing prints one object, which concerns no item.
        return [item for item in map(json.loads, output.splitlines()) if item["result"] != "failed"]

    def run(self, words, may_refuse=False):
        # The options come first, because `--` ends them.
        ran = subprocess.run(
            [self.program, words[0], *self.options, *words[1:]], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        if ran.returncode == 0 or may_refuse and ran.returncode == 1:
            return ran.stdout
        raise Failed(ran.stderr or ran.stdout, 6 if ran.returncode < 0 else ran.returncode)
