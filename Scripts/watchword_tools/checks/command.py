"""The command lines of the checks."""
import argparse
import unittest

from watchword_tools import ROOT


def self_test(*tests):
    """Runs the named unit tests; returns the exit status."""
    loaded = unittest.defaultTestLoader.loadTestsFromNames([f"watchword_tools.tests.{name}" for name in tests])
    return 0 if unittest.TextTestRunner().run(loaded).wasSuccessful() else 1


def run(description, check, *tests):
    """Prints what `check` finds in a folder, or runs the named unit tests; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=ROOT, help="default: this project")
    parser.add_argument("--self-test", action="store_true", help="runs the unit tests of the check")
    options = parser.parse_args()
    if options.self_test:
        return self_test(*tests)
    complaints = list(check(options.folder))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0
