"""Writes an SPDX 2.3 document into each package with programs: the libraries that they link, with their versions.

    python3 -m watchword_tools.packaging.spdx FOLDER VERSION SWIFT-VERSION

FOLDER/PACKAGE holds the files of a package. The document's time is $SOURCE_DATE_EPOCH.
"""
import datetime
import json
import os
import platform
import re
import subprocess
import sys

# Debian packages with the static libraries that Scripts/build-release links into every program in Swift (the braces
# stand for GCC's version), and into one.
IN_ALL = ("libgcc-{}-dev", "libstdc++-{}-dev")
IN_ONE = {"watchword-reader": ("libzbar-dev",)}
NEEDED = re.compile(r"\(NEEDED\).*\[([^]]+)\]")


def output(*command):
    # The words of the output depend on the language.
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          env=os.environ | {"LC_ALL": "C"}).stdout


def programs(folder):
    """Returns the paths of the ELF files below a folder."""
    found = []
    for place, _, names in os.walk(folder):
        for path in (os.path.join(place, name) for name in names):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    return sorted(found)


def shared(paths):
    """Returns the Debian packages of the shared libraries that programs link."""
    names = {name for path in paths for name in NEEDED.findall(output("readelf", "--dynamic", "--wide", path))}
    owners = output("dpkg-query", "--search", *(f"*/{name}" for name in sorted(names))).splitlines()
    # Other packages may have private copies elsewhere.
    return {line.split(":")[0] for line in owners if re.search(r": (/usr)?/lib/[^/]+-linux-gnu/[^/]+$", line)}


def static(paths, gcc):
    """Returns the Debian packages of the static libraries in programs, and whether any is in Swift."""
    swift = [os.path.basename(path) for path in paths if not path.endswith(".so")]
    return {package.format(gcc) for name in swift for package in IN_ALL + IN_ONE.get(name, ())}, bool(swift)


def document(package, version, libraries, time, distribution):
    """Returns an SPDX document; `libraries` are triples of a name, a version and how the package links it."""
    def element(name, version, *purl):
        return {
            "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": locator} for locator in purl],
        }

    def debian(name, version):
        return f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}?distro={distribution}"

    own = element(package, version)
    linked = [(element(name, release, *([] if name == "swift" else [debian(name, release)])), link)
              for name, release, link in sorted(libraries)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{package}-{version}", "documentNamespace": f"https://spdx.org/spdxdocs/{package}-{version}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: Scripts/package"]},
        "packages": [own] + [library for library, _ in linked],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
             "relatedSpdxElement": own["SPDXID"]},
        ] + [
            {"spdxElementId": own["SPDXID"], "relationshipType": link, "relatedSpdxElement": library["SPDXID"]}
            for library, link in linked
        ],
    }


def main(folder, version, swift):
    # Scripts/build-release leaves a link to the library that it linked.
    gcc = os.path.basename(os.path.dirname(os.path.realpath(".build/linked-in/libstdc++.a")))
    distribution = platform.freedesktop_os_release()["VERSION_CODENAME"]
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    for package in sorted(os.listdir(folder)):
        paths = programs(os.path.join(folder, package)) if os.path.isdir(os.path.join(folder, package)) else []
        if not paths:
            continue
        inside, is_swift = static(paths, gcc)
        libraries = {(name, output("dpkg-query", "--show", "--showformat=${Version}", name), link)
                     for names, link in ((shared(paths), "DYNAMIC_LINK"), (inside, "STATIC_LINK")) for name in names}
        if is_swift:
            libraries.add(("swift", swift, "STATIC_LINK"))
        path = os.path.join(folder, package, "usr/share/doc", package, f"{package}.spdx.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document(package, version, libraries, time, distribution), file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
