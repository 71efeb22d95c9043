#!/usr/bin/env python3
"""Reads a Watchword vault without Watchword: the second reader of Sources/Vault/SecretVault/VaultFile.md.

    Scripts/read-vault.py VAULT --passphrase-file FILE [--reveal]
    Scripts/read-vault.py VAULT --recovery-key-file FILE [--reveal]
    Scripts/read-vault.py VAULT --passphrase-file FILE --device-key ID:KEY [--reveal]
    Scripts/read-vault.py --self-test

Verifies everything that the document describes, opens every record, and prints the content as JSON; prints secrets only with --reveal.
A record that is bound to a device is opened only with its device key (KEY; ID is the ID of this key; both are in hexadecimal).
`--self-test` reads all of Vectors/vault, and checks that truncated, corrupted and forged copies are refused. Needs the package `cryptography` (PyPI, or Debian's python3-cryptography)
and the folder watchword_tools beside this script.
Exit status: 0 success, 1 wrong passphrase or recovery key, 3 not a vault, or damaged.
"""
import sys

from watchword_tools.vault_reader.command import main

sys.exit(main(__doc__))
