"""The module map: the level of each module, and which modules wrap a C library."""

LEVELS = [
    ["POSIX", "Presence", "Raster"],
    ["ImageFile", "SymbolReading", "SymbolDrawing", "PresenceDevices", "Cryptography",
     "HTTPClient"],
    ["Arguments", "Courier", "HTTPMessage", "JSONText", "OneTimePassword", "PAMAuthentication"],
    ["JSONReading", "SecretVault", "Verification"],
    ["CommandRunner", "DeviceLogin", "Interchange", "PictureReader", "SQLiteStore", "PostgreSQLStore",
     "VerificationService", "HTTPListener"],
    ["Commands", "ServerCommands"],
    ["watchword", "watchword-courier", "watchword-presence", "watchword-reader",
     "watchword-server"],
]
LEVEL = {target: level for level, targets in enumerate(LEVELS) for target in targets}
# Only these modules may use `unsafe` and import the C library.
WRAPPING = {"POSIX", "Cryptography", "ImageFile", "SymbolReading", "SymbolDrawing",
            "JSONReading", "HTTPListener", "PAMAuthentication",
            "SQLiteStore", "PostgreSQLStore", "HTTPClient"}
