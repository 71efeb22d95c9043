#!/usr/bin/env python3
"""Makes the fuzzer's seed inputs from the project's vectors, and from messages: Fuzz --seeds | make-seeds.py FOLDER"""
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import zipfile

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Vectors")
# Each target, its folder in Vectors, and whether the folder contains files, or texts inside JSON.
SOURCES = [
    ("uri", "otpauth", "texts"), ("migration", "migration", "texts"), ("lines", "otpauth", "texts"),
    ("base32", "base32", "texts"), ("vault", "vault", "files"), ("attempts", "vault", "files"),
    ("picture", "qr", "files"),
]
# The extensions of the pictures that each target for a library starts with.
PICTURES = {"gif": ["gif"], "tiff": ["tiff"], "heif": ["heic", "avif"], "bitmap": ["bmp", "pbm", "pgm", "ppm"],
            "svg": ["svg"], "pdf": ["pdf"]}
LARGEST = 64 << 10
# Inputs that a fuzzer would take long to find.
URIS = [
    "otpauth://totp/ACME%20Co:john@example.com?secret=JBSWY3DPEHPK3PXP&issuer=ACME%20Co&algorithm=SHA256&digits=8&period=60",
    "otpauth://hotp/Service:alice?secret=GEZDGNBVGY3TQOJQ&issuer=Service&counter=7&digits=6",
    "otpauth://totp/Steam:player?secret=MFRGGZDFMZTWQ2LK&issuer=Steam",
    "otpauth://steam/player?secret=MFRGGZDFMZTWQ2LK",
    "apple-otpauth://totp/a:b:c?secret=jbsw y3dp-ehpk3pxp====&Algorithm=HmacSHA512&image=x+y&lock=false#end",
    # Found by fuzzing: a parameter of the other type, and a label that is a single space.
    "otpauth://totp/ACME:john?secret=VGY3TQOJ&e&counter=1",
    "otpauth://hotp/%20?secret=GEZDGNBV&digits=6",
]
MIGRATIONS = [
    "otpauth-migration://offline?data=CiUKCkhlbGxvId6tvu8SDWFsaWNlQGdvb2dsZRoGR29vZ2xlIAEoATACEAEYASAA",
]
JSON = [
    '{"subject":"alice","code":"492039","credential":"cr_AA","counter":7}',
    '[true,false,null,-1,"\\u00e9\\ud83d\\ude00\\n",{"a":[{}]}]', '{"a":1,"a":2}', "[1.5e3]",
]
# Two keys and a lookup key of constant bytes. The fuzz target corrects the digest of the first lines.
KEYS = ["watchword-keys 1\nlookup {0}=\nkey 1 {0}=\nkey 7 {0}=\ncurrent 7\nend {0}=\n".format("A" * 43)]
BASE32 = ["JBSWY3DPEHPK3PXP", "MZXW6===", "MZXW6YTBOI======", "mzxw 6ytb-oi"]

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
EXPORT_TEXTS = [
    *URIS, "otpauth://totp/A:a?codeDisplay=%7B%22tags%22%3A%5B%22x%22%5D%2C%22trashed%22%3Atrue%7D&secret=" + SECRET,
    "motp://I:u?secret=00ff00ff00ff00ff\nsteam://" + SECRET + "\notpauth://yaotp/a?secret=" + SECRET + "&pin=GEZDGNBV",
    "otpauth://totp/a?secret=" + SECRET + ",otpauth://totp/b?secret=" + SECRET,
    "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nA,u,user,pw,otpauth://totp/A?secret=" + SECRET
    + ",true,true,x;y,\"n\n2\"\n",
    'folder,favorite,type,name,login_uri,login_totp\n,,1,Acme,,otpauth://totp/A?secret=' + SECRET + ",Acme,30,6\n",
    "HOTP/T30/6 bob - 3132333435363738\nHOTP alice 1234 3132333435363738 5 123456 2020-01-01T00:00:00L\n",
    SECRET + '\n" RATE_LIMIT 3 30\n" TOTP_AUTH\n12345678\n', SECRET + '\n" HOTP_COUNTER 3\n',
    "Acme:ann:" + SECRET.lower() + "\n",
]
# An export of each format, by its case of `ExportFormat`.
EXPORT_JSON = {
    "aegis": {"version": 1, "header": {"slots": None, "params": None}, "db": {"version": 3, "entries": [
        {"type": "totp", "uuid": "u", "name": "ann", "issuer": "Acme", "note": "n", "favorite": True, "icon": None,
         "info": {"secret": SECRET, "algo": "SHA256", "digits": 7, "period": 20}, "groups": ["g"]},
        {"type": "motp", "name": "m", "info": {"secret": SECRET, "pin": "1234"}}],
        "groups": [{"uuid": "g", "name": "G"}]}},
    "twoFAS": {"schemaVersion": 4, "groups": [{"id": "g", "name": "G"}], "services": [
        {"name": "Acme", "secret": SECRET, "groupId": "g", "order": {"position": 1},
         "otp": {"account": "ann", "tokenType": "HOTP", "counter": 9223372036854775808, "digits": 6}}]},
    "andOTP": [{"secret": SECRET, "issuer": "A", "label": "x", "digits": 6, "type": "MOTP", "algorithm": "SHA1",
                "tags": ["t"]}],
    "raivo": [{"kind": "TOTP", "timer": "30", "secret": SECRET, "issuer": "A", "account": "a", "digits": "6",
               "algorithm": "SHA1", "counter": "0", "pinned": "true"}],
    "duo": [{"name": "d", "otpGenerator": {"otpSecret": SECRET, "counter": 2}}],
    "authy": [{"decryptedSecret": SECRET, "digits": 7, "originalName": "A:a"}, {"secretSeed": "00ff", "name": "A - b"}],
    "freeOTPPlus": {"tokenOrder": ["A:a"], "tokens": [
        {"algo": "SHA1", "counter": -1, "digits": 6, "issuerExt": "A", "label": "a", "period": 30,
         "secret": [-1, 0, 127], "type": "HOTP"}]},
    "bitwarden": {"encrypted": False, "folders": [{"id": "f", "name": "F"}], "items": [
        {"type": 1, "name": "A", "notes": "\ud800", "favorite": True, "folderId": "f",
         "login": {"username": "u", "totp": "steam://" + SECRET}}]},
    "uriList": {"items": [
        "otpauth://totp/A?secret=" + SECRET, {"rawData": "otpauth://hotp/A?counter=1&secret=" + SECRET}]},
    "protonAuthenticator": {"version": 1, "entries": [
        {"content": {"uri": "steam://" + SECRET, "entry_type": "Steam", "name": "n"}, "note": "n"}]},
    "protonPass": {"vaults": {"v": {"name": "V", "items": [{"state": 2, "pinned": True, "data": {
        "metadata": {"name": "N", "note": ""}, "type": "login",
        "content": {"itemUsername": "u", "totpUri": SECRET},
        "extraFields": [{"fieldName": "f", "type": "totp", "data": {"totpUri": SECRET}}]}}]}}},
    "lastPass": {"version": 3, "accounts": [
        {"issuerName": "A", "userName": "u", "secret": SECRET, "timeStep": 30, "digits": 6, "algorithm": "SHA1",
         "folderData": {"folderId": 2}}], "folders": [{"id": 2, "name": "F"}]},
    "steam": {"shared_secret": "ABEiM0RVZneImQ==", "account_name": "ann"},
    "stratum": {"Authenticators": [{"Type": 3, "Issuer": "A", "Username": "u", "Secret": "00ff00ff", "Pin": "1"}],
                "Categories": [{"Id": "c", "Name": "C"}],
                "AuthenticatorCategories": [{"CategoryId": "c", "AuthenticatorSecret": "00ff00ff"}]},
}
EXPORT_XML = [
    '<map><string name="tokenOrder">["A:a"]</string><string name="A:a">{"algo":"SHA1","secret":[1,2],"type":"TOTP",'
    '"label":"a"}</string></map>',
    '<map><string name="com.blizzard.messenger.AUTHENTICATOR_SERIAL">6cdd0acc61155948545086d208ccf95c35</string>'
    '<string name="com.blizzard.messenger.AUTHENTICATOR_DEVICE_SECRET">58b643986544585c540085d711c3a558</string></map>',
    '<map><string name="STATIC_TOTP_CODES_LIST">[{"issuer":"A","name":"a","key":"00FF","base":16,"digits":"","period":""}]'
    "</string></map>",
    '<KeyContainer Version="1.0" xmlns="urn:ietf:params:xml:ns:keyprov:pskc"><KeyPackage><Key Id="1" '
    'Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp"><AlgorithmParameters><ResponseFormat Length="8" '
    'Encoding="DECIMAL"/></AlgorithmParameters><Data><Secret><PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</PlainValue>'
    "</Secret><Counter><PlainValue>0</PlainValue></Counter></Data></Key></KeyPackage></KeyContainer>",
    "<html><code>otpauth://totp/A?secret=" + SECRET + "&amp;digits=6</code></html>",
]
DATABASES = [
    "CREATE TABLE accounts (email TEXT, secret TEXT, counter INTEGER, type INTEGER, issuer TEXT, isencrypted INTEGER);"
    f"INSERT INTO accounts VALUES ('A:a', '{SECRET}', 3, 1, NULL, 0);",
    "CREATE TABLE accounts (name TEXT, username TEXT, oath_secret_key TEXT, account_type INTEGER);"
    f"INSERT INTO accounts VALUES ('A', 'a', '{SECRET}', 0);",
    "CREATE TABLE authenticator (type INTEGER, issuer TEXT, username TEXT, secret TEXT, digits INTEGER);"
    f"INSERT INTO authenticator VALUES (2, 'A', 'a', '{SECRET}', 6);",
]


