"""The files in Vectors/vault, and damaged variants of them whose last line is correct again."""
from watchword_tools import ROOT
from watchword_tools.vault_reader.lines import end_line

PASSPHRASE = b"correct horse battery staple"


def vault_bytes(name):
    return (ROOT / "Vectors" / "vault" / f"{name}-v1.vault").read_bytes()


def with_end(body):
    return body + end_line(body)


def changed(data, old, new):
    """Replaces text that occurs before the last line, and corrects that line."""
    body = data[:data.rfind(b"\nend ") + 1]
    assert old in body, old
    return with_end(body.replace(old, new, 1))
