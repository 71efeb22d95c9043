"""Reads Aegis' vault files: a second reader of what `watchword export --format aegis` writes.

Written from Aegis' public description alone (docs/vault.md in its repository).
"""