def exports():
    """Yields a target and the bytes of an export."""
    for text in EXPORT_TEXTS + MIGRATIONS:
        yield "exporttext", text.encode()
    for value in EXPORT_JSON.values():
        yield "exportjson", json.dumps(value).encode()
    for text in EXPORT_XML:
        yield "exportxml", text.encode()
    for script in DATABASES:
        with sqlite3.connect(":memory:") as database:
            database.executescript(script)
            yield "sqlite", database.serialize()
    members = {"export.data": {"accounts": []}, "raivo-otp-export.json": EXPORT_JSON["raivo"],
               "Proton Pass/data.json": EXPORT_JSON["protonPass"], "1.maFile": EXPORT_JSON["steam"],
               "data.json": EXPORT_JSON["bitwarden"]}
    for name, value in members.items():
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(name, json.dumps(value))
        yield "zip", archive.getvalue()
    yield "gzip", gzip.compress(b"text" * 100)
    for case in load("exports/encrypted.json")["cases"]:
        content = base64.b64decode(case["file"]) if case.get("encoding") == "base64" else case["file"].encode()
        yield "java" if content.startswith(b"\xac\xed") else "exportjson", content
    for case in load("exports/keepass.json")["cases"]:
        yield "kdbx", base64.b64decode(case["file"])
    for case in load("exports/keepass-xml.json")["cases"]:
        yield "exportxml", case["file"].encode()


