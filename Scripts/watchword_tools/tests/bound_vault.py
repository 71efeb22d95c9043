"""A writer of vaults with bound records (format 4), written from Sources/Vault/SecretVault/VaultFile.md."""
import base64
import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from watchword_tools.tests.vault_files import with_end
from watchword_tools.vault_reader.boxes import hkdf, open_box
from watchword_tools.vault_reader.document import parse
from watchword_tools.vault_reader.slots import vault_key
from watchword_tools.vault_reader.vault import verify

KINDS = ["totp", "hotp", "secret", "enrolled", "motp", "yandex"]
ALGORITHMS = ["SHA1", "SHA256", "SHA512"]


def string(data):
    return struct.pack(">I", len(data)) + data


def padded(content):
    text = string(content)
    return text + bytes(-len(text) % 64)


def seal(key, plaintext, associated):
    nonce = hashlib.sha256(plaintext + associated).digest()[:12]
    return nonce + AESGCM(key).encrypt(nonce, plaintext, associated)


def base64_of(data):
    return base64.b64encode(data).decode()


def code_of(entry):
    """The kind and the parameters of the codes, as in a manifest."""
    data = bytes([KINDS.index(entry["kind"]) + 1])
    if entry["kind"] in ("totp", "hotp"):
        data += bytes([ALGORITHMS.index(entry["algorithm"]) + 1, entry["digits"]])
    return data + (struct.pack(">qq", entry["period"], entry["start"]) if entry["kind"] == "totp" else b"")


class BoundVault:
    """Binds records of a vault of format 2. The attributes are values that a faulty program might write."""

    device, secret = bytes(range(16)), bytes(range(32, 64))
    version, word, number, name = 4, "file", 3, "Jörgs Rechner".encode()
    # Replacements for the `vault` line in the associated data, for the device's ID there, or for all of the data.
    inner_vault = inner_device = inner_data = None
    # Replacements for parameters of the entry's codes there.
    code = {}

    def __init__(self, data, passphrase):
        self.vault = parse(data)
        self.key = vault_key(self.vault, passphrase, None)
        self.entries = verify(self.vault, self.key, True)["entries"]
        self.bound = set(range(len(self.entries)))
        self.states, self.inner = {}, lambda box: box

    def derived(self, purpose):
        return hkdf(self.key, self.vault["id"], b"watchword-vault 1 " + purpose)

    def of_device(self, purpose):
        return hkdf(self.secret, self.vault["id"], b"watchword-device 1 " + purpose)

    def state(self, place):
        return self.states.get(place, self.entries[place].get("counter", 0))

    def file(self):
        """The bytes of the vault file."""
        header = self.vault["header"].replace(b"watchword-vault 2\n", b"watchword-vault %d\n" % self.version, 1)
        mac = b"mac " + base64.b64encode(hmac.digest(self.derived(b"header"), header, "sha256")) + b"\n"
        manifest = open_box(self.derived(b"manifest"), self.vault["manifest"], self.vault["mac_line"], "manifest")
        lines, parts, done = [], [], 0
        for place, record in enumerate(self.vault["records"]):
            box = record["box64"]
            if place in self.bound:
                box = base64_of(self.outer_box(place, record))
                # The state, the digest and the fingerprint follow the ID and the revision.
                at = manifest.index(record["id"] + struct.pack(">QB", record["revision"], 1), done) + 24
                parts += [manifest[done:at], self.listed(place, box)]
                done = at + 49
            lines.append(f"sealed {record['id64']} {box}\n".encode())
        manifest = seal(self.derived(b"manifest"), b"".join(parts) + manifest[done:], mac)
        end = b"manifest " + base64.b64encode(manifest) + b"\nchanges 0\n"
        return with_end(header + mac + b"".join(lines) + end)

    def outer_box(self, place, record):
        key = self.derived(b"record" + record["id"])
        associated = self.vault["line"] + record["line"]
        plaintext = open_box(key, base64.b64decode(record["box64"]), associated, "record")
        inner = seal(self.of_device(b"record" + record["id"]), plaintext, self.associated(place, record))
        return seal(key, padded(self.inner(inner)), associated)

    def associated(self, place, record):
        if self.inner_data is not None:
            return self.inner_data
        words = ["bound", record["id64"], base64_of(self.inner_device or self.device), self.word,
                 base64_of(code_of(self.entries[place] | self.code)), record["access"], str(self.state(place))]
        return (self.inner_vault or self.vault["line"]) + " ".join(words).encode() + b"\n"

    def listed(self, place, box):
        """The bytes about the secret in the manifest."""
        secret = bytes.fromhex(self.entries[place]["secret"])
        fingerprint = hmac.digest(self.of_device(b"fingerprint"), secret, "sha256")[:16]
        device = self.device + bytes([self.number]) + string(self.name) + struct.pack(">Q", self.state(place))
        return b"\3" + hashlib.sha256(box.encode()).digest() + fingerprint + device

    def key_path(self):
        """The path of the file of the device key in the folder for state."""
        return f"watchword/device-keys/{self.vault['id'].hex()}/{self.device.hex()}"

    def key_file(self):
        """The content of the file of a device key that no TPM has sealed."""
        body = b"watchword-device-key 1\n" + string(self.vault["id"]) + string(self.device) + string(self.name)
        body += bytes([self.number]) + string(self.secret)
        return body + hashlib.sha256(body).digest()
