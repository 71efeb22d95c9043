"""The command line of Scripts/read-vault.py."""
import argparse
import json
import sys

from .attempts import attempts_path, with_attempts
from .lines import Damaged
from .self_test import self_test
from .slots import Wrong, recovery_key
from .vault import read_vault


def first_line(path):
    with open(path, "rb") as file:
        return file.readline().rstrip(b"\n")


def device_key(text):
    """Reads the ID of a device and its key, in hexadecimal."""
    name, key = text.split(":")
    if len(bytes.fromhex(name)) != 16 or len(bytes.fromhex(key)) != 32:
        raise ValueError
    return name.lower(), bytes.fromhex(key)


def main(description):
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", nargs="?")
    parser.add_argument("--self-test", action="store_true")
    opener = parser.add_mutually_exclusive_group()
    opener.add_argument("--passphrase-file")
    opener.add_argument("--recovery-key-file")
    parser.add_argument("--attempts", help="the attempts file; default: the one that belongs to the vault")
    parser.add_argument("--device-key", action="append", default=[], type=device_key, metavar="ID:KEY")
    parser.add_argument("--reveal", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    if not options.vault or not (options.passphrase_file or options.recovery_key_file):
        parser.error("name a vault, and a passphrase file or a recovery key file")
    with open(options.vault, "rb") as file:
        data = file.read()
    try:
        passphrase = first_line(options.passphrase_file) if options.passphrase_file else None
        recovery = (recovery_key(first_line(options.recovery_key_file).decode("ascii", "replace"))
                    if options.recovery_key_file else None)
        vault = read_vault(data, passphrase, recovery, options.reveal, dict(options.device_key))
        vault = with_attempts(options.attempts or attempts_path(options.vault, vault), vault)
        print(json.dumps(vault, ensure_ascii=False, indent=1))
    except Wrong:
        print("wrong passphrase or recovery key", file=sys.stderr)
        return 1
    except Damaged as error:
        print(f"not a vault, or damaged: {error}", file=sys.stderr)
        return 3
    return 0
