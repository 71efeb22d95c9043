"""Compares the command with other programs: codes, start, a large vault, and pictures."""
import os
import random
import sys

from figures import Failure, fastest, least, run

ROUNDS = 7
START_ROUNDS = 200
ENTRIES = 10_000


def measure_codes(table, place, folder):
    found = least(ROUNDS, [[place.peer("codes")], [place.python, place.source("peers", "pyotp_code.py")],
                           [place.benchmark("CodeBenchmark")]])
    for name, goal in (("sha1", 1.0), ("sha256", 1.1), ("sha512", 1.25)):
        table.at_most(f"code, prepared key, {label(name)}; two chained compressions",
                      found[f"code-{name}"], found[f"limit-{name}"], goal, "ns")
    for name in ("sha1", "sha256", "sha512"):
        table.at_most(f"latency: each code depends on the previous one, {label(name)}; two chained compressions",
                      found[f"latency-{name}"], found[f"limit-{name}"], 1.3, "ns")
    for name in ("sha1", "sha256", "sha512"):
        table.at_most(f"code, cold key, {label(name)}; four chained compressions",
                      found[f"cold-{name}"], found[f"limit4-{name}"], 1.1, "ns")
    for name, goal in (("sha1", 5.5), ("sha256", 9), ("sha512", 2.8)):
        table.faster(f"code, {label(name)}; liboath", found[f"code-{name}"],
                     found[f"liboath-{name}"], goal, "ns")
    table.faster("wrong code, window ±1; liboath", found["window-miss"], found["liboath-window"], 6,
                 "ns")
    table.faster("resynchronisation over 1,001 codes; liboath", found["resync-miss"] / 1e3,
                 found["liboath-resync"] / 1e3, 6, "µs")
    table.faster("code, SHA-1; libcotp", found["code-sha1"], found["libcotp-sha1"], None, "ns")
    table.faster("code, SHA-1; pyotp", found["code-sha1"], found["pyotp-sha1"], None, "ns")


def label(name):
    return name.replace("sha", "SHA-")


def measure_start(table, place, folder):
    key = os.path.join(folder, "key")
    with open(key, "w", encoding="ascii") as file:
        file.write("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n")
    # oathtool does not check whether the clock is synchronised.
    times = fastest(START_ROUNDS, {
        "ours": [place.shipped("watchword"), "totp", "--secret-file", key],
        "theirs": ["oathtool", "--totp", "-b", f"@{key}"],
    }, environment=os.environ | {"WATCHWORD_CLOCK_WARNING": "off"})
    table.at_most("`watchword totp`, whole process; `oathtool`", times["ours"] * 1e3, times["theirs"] * 1e3, 2.5,
                  "ms")


def measure_vault(table, place, folder):
    passphrase = os.path.join(folder, "passphrase")
    lines = os.path.join(folder, "entries")
    with open(passphrase, "w", encoding="ascii") as file:
        file.write("correct horse battery staple\n")
    generator = random.Random(4226)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    with open(lines, "w", encoding="ascii") as file:
        for number in range(ENTRIES):
            key = "".join(generator.choices(alphabet, k=32))
            file.write(f"otpauth://totp/Service{number}:alice?secret={key}&issuer=Service{number}\n")
    vault = [place.shipped("watchword"), "--vault", os.path.join(folder, "vault"), "--passphrase-file",
             passphrase]
    run([*vault, "init", "--no-recovery-key"])
    run([*vault, "import", lines])
    # Every unlock runs scrypt: measure it alone, in the same rounds.
    times = fastest(ROUNDS, {
        "scrypt": [place.peer("codes"), "scrypt"],
        "code": [*vault, "code", f"Service{ENTRIES - 1}:alice"],
        "list": [*vault, "list"],
    })
    scrypt = times["scrypt"] * 1e3
    table.at_most(f"`code` from a vault of {ENTRIES:,} entries; scrypt alone", times["code"] * 1e3,
                  scrypt, 1.15, "ms")
    table.above(f"`list` of {ENTRIES:,} entries; scrypt alone", times["list"] * 1e3, scrypt, 60,
                "ms")
    measure_bound(table, vault, folder)


