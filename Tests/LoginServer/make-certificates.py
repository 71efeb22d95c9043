"""Creates a test authority, and valid and invalid server certificates.

    make-certificates.py FOLDER [SECONDS]

Writes authority.pem, stranger.pem (an authority that signs no certificate), and for each server NAME.pem
and NAME.key: good, expired, early (not valid yet), other-host, self-made (self-signed), and brief, which
is valid for SECONDS.
"""
import datetime
import ipaddress
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.utcnow()
LOCAL = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
         x509.IPAddress(ipaddress.ip_address("::1"))]


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make(subject, issuer, key, signing_key, begin, end, names=None):
    builder = (
        x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name(issuer))
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(NOW + begin).not_valid_after(NOW + end)
        .add_extension(x509.BasicConstraints(ca=names is None, path_length=None), critical=True))
    if names is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(signing_key, hashes.SHA256())


def write(folder, file, value):
    with open(os.path.join(folder, file), "wb") as out:
        out.write(value)


def main():
    folder = sys.argv[1]
    pem = serialization.Encoding.PEM
    authority = ec.generate_private_key(ec.SECP256R1())
    stranger = ec.generate_private_key(ec.SECP256R1())
    for file, key in [("authority", authority), ("stranger", stranger)]:
        certificate = make(file, file, key, key, -DAY, 2 * DAY)
        write(folder, file + ".pem", certificate.public_bytes(pem))
    servers = {
        "good": (-DAY, DAY, LOCAL), "expired": (-2 * DAY, -DAY, LOCAL), "early": (DAY, 2 * DAY, LOCAL),
        "other-host": (-DAY, DAY, [x509.DNSName("other.example")]), "self-made": (-DAY, DAY, LOCAL)}
    if len(sys.argv) > 2:
        servers["brief"] = (-DAY, datetime.timedelta(seconds=int(sys.argv[2])), LOCAL)
    for file, (begin, end, names) in servers.items():
        key = ec.generate_private_key(ec.SECP256R1())
        issuer, signing_key = ("authority", authority)
        if file == "self-made":
            issuer, signing_key = (file, key)
        certificate = make(file, issuer, key, signing_key, begin, end, names)
        write(folder, file + ".pem", certificate.public_bytes(pem))
        write(folder, file + ".key", key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


main()
