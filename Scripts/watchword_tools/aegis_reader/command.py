"""The command line of Scripts/read-aegis.py."""
import argparse
import json
import sys

from .vault import Malformed, WrongPassword, entries, read_file


def main(description):
    """Runs the command, and returns its exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--password-file")
    options = parser.parse_args()
    password = b""
    if options.password_file:
        with open(options.password_file, "rb") as file:
            password = file.readline().rstrip(b"\n")
    with open(options.file, "rb") as file:
        data = file.read()
    try:
        content = read_file(json.loads(data), password)
        content = json.loads(content) if isinstance(content, bytes) else content
        for entry in entries(content):
            print(json.dumps(entry, ensure_ascii=False))
    except WrongPassword:
        print("wrong password", file=sys.stderr)
        return 1
    except (Malformed, KeyError, ValueError) as error:
        print(f"not an Aegis file, or damaged: {error}", file=sys.stderr)
        return 3
    return 0
