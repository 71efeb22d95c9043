"""The module map: the level of each module, and which modules wrap a C library."""

LEVELS = [
    ["BrowserPages", "POSIX", "Presence", "Raster"],
    ["ImageFile", "SymbolReading", "SymbolDrawing", "PresenceDevices", "CBORReading", "Cryptography",
     "MessageBus", "HTTPClient"],
    ["Arguments", "Attestation", "Clipboard", "Courier", "ExportCryptography", "GzipReading", "HTTPMessage", "HardwareTokens",
     "JSONText", "OneTimePassword", "OpenPGPReading", "PAMAuthentication", "SQLiteReading", "XMLReading",
     "ZipReading"],
    ["FIDOAuthenticator", "Interchange", "JSONReading", "SecretVault", "TrustedPlatform",
     "Verification"],
    ["CommandRunner", "DeviceLogin", "ExportReader", "ExportReading", "ExportWriting",
     "PictureReader", "SQLiteStore", "PostgreSQLStore", "VaultAgent", "HTTPListener",
     "WebAuthnMessages"],
    ["VerificationService"],
    ["AgentService", "Commands", "ServerCommands"],
    ["watchword", "watchword-agent", "watchword-clipboard", "watchword-courier", "watchword-exports",
     "watchword-presence", "watchword-reader", "watchword-screenshot", "watchword-server",
     "watchword-token"],
]
LEVEL = {target: level for level, targets in enumerate(LEVELS) for target in targets}
# Only these modules may use `unsafe` and import the C library.
WRAPPING = {"POSIX", "CBORReading", "Cryptography", "MessageBus", "ImageFile", "SymbolReading", "SymbolDrawing",
            "JSONReading", "HTTPListener", "PAMAuthentication",
            "SQLiteStore", "PostgreSQLStore", "HTTPClient", "ExportCryptography", "GzipReading",
            "OpenPGPReading", "SQLiteReading", "XMLReading", "ZipReading", "FIDOAuthenticator",
            "TrustedPlatform"}
# Libraries that two modules may wrap. SQLiteStore keeps the server's database; SQLiteReading reads
# untrusted files and runs only in the confined process that reads exports.
SHARED = {"CSQLite": {"SQLiteReading", "SQLiteStore"}}
