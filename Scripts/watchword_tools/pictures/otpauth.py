"""Entries with their codes and otpauth URIs, computed independently of Watchword."""
import base64
import hashlib
import hmac
import struct
from urllib.parse import quote, urlencode

STEAM = "23456789BCDFGHJKMNPQRTVWXY"


def entry(issuer, account, type="totp", algorithm="SHA1", digits=6, period=30, counter=None,
          time=None, length=20):
    """Makes an entry and its code. The key of `length` bytes is derived from the names; nobody uses it."""
    key = hashlib.sha512(f"watchword picture {issuer}:{account}".encode()).digest()[:length]
    made = {"issuer": issuer, "account": account, "type": type, "algorithm": algorithm,
            "digits": digits, "secret": base64.b32encode(key).decode().rstrip("=")}
    if type == "hotp":
        made["counter"] = counter
        moving = counter
    else:
        made["period"], made["time"] = period, time
        moving = time // period
    made["code"] = code(key, moving, algorithm, digits, steam=type == "steam")
    return made


def code(key, moving, algorithm, digits, steam=False):
    """Computes a code: RFC 4226 with the moving factor `moving`, or Steam Guard's five characters."""
    mac = hmac.digest(key, struct.pack(">Q", moving), algorithm.lower())
    start = mac[-1] & 15
    number = struct.unpack(">I", mac[start:start + 4])[0] & 0x7FFFFFFF
    if not steam:
        return str(number % 10 ** digits).zfill(digits)
    letters = ""
    for _ in range(5):
        letters += STEAM[number % 26]
        number //= 26
    return letters


def uri(made, escape=quote):
    """Formats the entry as an otpauth URI, without default values."""
    fields = {"secret": made["secret"], "issuer": made["issuer"]}
    if made["algorithm"] != "SHA1":
        fields["algorithm"] = made["algorithm"]
    if made["digits"] != 6 and made["type"] != "steam":
        fields["digits"] = made["digits"]
    if made["type"] == "hotp":
        fields["counter"] = made["counter"]
    elif made["period"] != 30:
        fields["period"] = made["period"]
    label = f"{escape(made['issuer'])}:{escape(made['account'])}"
    query = "&".join(f"{name}={escape(str(value))}" for name, value in fields.items())
    return f"otpauth://{made['type']}/{label}?{query}"


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, value):
    """Encodes a protobuf field: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(tag << 3) + varint(value)
    return varint(tag << 3 | 2) + varint(len(value)) + value


def migration(entries, size, index, identifier):
    """Google Authenticator's export: a protobuf message in Base64."""
    payload = b""
    for made in entries:
        secret = base64.b32decode(made["secret"] + "=" * (-len(made["secret"]) % 8))
        one = (field(1, secret) + field(2, made["account"].encode()) + field(3, made["issuer"].encode())
               + field(4, {"SHA1": 1, "SHA256": 2, "SHA512": 3}[made["algorithm"]])
               + field(5, {6: 1, 8: 2}[made["digits"]])
               + field(6, {"hotp": 1, "totp": 2}[made["type"]]))
        if made["type"] == "hotp":
            one += field(7, made["counter"])
        payload += field(1, one)
    payload += field(2, 1) + field(3, size) + field(4, index) + field(5, identifier)
    return "otpauth-migration://offline?" + urlencode({"data": base64.b64encode(payload).decode()})
