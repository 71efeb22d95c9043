"""Measures assertions of passkeys: their cost compared with its parts, in the library and over HTTP, and with a
million passkeys."""
import http.client
import json
import os
import statistics
import subprocess
import sys

from figures import Failure, figure, keep, least, run
from services import database, keys, serving, state

SMALLEST = 1_000
LARGEST = 1_000_000
ROUNDS = 2
# Filling a large store takes minutes; this allows for a slower or busy machine.
TIMEOUT = 3_600
RELYING_PARTY = "mill.example"
HTTP_ROUNDS = 300


def measure(table, place, folder):
    benchmark, ring = place.benchmark("StoreBenchmark"), os.path.join(folder, "keys")
    sizes = [(count, os.path.join(folder, f"{count}.db")) for count in (SMALLEST, LARGEST)]
    for count, store in sizes:
        print(f"bench:   filling SQLite with {count:,} passkeys", file=sys.stderr)
        run([benchmark, "fill-passkeys", store, ring, str(count)], timeout=TIMEOUT)
    run([benchmark, "fill", sizes[0][1], ring, str(SMALLEST)])
    found = {}
    for epoch in range(1, ROUNDS + 1):
        pairs = [text for count, store in sizes for text in (str(count), store)]
        keep(found, least(1, [[benchmark, "assertions", ring, str(epoch), *pairs]], TIMEOUT))
    check = found["signature-check"] / 1e3
    table.at_most("time of an assertion in the library, from its JSON to the commit; verification of a code "
                  f"({figure(found['code'] / 1e3)} µs) and OpenSSL's signature check alone ({figure(check)} µs)",
                  found[f"assertion-{SMALLEST}"] / 1e3, found["code"] / 1e3 + check, 1.3, "µs")
    code, assertion = over_http(place, os.path.join(folder, "http"))
    table.at_most("time of an assertion over HTTP, in the server; verification of a code over HTTP "
                  f"({figure(code)} µs) and the signature check alone ({figure(check)} µs)",
                  assertion, code + check, 1.3, "µs")
    table.at_most(f"time of an assertion with {LARGEST:,} passkeys; with {SMALLEST:,}",
                  found[f"assertion-{LARGEST}"] / 1e3, found[f"assertion-{SMALLEST}"] / 1e3, 1.25, "µs")
    table.at_most("the same; medians",
                  found[f"assertion-{LARGEST}-p50"] / 1e3, found[f"assertion-{SMALLEST}-p50"] / 1e3, 1.25, "µs")


def over_http(place, folder):
    """Alternates between codes and assertions; returns the medians of the server's own times, in microseconds."""
    os.mkdir(folder, mode=0o700)
    benchmark = place.benchmark("StoreBenchmark")
    token = run([place.shipped("watchword-server"), "client", "add", "bench", "--scope", "verify", *state(folder)],
                text=True).strip()
    for kind in ("fill", "fill-passkeys"):
        run([benchmark, kind, database(folder), keys(folder), str(HTTP_ROUNDS)])
    signer = subprocess.Popen([benchmark, "sign"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with signer, serving(place, folder, "--rp-id", RELYING_PARTY) as (_, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

        def ask(path, body):
            connection.request("POST", path, body, {
                "Content-Type": "application/json", "Authorization": f"Bearer {token}"})
            return json.loads(connection.getresponse().read())

        codes = run([benchmark, "bodies", str(HTTP_ROUNDS)], text=True).splitlines()
        for number, code in enumerate(codes):
            begun = ask("/v1/ceremonies", f'{{"type":"passkey","subject":"person-{number}"}}')
            print(number, begun["options"]["challenge"], file=signer.stdin, flush=True)
            response = signer.stdout.readline().strip()
            assertion = f'{{"ceremony":"{begun["ceremony"]}","response":{response}}}'
            for path, body in (("/v1/verifications", code), ("/v1/assertions", assertion)):
                answer = ask(path, body)
                if answer.get("result") != "accepted":
                    raise Failure(f"{path}: {answer}")
        connection.close()
        signer.stdin.close()
    times = {"/v1/verifications": [], "/v1/assertions": []}
    with open(os.path.join(folder, "log"), encoding="utf-8") as log:
        for line in map(json.loads, log):
            if line.get("route") in times:
                times[line["route"]].append(line["microseconds"])
    if any(len(found) != HTTP_ROUNDS for found in times.values()):
        raise Failure("the server's log is incomplete")
    return [statistics.median(found) for found in times.values()]