def measure_bound(table, vault, folder):
    """The same vault with all its entries bound to a device key in a file."""
    # Imported here because nothing else needs more than the standard library.
    sys.path.append(os.path.join(os.path.dirname(__file__), "../../Scripts"))
    from watchword_tools.tests.bound_vault import BoundVault
    path = os.path.join(folder, "bound", "vault")
    with open(os.path.join(folder, "vault"), "rb") as file:
        bound = BoundVault(file.read(), b"correct horse battery staple")
    for name, content in ((path, bound.file()), (os.path.join(folder, bound.key_path()), bound.key_file())):
        os.makedirs(os.path.dirname(name), mode=0o700)
        with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(content)
    other = [path if word == os.path.join(folder, "vault") else word for word in vault]
    code = ["code", f"Service{ENTRIES - 1}:alice"]
    times = fastest(ROUNDS, {"list": [*vault, "list"], "bound list": [*other, "list"], "code": [*vault, *code],
                             "bound code": [*other, *code]}, environment=os.environ | {"XDG_STATE_HOME": folder})
    for name in ("list", "code"):
        table.at_most(f"`{name}` with {ENTRIES:,} bound entries; with unbound ones", times[f"bound {name}"] * 1e3,
                      times[name] * 1e3, 1.1, "ms")


def measure_pictures(table, place, folder):
    # Imported here because nothing else needs more than the standard library.
    from PIL import Image, ImageChops, ImageDraw
    uri = "otpauth://totp/ACME:alice@example.com?secret=JBSWY3DPEHPK3PXP&issuer=ACME"
    small, photo = os.path.join(folder, "small.png"), os.path.join(folder, "photo.jpg")
    run(["qrencode", "-s", "10", "-o", small, uri])
    symbol = Image.open(small).convert("RGB").convert("L").resize((400, 400))
    symbol.save(small)
    # A sheet that hangs slightly askew on a wall, in uneven light, with a camera's noise.
    size = (4000, 3000)
    wall = Image.linear_gradient("L").rotate(20, fillcolor=128).resize(size)
    wall = wall.point(lambda value: 60 + value // 3)
    sheet = symbol.resize((900, 900)).rotate(7, expand=True, fillcolor=255)
    wall.paste(sheet, (1500, 900))
    wall = ImageChops.add(wall, Image.effect_noise(size, 3), offset=-128)
    wall.convert("RGB").save(photo, quality=88)
    # A screenshot full of text, with the symbol and without it.
    screen, text = os.path.join(folder, "screen.png"), os.path.join(folder, "text.png")
    page = Image.new("L", (1920, 1080), 250)
    for line in range(48):
        ImageDraw.Draw(page).text((20, 20 + 22 * line), f"{line} Scan this code with your app @ 8 B %. " * 7, 40)
    page.save(text)
    page.paste(symbol.resize((230, 230)), (1200, 500))
    page.save(screen)
    programs = [place.shipped("watchword"), "qr", "read"], ["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable"]
    # Both programs report with their exit status that there is no symbol.
    times = fastest(ROUNDS, {name: [*program, text] for name, program in zip(("ours", "theirs"), programs)}, (1, 4))
    table.at_most("`qr read` of a 1,920 × 1,080 PNG without a symbol; `zbarimg`", times["ours"] * 1e3,
                  times["theirs"] * 1e3, 3, "ms")
    for path, what, goal in ((small, "a 400 × 400 PNG", 0.5), (screen, "a 1,920 × 1,080 PNG", 0.5),
                             (photo, "a 12-megapixel JPEG", 0.3)):
        reading, other = ([*program, path] for program in programs)
        for arguments in (reading, other):
            if uri.encode() not in run(arguments):
                raise Failure(f"{arguments[0]} did not read {what}")
        times = fastest(ROUNDS, {"ours": reading, "theirs": other})
        table.at_most(f"`qr read` of {what}; `zbarimg`", times["ours"] * 1e3, times["theirs"] * 1e3,
                      goal, "ms")
