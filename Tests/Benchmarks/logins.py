"""Compares logins through PAM: our module and server, google-authenticator-libpam, and libpam-oath."""
import base64
import hmac
import os
import sys
import tempfile
import time

from figures import Failure, figure, keep, least, run
from services import database, keys, serving

PEOPLE = 100_000
# The users of google-authenticator-libpam; in each round, this many people sign in through each module.
FEW = 10
ROUNDS = 10
CROWD = 1_280
REALM = "bench"


def measure(table, place, folder):
    if os.geteuid() != 0:
        raise Failure("root must run this part, because our module accepts only a socket that belongs to root")
    users = os.path.join(folder, "users.oath")
    enrol(place, folder, users)
    # The module also refuses a socket if others than root can write to a folder above it.
    with tempfile.TemporaryDirectory(prefix="watchword-bench-", dir="/run") as services:
        socket = os.path.join(services, "socket")
        for service, module in {
                "ours": f"{place.module} socket={socket}",
                "google": f"pam_google_authenticator.so user=root secret={folder}/${{USER}}",
                "oath": f"pam_oath.so usersfile={users}",
                # libpam reads it with each service.
                "other": "pam_deny.so"}.items():
            write(os.path.join(services, service), f"auth required {module}\n")
        with serving(place, folder, "--realm", REALM, "--pam-socket", socket) as (server, _):
            found = {}
            for number in range(ROUNDS):
                # Other people in each round, because each code is accepted once.
                people = range(number, PEOPLE, PEOPLE // FEW)
                for person in people:
                    write(os.path.join(folder, name(person)), google_file(person))
                for service, process in (("ours", server.pid), ("google", 0), ("oath", 0)):
                    keep(found, {service: logins(place, services, service, process, people)["login"]})
            crowd = logins(place, services, "ours", "all", range(ROUNDS, ROUNDS + CROWD))
    table.at_most(f"processor time of a login, module and server, {PEOPLE:,} users; google-authenticator-libpam, "
                  f"{FEW} users", found["ours"] / 1e3, found["google"] / 1e3, 1.0, "µs")
    table.faster(f"the same; libpam-oath, {PEOPLE:,} users", found["ours"] / 1e6, found["oath"] / 1e6, 15, "ms")
    table.minimum(f"accepted logins, of {CROWD:,} users at once", crowd["accepted"], CROWD, "")
    table.figures("time until the last of them was answered", f"{figure(crowd['answered'] / 1e6)} ms")


def logins(place, services, service, how, people):
    return least(1, [[place.peer("logins"), services, service, str(how), *names_and_codes(people)]])


def enrol(place, folder, users):
    """Enrols everybody in our store and in libpam-oath's file, with the same keys."""
    print(f"bench:   filling SQLite with {PEOPLE:,} credentials", file=sys.stderr)
    run([place.benchmark("StoreBenchmark"), "fill", database(folder), keys(folder), str(PEOPLE),
         f"unix:{REALM}:person-"])
    # The server refuses a key file that others can read.
    os.chmod(keys(folder), 0o600)
    write(users, "".join(f"HOTP/T30 {name(person)} - {key(person).hex()}\n" for person in range(PEOPLE)))


def google_file(person):
    """What google-authenticator writes if its questions are answered as it advises."""
    return (f'{base64.b32encode(key(person)).decode().rstrip("=")}\n" RATE_LIMIT 3 30\n" DISALLOW_REUSE\n" TOTP_AUTH\n'
            + "".join(f"{10_000_000 + number}\n" for number in range(5)))


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        # The module for google-authenticator refuses a file that others can read.
        os.chmod(path, 0o600)
        file.write(text)


def name(person):
    return f"person-{person}"


def key(person):
    """The key in StoreBenchmark's population."""
    return f"key of credential {person + 1_000_000_000}".encode()


def names_and_codes(people):
    step = int(time.time()) // 30
    for person in people:
        digest = hmac.digest(key(person), step.to_bytes(8, "big"), "sha1")
        start = digest[-1] & 15
        yield name(person)
        yield f"{(int.from_bytes(digest[start:start + 4], 'big') & 0x7fffffff) % 1_000_000:06}"
