#!/usr/bin/env python3
"""Makes the fuzzer's seed inputs from the project's vectors: make-seeds.py FOLDER"""
import hashlib
import json
import os
import shutil
import sys

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
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    with open(os.path.join(folder, name), "w", encoding="utf-8") as seed:
        seed.write(text)


def main(place):
    for target, seeds in (("uri", URIS), ("migration", MIGRATIONS), ("base32", BASE32), ("json", JSON), ("keys", KEYS),
                          ("lines", ["\n".join(["# comment", "", *URIS, *MIGRATIONS])])):
        for text in seeds:
            write(place, target, text)
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