def objects():
    """Yields a target and the bytes of an object of WebAuthn."""
    for case in load("cbor/rfc8949.json")["cases"]:
        yield "cbor", bytes.fromhex(case["encoded"])
    # The fuzz target takes the format's position in its own list.
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Sources", "Fuzz", "Credentials.swift")
    with open(source, encoding="utf-8") as file:
        formats = json.loads(re.search(r"let formats = (\[.*\])", file.read()).group(1))
    for case in load("webauthn/attestations.json")["cases"] + load("webauthn/chromium.json")["cases"]:
        content = base64.b64decode(case["object"])
        yield "attestation", content
        # The scripts that made the objects put the statement between these two names.
        name, _, statement = content[5:].partition(b"gattStmt")
        for index, known in enumerate(formats):
            if name.endswith(known.encode()) and b"hauthData" in statement:
                yield "statement", bytes([index]) + statement.rpartition(b"hauthData")[0]
        data = content.rpartition(b"hauthData")[2]
        for start in (data.find(beginning) for beginning in (b"\xa5\x01\x02", b"\xa4\x01\x03")):
            if start > 0:
                yield "publickey", field(b"\x30\x06\x02\x01\x01\x02\x01\x01") + data[start:]
        yield "authenticator", data[2:] if data[:1] == b"\x58" else data[3:]
        for start in [index for index in range(len(content)) if content[index:index + 2] in (b"\x59\x01", b"\x59\x02")]:
            yield "certificate", content[start + 3:start + 3 + int.from_bytes(content[start + 1:start + 3], "big")]
    for case in load("tpm/public-areas.json")["cases"]:
        yield "tpm", bytes.fromhex(case["publicArea"])
    for case in load("tpm/certify.json")["cases"]:
        yield "tpm", bytes.fromhex(case["certification"])
    for case in load("webauthn/anchors.json")["cases"]:
        yield "certificate", base64.b64decode(case["certificate"])
    for case in load("tpm/device-key-attestations.json")["cases"]:
        parts = [base64.b64decode(case[name]) for name in (
            "endorsementKey", "attestationKey", "deviceKey", "certification", "signature")]
        chain = [base64.b64decode(certificate) for certificate in case["endorsementChain"]]
        yield "evidence", b"".join(map(field, parts + chain))
        yield "tpm", parts[0]
    for audience, credential in (("https://login.example", "cr_AAECAwQFBgcICQoLDA0ODw"), ("a" * 1_024, "")):
        yield "transcript", field(audience.encode()) + field(credential.encode()) + b"\2"
    for case in load("webauthn/ceremonies.json")["cases"]:
        for ceremony in [case, *case["assertions"]]:
            yield "response", ceremony["response"].encode()
            yield "client", base64.urlsafe_b64decode(
                json.loads(ceremony["response"])["response"]["clientDataJSON"] + "==")
    # The limits of the lengths of ids and user handles.
    for count, handle in ((0, 0), (1, 64), (1_023, 65), (1_024, 1)):
        passkey, user = (base64.urlsafe_b64encode(bytes(number)).decode().rstrip("=") for number in (count, handle))
        yield "response", json.dumps({"type": "public-key", "id": passkey, "rawId": passkey, "response": {
            "clientDataJSON": "e30", "attestationObject": "", "transports": ["usb"], "authenticatorData": "",
            "signature": "", "userHandle": user}}).encode()


