"""Reads all of Vectors/vault, and truncates, flips and forges the files."""
import json
import os

from watchword_tools import ROOT

from .attempts import SLOT, read_attempts, read_slot_of_attempts, with_attempts
from .document import parse
from .lines import Damaged, end_line
from .slots import Wrong, recovery_key, vault_key
from .vault import read_vault, verify


def refuses(reader, *arguments):
    """Returns whether the reader reports damage."""
    try:
        reader(*arguments)
    except Damaged:
        return True
    return False


def self_test_case(folder, case):
    path = os.path.join(folder, case["file"])
    with open(path, "rb") as file:
        data = file.read()
    passphrase = case["passphrase"].encode()
    devices = {name: bytes.fromhex(key) for name, key in case.get("deviceKeys", {}).items()}
    opened = read_vault(data, passphrase, None, True, devices)
    assert with_attempts(path + ".attempts", opened) == case["holds"], case["file"]
    if "recoveryKey" in case:
        opened = read_vault(data, None, recovery_key(case["recoveryKey"]), True, devices)
        assert with_attempts(path + ".attempts", opened) == case["holds"], case["file"]
    if "deviceSecret" in case:
        device = bytes.fromhex(case["deviceSecret"])
        vault = parse(data)
        for slot in vault["slots"]:
            if "pin" in slot:
                key = vault_key({**vault, "slots": [slot]}, None, None, device)
                assert with_attempts(path + ".attempts", verify(vault, key, True)) == case["holds"], case["file"]
    try:
        read_vault(data, passphrase + b" ", None, False)
        raise AssertionError(f"{case['file']} opens with a wrong passphrase")
    except Wrong:
        pass
    assert all(refuses(parse, data[:cut]) for cut in range(len(data))), case["file"]
    vault = parse(data)
    key = vault_key(vault, passphrase, None)
    end = data.rfind(b"\nend ") + 1
    # An attacker would also replace the last line. Then only a tombstone that the manifest does not list may change.
    for at in range(end):
        flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        assert refuses(parse, flipped), (case["file"], at)
        forged = flipped[:end] + end_line(flipped[:end])
        in_tombstone = data.rfind(b"\n", 0, at) == data.rfind(b"\ntombstone ", 0, at)
        is_free = in_tombstone and vault["changes"] > 0
        assert is_free or refuses(lambda: verify(parse(forged), key, True, devices)), (case["file"], at)


def self_test_attempts(folder):
    """Checks that every truncation and every flipped byte of a slot is detected, and that the older slot is then read."""
    names = [name for name in os.listdir(folder) if name.endswith(".attempts")]
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        assert len(data) == 2 * SLOT, name
        slots = [data[:SLOT], data[SLOT:]]
        read = [read_slot_of_attempts(slot) for slot in slots]
        newer = 1 if read[1][1] > read[0][1] else 0
        vault_id = read[newer][0]
        assert read_attempts(data, vault_id) == read[newer][2] != read[1 - newer][2], name
        text = slots[newer].rstrip(b"\0")
        assert all(refuses(read_slot_of_attempts, text[:cut]) for cut in range(len(text))), name
        for at in range(len(text)):
            flipped = text[:at] + bytes([text[at] ^ 1]) + text[at + 1:]
            assert refuses(read_slot_of_attempts, flipped), (name, at)
            slots[newer] = flipped.ljust(SLOT, b"\0")
            assert read_attempts(b"".join(slots), vault_id) == read[1 - newer][2], (name, at)
    assert names


def self_test():
    folder = ROOT / "Vectors" / "vault"
    with open(os.path.join(folder, "vaults.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases:
        self_test_case(folder, case)
    self_test_attempts(folder)
    print(f"{len(cases)} vaults read; every truncation, every flipped byte and every forged byte detected")
