#!/usr/bin/env python3
"""Reads an Aegis file without Watchword, as a check of `watchword export --format aegis`.

    Scripts/read-aegis.py FILE [--password-file FILE]

Checks the file against Aegis' public description (docs/vault.md), and prints one entry per line as JSON, with its secret. Needs the package `cryptography` (PyPI, or Debian's
python3-cryptography) and the folder watchword_tools beside this script.
Exit status: 0 success, 1 wrong password, 3 not an Aegis file, or damaged.
"""
import sys

from watchword_tools.aegis_reader.command import main

sys.exit(main(__doc__))