def messages():
    """Yields the targets and the bytes that the fuzzer has printed."""
    for line in sys.stdin:
        target, digits = line.split()
        yield target, bytes.fromhex(digits)


def field(content):
    """The bytes behind their length in two bytes."""
    return len(content).to_bytes(2, "big") + content


def load(path):
    with open(os.path.join(VECTORS, path), encoding="utf-8") as file:
        return json.load(file)


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def files(folder):
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield os.path.join(parent, name)


def write(place, target, text):
    folder = os.path.join(place, target)
    os.makedirs(folder, exist_ok=True)
    content = text if isinstance(text, bytes) else text.encode()
    name = hashlib.sha256(content).hexdigest()[:16]
    with open(os.path.join(folder, name), "wb") as seed:
        seed.write(content)


def main(place):
    for target, seeds in (("uri", URIS), ("migration", MIGRATIONS), ("base32", BASE32), ("json", JSON), ("keys", KEYS),
                          ("lines", ["\n".join(["# comment", "", *URIS, *MIGRATIONS])])):
        for text in seeds:
            write(place, target, text)
    for target, content in [*exports(), *objects(), *messages()]:
        write(place, target, content)
    for target, folder, kind in SOURCES:
        seeds = os.path.join(place, target)
        os.makedirs(seeds, exist_ok=True)
        for path in files(os.path.join(VECTORS, folder)):
            if kind == "files":
                if os.path.getsize(path) <= LARGEST:
                    shutil.copy(path, seeds)
            elif path.endswith(".json"):
                with open(path, encoding="utf-8") as file:
                    for text in texts(json.load(file)):
                        write(place, target, text)
    for target, extensions in PICTURES.items():
        os.makedirs(os.path.join(place, target), exist_ok=True)
        for path in files(os.path.join(VECTORS, "pictures")):
            if path.rpartition(".")[2] in extensions:
                shutil.copy(path, os.path.join(place, target))


main(sys.argv[1])
