"""Runs `watchword init` and `watchword import`."""
import json
import os
import subprocess

# Reasons for which another password may help; some encrypted files are recognised only with their
# password.
LOCKED = {"password-needed", "wrong-password", "unknown-format"}


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
        """Imports the folder with the first password, and the files that stay locked with each of the others."""
        items = self.import_paths([folder], password_files[:1])
        for password_file in password_files[1:]:
            locked = locked_files(items)
            if locked:
                items = replaced(items, self.import_paths(locked, [password_file]))
        return items

    def import_paths(self, paths, password_files):
        """The items that `watchword import` reports."""
        passwords = [word for file in password_files for word in ("--export-password-file", file)]
        output = self.run(["import", "--json", *passwords, "--", *paths], may_refuse=True)
        return [json.loads(line) for line in output.splitlines()]

    def run(self, words, may_refuse=False):
        # The options come first, because `--` ends them.
        ran = subprocess.run(
            [self.program, words[0], *self.options, *words[1:]], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False)
        if ran.returncode == 0 or may_refuse and ran.returncode == 1:
            return ran.stdout
        raise Failed(ran.stderr or ran.stdout, 6 if ran.returncode < 0 else ran.returncode)


def locked_files(items):
    """The files that another password may open, in order."""
    return list(dict.fromkeys(item["file"] for item in items if item.get("reason") in LOCKED))


def replaced(items, later):
    """`items`, with those of a file replaced by later ones if another password has opened it."""
    opened = {item["file"] for item in later} - set(locked_files(later))
    return [item for item in items if item["file"] not in opened] + [
        item for item in later if item["file"] in opened]
