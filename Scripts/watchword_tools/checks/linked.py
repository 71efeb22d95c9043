"""The shared libraries that each program may link.

A process that holds a vault's keys, `watchword` or `watchword-agent`, links no library that parses untrusted input.
Libraries that a program loads when it needs them (libqrencode, libpng to write pictures, libsystemd,
decoders of rare image formats) do not count.
"""
import os
import re
import subprocess

# Parts of the C library and of the compiler, which every program may link.
EVERYWHERE = {"libc", "libm", "libgcc_s", "libpthread", "libdl", "librt"}
LINKED = {
    "watchword": {"libcrypto"},
    # libseccomp confines the key holder.
    "watchword-agent": {"libcrypto", "libseccomp"},
    # Recognises the code by an HMAC.
    "watchword-clipboard": {"libcrypto"},
    "watchword-courier": {"libcrypto", "libcurl", "libjansson", "libseccomp"},
    "watchword-enrol": {"libcrypto"},
    "watchword-exports": {"libargon2", "libcrypto", "libgcrypt", "libjansson", "librnp", "libseccomp", "libsodium",
                          "libsqlite3", "libxml2", "libz", "libzip"},
    "watchword-pam-remote": {"libcrypto", "libjansson"},
    # Runs third-party modules, so it links as little as possible. Nothing in it calls libcrypto, which `Devices`
    # needs for the other helpers.
    "watchword-presence": {"libcrypto", "libpam"},
    # ZBar is linked statically.
    "watchword-reader": {"libpng16", "libseccomp", "libturbojpeg", "libwebp"},
    # Needs no cryptography, but OneTimePassword, which decodes the picture's address, does.
    "watchword-screenshot": {"libcrypto", "libseccomp"},
    "watchword-server": {"libcbor", "libcrypto", "libjansson", "libmicrohttpd", "libpq", "libsqlite3"},
    "watchword-token": {"libcrypto", "libfido2", "libseccomp", "libtss2-esys", "libtss2-mu", "libtss2-tctildr"},
}
NEEDED = re.compile(r"\(NEEDED\).*\[([^]]+)\.so[^]]*\]")


def libraries(dynamic_section):
    """Returns the names in what `readelf --dynamic` prints, without versions, the dynamic loader and EVERYWHERE."""
    return {name for name in NEEDED.findall(dynamic_section) if not name.startswith("ld-linux")} - EVERYWHERE


def complaints(program, found):
    """Yields what is wrong with the libraries that a program links."""
    if program not in LINKED:
        yield f"{program}: has no row in Scripts/watchword_tools/checks/linked.py"
        return
    for name in sorted(found - LINKED[program]):
        yield f"{program}: links {name}, which linked.py does not allow; call it in a helper process"
    for name in sorted(LINKED[program] - found):
        yield f"{program}: does not link {name}; remove it from its row in linked.py"


def report(programs):
    """Prints what is wrong with the programs; returns whether anything is."""
    found = []
    for path in programs:
        # The words of the output depend on the language.
        section = subprocess.run(["readelf", "--dynamic", "--wide", path], check=True, capture_output=True, text=True,
                                 env=os.environ | {"LC_ALL": "C"}).stdout
        found += complaints(os.path.basename(path), libraries(section))
    print("\n".join(found), end="\n" if found else "")
    return bool(found)
