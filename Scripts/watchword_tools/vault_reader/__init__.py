"""The second reader of the vault format, written from Sources/Vault/SecretVault/VaultFile.md alone.

It needs only the library `cryptography`, and verifies everything that the document describes.
"""
