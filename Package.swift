// swift-tools-version: 6.2
import PackageDescription

// Every Swift target uses these settings.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A module in Sources; `documents` are the Markdown files beside its code.
func module(
    _ name: String, documents: [String] = [], _ imports: Target.Dependency...
) -> Target {
    .target(name: name, dependencies: imports, exclude: documents, swiftSettings: settings)
}

func program(_ name: String, path: String? = nil, _ imports: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: imports, path: path, swiftSettings: settings)
}

// Only the code under test is optimised in release builds: the optimiser would need more time for the
// tests than for everything else.
func tests(_ name: String, _ imports: Target.Dependency...) -> Target {
    .testTarget(
        name: name, dependencies: imports + ["TestSupport"],
        swiftSettings: settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))])
}

let package = Package(
    name: "Watchword",
    products: [
        .executable(name: "watchword", targets: ["watchword"]),
        .executable(name: "watchword-reader", targets: ["watchword-reader"]),
        .executable(name: "watchword-exports", targets: ["watchword-exports"]),
        .executable(name: "watchword-server", targets: ["watchword-server"]),
        .executable(name: "watchword-agent", targets: ["watchword-agent"]),
        .executable(name: "watchword-presence", targets: ["watchword-presence"]),
        .executable(name: "watchword-clipboard", targets: ["watchword-clipboard"]),
        .executable(name: "watchword-screenshot", targets: ["watchword-screenshot"]),
        .executable(name: "watchword-courier", targets: ["watchword-courier"]),
        .executable(name: "watchword-token", targets: ["watchword-token"]),
        .library(name: "OneTimePassword", targets: ["Cryptography", "OneTimePassword"]),
        .library(
            name: "Verification", targets: ["Cryptography", "OneTimePassword", "Verification"]),
        .library(name: "DeviceKeys", targets: ["Attestation", "Cryptography", "Verification"]),
        .library(
            name: "Passkeys",
            targets: [
                "Attestation", "Cryptography", "JSONText", "Verification", "WebAuthnMessages",
            ]),
        .library(name: "SQLiteStore", targets: ["SQLiteStore"]),
        .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore"]),
        // Only for the packages Tests/Fuzz and Tests/Benchmarks.
        .library(
            name: "InternalModules",
            targets: [
                "Attestation", "CBORReading", "Courier", "Cryptography", "DeviceLogin",
                "ExportReader", "ExportReading", "GzipReading", "HardwareTokens", "ImageFile",
                "Interchange", "JSONReading", "JSONText", "OneTimePassword", "POSIX", "Raster",
                "SecretVault", "SymbolDrawing", "SymbolReading", "VaultAgent", "Verification",
                "WebAuthnMessages",
            ]),
    ],
    targets: [
        // System libraries. Each one is imported by a single module.
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // Not linked: the program loads the library when it draws the first symbol.
        .systemLibrary(name: "CQREncode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        // Not linked: `watchword-reader` loads these when it reads a picture in their formats.
        .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"])]),
        .systemLibrary(name: "CTIFF", providers: [.apt(["libtiff-dev"])]),
        .systemLibrary(name: "CHEIF", providers: [.apt(["libheif-dev"])]),
        .systemLibrary(
            name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(
            name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CPAM", pkgConfig: "pam", providers: [.apt(["libpam0g-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(
            name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CRNP", pkgConfig: "librnp", providers: [.apt(["librnp-dev"])]),
        .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        .systemLibrary(name: "CTSS2", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
        .systemLibrary(name: "CFIDO2", pkgConfig: "libfido2", providers: [.apt(["libfido2-dev"])]),
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "CSystemd"),

        // Level 0
        module("POSIX", "CLinux", "CSeccomp"),
        module("Presence"),
        module("Raster"),
        .target(
            name: "BrowserPages", exclude: ["Pages.md"],
            resources: ["enrol.html", "page.css", "page.js", "sign-in.html"].map {
                .embedInCode("Files/\($0)")
            },
            swiftSettings: settings),
        // Level 1
        module("CBORReading", "CCBOR"),
        module("Cryptography", "COpenSSL"),
        module(
            "ImageFile", "CGIF", "CHEIF", "CPNG", "CTIFF", "CTurboJPEG", "CWebP", "POSIX", "Raster"),
        module("SymbolReading", "CZBar", "POSIX", "Raster"),
        module("SymbolDrawing", "CQREncode", "POSIX", "Raster"),
        module("PresenceDevices", "POSIX", "Presence"),
        module("MessageBus", "CSystemd", "POSIX"),
        module("HTTPClient", "CCurl", "POSIX"),
        // Level 2
        module("Attestation", "CBORReading", "Cryptography", "POSIX"),
        module("Arguments", "POSIX"),
        module("JSONText", "Cryptography", "POSIX"),
        module("Clipboard", "Cryptography", "POSIX"),
        module("Courier", "Cryptography", "POSIX"),
        module("HTTPMessage", "Cryptography"),
        module("OneTimePassword", "Cryptography"),
        module("HardwareTokens", "Cryptography", "POSIX"),
        module("PAMAuthentication", "CPAM", "MessageBus", "POSIX", "PresenceDevices"),
        module("ExportCryptography", "CArgon2", "CGcrypt", "CSodium", "Cryptography"),
        module("GzipReading", "CZlib", "Cryptography", "POSIX"),
        module("OpenPGPReading", "CRNP", "Cryptography", "POSIX"),
        module("SQLiteReading", "CSQLite", "Cryptography", "POSIX"),
        module("XMLReading", "CXML2", "Cryptography", "POSIX"),
        module("ZipReading", "CZip", "Cryptography", "POSIX"),
        // Level 3
        module("FIDOAuthenticator", "CFIDO2", "Cryptography", "HardwareTokens", "POSIX"),
        module("TrustedPlatform", "CTSS2", "Cryptography", "HardwareTokens", "POSIX"),
        module(
            "SecretVault", documents: ["Security.md", "VaultFile.md"], "Cryptography",
            "HardwareTokens", "OneTimePassword", "POSIX", "Presence"),
        module(
            "Verification", documents: ["DeviceKeys.md", "EnrolledSecrets.md", "Passkeys.md"],
            "Attestation",
            "Cryptography",
            "OneTimePassword",
            "POSIX"),
        module("Interchange", "Cryptography", "OneTimePassword"),
        module(
            "JSONReading", "CJansson", "Cryptography", "JSONText", "OneTimePassword", "POSIX"),
        // Level 4
        module(
            "CommandRunner", "Arguments", "Cryptography", "Interchange", "JSONText", "POSIX"),
        module("DeviceLogin", "Courier", "Cryptography", "HardwareTokens", "POSIX", "SecretVault"),
        module(
            "ExportReading", "Cryptography", "ExportCryptography", "GzipReading", "Interchange",
            "JSONReading", "JSONText", "OneTimePassword", "OpenPGPReading", "POSIX",
            "SQLiteReading", "XMLReading", "ZipReading"),
        module(
            "ExportWriting", "Cryptography", "Interchange", "JSONText", "OneTimePassword", "POSIX",
            "SymbolDrawing"),
        module("ExportReader", "Cryptography", "Interchange", "OneTimePassword", "POSIX"),
        module("PictureReader", "ImageFile", "POSIX"),
        module(
            "VaultAgent", "Cryptography", "OneTimePassword", "POSIX", "PresenceDevices",
            "SecretVault"),
        module("HTTPListener", "CMicroHTTPD", "Cryptography", "HTTPMessage"),
        module("PostgreSQLStore", "CPostgreSQL", "Cryptography", "POSIX", "Verification"),
        module("SQLiteStore", "Cryptography", "CSQLite", "POSIX", "Verification"),
        module("WebAuthnMessages", "Cryptography", "JSONReading", "JSONText", "Verification"),
        // Level 5
        module(
            "VerificationService", documents: ["API.md"], "Attestation", "BrowserPages",
            "Cryptography", "HTTPMessage", "ImageFile", "JSONReading", "JSONText",
            "OneTimePassword", "POSIX", "Raster", "SymbolDrawing", "Verification",
            "WebAuthnMessages"),
        // Level 6
        module(
            "Commands", "Arguments", "Clipboard", "CommandRunner", "Courier", "Cryptography",
            "DeviceLogin",
            "ExportReader", "ExportWriting", "HardwareTokens", "ImageFile", "Interchange",
            "JSONText", "OneTimePassword", "PictureReader", "POSIX", "Presence", "PresenceDevices",
            "Raster", "SecretVault", "SymbolDrawing", "VaultAgent"),
        module(
            "AgentService", "Arguments", "Courier", "Cryptography", "DeviceLogin",
            "HardwareTokens", "MessageBus", "OneTimePassword", "POSIX", "Presence",
            "PresenceDevices", "SecretVault", "VaultAgent"),
        module(
            "ServerCommands", documents: ["Operations.md"], "Arguments", "CommandRunner",
            "Cryptography", "ExportReader", "HTTPListener", "Interchange", "JSONReading",
            "JSONText", "OneTimePassword", "POSIX", "PostgreSQLStore", "SQLiteStore",
            "Verification", "VerificationService"),
        // Level 7
        program("watchword", "Commands"),
        program("watchword-agent", "AgentService"),
        program(
            "watchword-reader", "Arguments", "ImageFile", "PictureReader", "POSIX", "Raster",
            "SymbolReading"),
        program(
            "watchword-exports", "Arguments", "ExportReader", "ExportReading", "Interchange"),
        program("watchword-presence", "Arguments", "PAMAuthentication"),
        program("watchword-clipboard", "Arguments", "Clipboard", "POSIX"),
        program(
            "watchword-screenshot", "Arguments", "MessageBus", "OneTimePassword", "POSIX"),
        program(
            "watchword-token", "Arguments", "FIDOAuthenticator", "HardwareTokens",
            "TrustedPlatform"),
        program("watchword-server", "ServerCommands"),
        program(
            "watchword-courier", "Arguments", "Courier", "Cryptography", "HTTPClient",
            "JSONReading", "JSONText", "POSIX"),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["Cryptography", "OneTimePassword", "POSIX"],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Starts a PostgreSQL server for a test.
        .target(
            name: "PostgreSQLServer", dependencies: ["TestSupport"], path: "Tests/PostgreSQLServer",
            swiftSettings: settings),
        tests("PostgreSQLServerTests", "PostgreSQLServer"),
        // Readers of pictures or exports that crash, lie or stay unconfined.
        .target(name: "Faults", path: "Tests/FaultyReaders/Faults", swiftSettings: settings),
        program(
            "FaultyReader", path: "Tests/FaultyReaders/FaultyReader", "Faults", "ImageFile",
            "PictureReader"),
        program(
            "FaultyExportReader", path: "Tests/FaultyReaders/FaultyExportReader", "Cryptography",
            "ExportReader", "Faults", "Interchange", "OneTimePassword"),
        .target(
            name: "Lies", dependencies: ["POSIX"], path: "Tests/FaultyReaders/Lies",
            swiftSettings: settings),
        program("LyingReader", path: "Tests/FaultyReaders/LyingReader", "Lies"),
        program("LyingExportReader", path: "Tests/FaultyReaders/LyingExportReader", "Lies"),
        program(
            "UnconfinedReader", path: "Tests/FaultyReaders/UnconfinedReader", "CSeccomp",
            "PictureReader"),
        tests(
            "ModelTests", "Courier", "Cryptography", "DeviceLogin", "OneTimePassword", "POSIX",
            "SecretVault", "Verification"),
        tests("POSIXTests", "POSIX"),
        tests("PresenceTests", "Presence"),
        // One runs the PAM modules that a test names; the other checks presence as `watchword`
        // does.
        program(
            "StackedPresence", path: "Tests/PresencePrograms/StackedPresence", "PAMAuthentication"
        ),
        program(
            "PresenceAsker", path: "Tests/PresencePrograms/PresenceAsker", "POSIX",
            "PresenceDevices"),
        tests("PresenceDevicesTests", "POSIX", "Presence", "PresenceDevices"),
        // `watchword-token` with an authenticator in software.
        program(
            "software-authenticator", path: "Tests/SoftwareAuthenticator", "CFIDO2", "COpenSSL",
            "FIDOAuthenticator", "HardwareTokens"),
        tests("HardwareTokensTests", "Attestation", "Cryptography", "HardwareTokens", "POSIX"),
        tests("AttestationTests", "Attestation", "CBORReading", "Cryptography"),
        tests("CBORReadingTests", "CBORReading"),
        tests("CryptographyTests", "Cryptography"),
        // Decrypts in a confined process.
        program(
            "ConfinedDecryption", path: "Tests/ConfinedDecryption", "Cryptography",
            "ExportCryptography", "GzipReading", "POSIX"),
        tests("ExportCryptographyTests", "Cryptography", "ExportCryptography", "POSIX"),
        tests("GzipReadingTests", "Cryptography", "GzipReading"),
        tests("ImageFileTests", "ImageFile", "Raster"),
        tests(
            "SymbolReadingTests", "POSIX", "SymbolReading", "SymbolDrawing", "ImageFile",
            "Raster"),
        tests("SymbolDrawingTests", "SymbolDrawing", "Raster", "ImageFile"),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        tests("OneTimePasswordTests", "AllocationCounter", "OneTimePassword", "Cryptography"),
        tests(
            "SecretVaultTests", "SecretVault", "OneTimePassword", "Cryptography", "HardwareTokens",
            "POSIX"),
        program(
            "vault-writer", path: "Tests/VaultWriter", "Cryptography", "Presence", "SecretVault"),
        // Calls the functions that compare secrets while valgrind counts instructions.
        .target(name: "InstructionCounter", path: "Tests/InstructionCounter"),
        program(
            "constant-time-probe", path: "Tests/ConstantTimeProbe", "Cryptography",
            "InstructionCounter", "OneTimePassword", "Verification"),
        tests(
            "VerificationTests", "Attestation", "Verification", "OneTimePassword", "Cryptography",
            "StoreContract"),
        tests(
            "WebAuthnMessagesTests", "Cryptography", "JSONReading", "JSONText", "Verification",
            "WebAuthnMessages"),
        .target(
            name: "StoreContract", dependencies: ["Cryptography", "Verification"],
            path: "Tests/StoreContract", swiftSettings: settings),
        program(
            "store-writer", path: "Tests/StoreWriter", "CSQLite", "SQLiteStore",
            "StoreContract", "Verification"),
        tests(
            "SQLiteStoreTests", "Cryptography", "OneTimePassword", "POSIX", "SQLiteStore",
            "StoreContract", "Verification"),
        tests(
            "PostgreSQLStoreTests", "Cryptography", "POSIX", "PostgreSQLServer", "PostgreSQLStore",
            "StoreContract", "Verification"),
        // Reads an export in a confined process.
        program(
            "ConfinedReading", path: "Tests/ConfinedReading", "Cryptography", "ExportReading",
            "Interchange",
            "POSIX"),
        tests(
            "ExportReadingTests", "CSQLite", "CZip", "Cryptography", "ExportCryptography",
            "ExportReading", "Interchange", "JSONReading", "JSONText", "OneTimePassword",
            "OpenPGPReading", "POSIX", "SQLiteReading", "XMLReading", "ZipReading"),
        tests(
            "ExportWritingTests", "Cryptography", "ExportReading", "ExportWriting", "Interchange",
            "JSONReading", "JSONText", "OneTimePassword"),
        tests("InterchangeTests", "Interchange", "OneTimePassword", "Cryptography"),
        tests(
            "ExportReaderTests", "Cryptography", "ExportReader", "Interchange", "OneTimePassword",
            "POSIX"),
        tests("PictureReaderTests", "Cryptography", "ImageFile", "PictureReader", "POSIX"),
        .target(
            name: "ServiceTranscripts",
            dependencies: [
                "Cryptography", "HTTPMessage", "JSONReading", "JSONText", "OneTimePassword",
                "TestSupport", "Verification", "VerificationService",
            ], path: "Tests/ServiceTranscripts", swiftSettings: settings),
        tests(
            "VerificationServiceTests", "Cryptography", "HTTPMessage", "JSONReading", "JSONText",
            "OneTimePassword", "POSIX", "ServiceTranscripts", "StoreContract", "Verification",
            "VerificationService"),
        tests("JSONReadingTests", "JSONReading", "JSONText", "Cryptography"),
        program("FaultyCourier", path: "Tests/FaultyCourier", "Courier", "POSIX"),
        tests("CourierTests", "Courier", "Cryptography", "POSIX"),
        tests(
            "DeviceLoginTests", "Courier", "Cryptography", "DeviceLogin", "HardwareTokens",
            "POSIX", "SecretVault"),
        tests("CommandRunnerTests", "Arguments", "Commands", "ServerCommands"),
        tests(
            "CommandsTests", "Arguments", "Clipboard", "Commands", "DeviceLogin", "JSONText",
            "OneTimePassword", "Cryptography", "POSIX", "PictureReader", "PresenceDevices",
            "Raster", "SecretVault"),
        // Confines itself like the agent's process with the keys.
        program("KeyHolderProbe", path: "Tests/KeyHolderProbe", "POSIX"),
        // `watchword-agent` on a machine that a test suspends.
        program("suspending-agent", path: "Tests/SuspendingAgent", "AgentService"),
        tests(
            "AgentServiceTests", "AgentService", "Courier", "Cryptography", "DeviceLogin",
            "HardwareTokens", "OneTimePassword", "POSIX", "PresenceDevices", "SecretVault",
            "VaultAgent"),
        program(
            "service-process", path: "Tests/ServiceProcess", "HTTPListener", "POSIX",
            "PostgreSQLStore", "ServerCommands", "ServiceTranscripts", "StoreContract",
            "Verification", "VerificationService"),
        tests(
            "VaultAgentTests", "Cryptography", "OneTimePassword", "POSIX", "SecretVault",
            "VaultAgent"),
        tests("HTTPListenerTests", "HTTPListener", "HTTPMessage", "Cryptography"),
        tests(
            "ServerTests", "Arguments", "Attestation", "CommandRunner", "Cryptography",
            "DeviceLogin", "HardwareTokens", "HTTPListener", "HTTPMessage", "JSONReading",
            "JSONText", "OneTimePassword", "PostgreSQLServer", "PostgreSQLStore", "SecretVault",
            "ServerCommands", "ServiceTranscripts", "SQLiteStore", "StoreContract", "Verification",
            "VerificationService"),
    ]
)
