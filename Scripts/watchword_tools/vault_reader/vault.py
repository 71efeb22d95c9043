"""A whole vault: opens it, verifies everything and returns the content."""
import hashlib
import hmac

from .boxes import LABEL, hkdf
from .document import parse
from .lines import expect
from .manifest import read_manifest
from .records import read_entry
from .slots import vault_key


def read_vault(data, passphrase, recovery, reveal, device_keys=None):
    vault = parse(data)
    return verify(vault, vault_key(vault, passphrase, recovery), reveal, device_keys)


def verify(vault, key, reveal, device_keys=None):
    """Verifies everything with the vault key, and returns the content.

    Bound records are opened only with the keys of their devices, which are named by the devices' IDs.
    """
    mac = hmac.digest(hkdf(key, vault["id"], LABEL + b"header"), vault["header"], "sha256")
    expect(hmac.compare_digest(mac, vault["mac"]), "header")
    listed, history = read_manifest(vault, key)
    entries = [read_entry(vault, key, record, entry, reveal, device_keys)
               for record, entry in zip(vault["records"], listed)]
    unlisted = sum("tombstone" in record and entry["wiped"] is None for record, entry in zip(vault["records"], listed))
    expect(vault["changes"] == unlisted, "changes")
    slots = [{name: slot[name] for name in ("number", "created", "method", "log_n", "pin", "pcr7") if name in slot}
             for slot in vault["slots"]]
    found = {"vault": vault["id"].hex(), "generation": vault["generation"], "changes": vault["changes"], "slots": slots,
             "entries": entries}
    return found | {"history": history} if history else found
