"""The command line of Scripts/enrol-folder."""
import argparse
import os
import shutil
import sys

from watchword_tools import ROOT
from watchword_tools.enrolment.folder import Enrolment, Failed
from watchword_tools.enrolment.report import write


def main(description):
    parser = argparse.ArgumentParser(
        prog="enrol-folder", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    passphrase_file = os.environ.get("WATCHWORD_PASSPHRASE_FILE")
    parser.add_argument(
        "--passphrase-file", default=passphrase_file, required=passphrase_file is None, metavar="FILE",
        help="its first line is the passphrase")
    parser.add_argument("--vault", default=default_vault(), metavar="FILE", help="default: %(default)s")
    parser.add_argument(
        "--recovery-key", metavar="FILE", help="where a new vault's recovery key is written; default: none is made")
    parser.add_argument(
        "--export-password-file", action="append", default=[], metavar="FILE",
        help="password of encrypted exports; give the option once for each password")
    parser.add_argument("--report", metavar="FILE", help="default: standard output")
    options = parser.parse_args()
    program = program_path()
    if program is None:
        print("enrol-folder: watchword is not in the PATH, and this project is not built", file=sys.stderr)
        return 6
    enrolment = Enrolment(program, options.vault, options.passphrase_file)
    try:
        created = enrolment.create_vault(options.recovery_key)
        items = enrolment.import_all(options.folder, options.export_password_file)
        refused = write(options.report, options.folder, options.vault, created, items)
    except Failed as failure:
        print(failure.words, file=sys.stderr, end="")
        return failure.status
    except OSError as error:
        print(f"enrol-folder: {error.filename}: {error.strerror}", file=sys.stderr)
        return 6
    return 1 if refused or not items else 0


def default_vault():
    """The vault that `watchword` uses without options."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.environ.get("WATCHWORD_VAULT") or os.path.join(data, "watchword", "vault")


def program_path():
    """`watchword` in the PATH, or as built in this project."""
    built = [os.path.join(ROOT, ".build", build, "watchword") for build in ("release", "debug")]
    return shutil.which("watchword") or next((path for path in built if os.access(path, os.X_OK)), None)
