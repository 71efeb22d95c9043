// swift-tools-version: 6.2
import PackageDescription

// Every Swift target uses these settings.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A module in a part of Sources; `documents` are the files beside its code that are not compiled.
func module(
    _ part: String, _ name: String, documents: [String] = [], resources: [Resource]? = nil,
    _ imports: Target.Dependency...
) -> Target {
    .target(
        name: name, dependencies: imports, path: "Sources/\(part)/\(name)", exclude: documents,
        resources: resources, swiftSettings: settings)
}

// A program in Sources, or in another folder.
func program(_ name: String, path: String? = nil, _ imports: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: imports, path: path ?? "Sources/Programs/\(name)",
        swiftSettings: settings)
}

// The text of a program's help pages and manual.
let documentsOfProgram = ["Help.txt", "Manual.mdoc"].map { Resource.embedInCode("Help/\($0)") }

// The declarations of a C library; `pkgConfig` is `nil` if programs load the library themselves.
func library(_ name: String, pkgConfig: String? = nil, _ package: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([package])])
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
        .executable(name: "watchword-enrol", targets: ["watchword-enrol"]),
        .executable(name: "watchword-presence", targets: ["watchword-presence"]),
        .executable(name: "watchword-clipboard", targets: ["watchword-clipboard"]),
        .executable(name: "watchword-screenshot", targets: ["watchword-screenshot"]),
        .executable(name: "watchword-courier", targets: ["watchword-courier"]),
        .executable(name: "watchword-pam-remote", targets: ["watchword-pam-remote"]),
        .executable(name: "watchword-token", targets: ["watchword-token"]),
        .library(name: "OneTimePassword", targets: ["OneTimePassword", "WatchwordCryptography"]),
        .library(
            name: "Verification",
            targets: ["OneTimePassword", "Verification", "WatchwordCryptography"]),
        .library(
            name: "DeviceKeys", targets: ["Verification", "WatchwordCryptography"]),
        .library(
            name: "Passkeys",
            targets: [
                "PasskeyVerification", "Verification", "WatchwordCoding", "WatchwordCryptography",
            ]),
        .library(name: "QRDrawing", targets: ["QRDrawing"]),
        .library(name: "SQLiteStore", targets: ["SQLStore", "SQLiteStore"]),
        .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore", "SQLStore"]),
        // Only for the packages Tests/Fuzz and Tests/Benchmarks.
        .library(
            name: "InternalModules",
            targets: [
                "Courier", "DeviceLogin", "Devices", "ExportReading", "Exports", "JSONReading",
                "LocalEnrolment", "OneTimePassword", "PasskeyVerification", "PictureReading",
                "QRDrawing", "SecretVault", "VaultService", "Verification", "WatchwordCoding",
                "WatchwordCryptography", "WatchwordSystem",
            ]),
    ],
    targets: [
        // System libraries. In Sources, one module imports each; libpng and SQLite have two.
        library("COpenSSL", pkgConfig: "libcrypto", "libssl-dev"),
        // Not linked: the program loads the library when it draws the first symbol.
        library("CQREncode", "libqrencode-dev"),
        library("CZBar", pkgConfig: "zbar", "libzbar-dev"),
        // Linked only by the reader of pictures; QRDrawing loads it when it writes one.
        library("CPNG", pkgConfig: "libpng", "libpng-dev"),
        library("CTurboJPEG", pkgConfig: "libturbojpeg", "libturbojpeg0-dev"),
        library("CWebP", pkgConfig: "libwebp", "libwebp-dev"),
        // Not linked: `watchword-reader` loads these when it reads a picture in their formats.
        library("CGIF", "libgif-dev"),
        library("CTIFF", "libtiff-dev"),
        library("CHEIF", "libheif-dev"),
        library("CSeccomp", pkgConfig: "libseccomp", "libseccomp-dev"),
        library("CJansson", pkgConfig: "jansson", "libjansson-dev"),
        library("CCBOR", pkgConfig: "libcbor", "libcbor-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", "libmicrohttpd-dev"),
        library("CPAM", pkgConfig: "pam", "libpam0g-dev"),
        library("CSQLite", pkgConfig: "sqlite3", "libsqlite3-dev"),
        library("CCurl", pkgConfig: "libcurl", "libcurl4-openssl-dev"),
        library("CPostgreSQL", pkgConfig: "libpq", "libpq-dev"),
        library("CZlib", pkgConfig: "zlib", "zlib1g-dev"),
        library("CArgon2", pkgConfig: "libargon2", "libargon2-dev"),
        library("CGcrypt", pkgConfig: "libgcrypt", "libgcrypt20-dev"),
        library("CSodium", pkgConfig: "libsodium", "libsodium-dev"),
        library("CRNP", pkgConfig: "librnp", "librnp-dev"),
        library("CXML2", pkgConfig: "libxml-2.0", "libxml2-dev"),
        library("CZip", pkgConfig: "libzip", "libzip-dev"),
        library("CTSS2", pkgConfig: "tss2-esys", "libtss2-dev"),
        library("CFIDO2", pkgConfig: "libfido2", "libfido2-dev"),
        // Our own C functions, for calls that Swift cannot import.
        .target(
            name: "CLinux", path: "Sources/CLibraries/CLinux", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "CSystemd", path: "Sources/CLibraries/CSystemd"),

        // Core: used by all other parts
        module("Core", "WatchwordCryptography", "COpenSSL"),
        module("Core", "WatchwordSystem", "CLinux"),
        module("Core", "ProcessConfinement", "CLinux", "CSeccomp", "WatchwordSystem"),
        module(
            "Core", "OneTimePassword", documents: ["OneTimePassword.docc"], "WatchwordCryptography"),
        module(
            "Core", "QRDrawing", documents: ["QRDrawing.docc"], "CPNG", "CQREncode",
            "WatchwordSystem"),
        module("Core", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Core", "JSONReading", "CJansson", "OneTimePassword", "WatchwordCoding",
            "WatchwordCryptography", "WatchwordSystem"),

        // Exchange: the files of other apps, and pictures
        module("Exchange", "Pictures", "ProcessConfinement", "WatchwordSystem"),
        module(
            "Exchange", "Exports", "OneTimePassword", "ProcessConfinement", "QRDrawing",
            "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Exchange", "PictureReading", "CGIF", "CHEIF", "CPNG", "CTIFF", "CTurboJPEG", "CWebP",
            "CZBar", "Pictures", "QRDrawing", "WatchwordSystem"),
        module(
            "Exchange", "ExportReading", "CArgon2", "CGcrypt", "CRNP", "CSodium", "CSQLite",
            "CXML2", "CZip", "CZlib", "Exports", "JSONReading", "OneTimePassword",
            "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),

        // Vault: the user's side
        module(
            "Vault", "Courier", "ProcessConfinement", "WatchwordCoding", "WatchwordCryptography",
            "WatchwordSystem"),
        module(
            "Vault", "Devices", "CSystemd", "WatchwordCoding", "WatchwordCryptography",
            "WatchwordSystem"),
        module("Vault", "PAMAuthentication", "CPAM", "Devices", "WatchwordSystem"),
        module(
            "Vault", "SecretVault", documents: ["Guide.md", "Security.md", "VaultFile.md"],
            "Devices",
            "OneTimePassword", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Vault", "TokenDrivers", "CFIDO2", "CTSS2", "Devices", "ProcessConfinement",
            "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Vault", "DeviceLogin", "Courier", "Devices", "SecretVault", "WatchwordCryptography",
            "WatchwordSystem"),
        module(
            "Vault", "VaultService", "Courier", "DeviceLogin", "Devices", "OneTimePassword",
            "SecretVault", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Vault", "Agent", "Courier", "DeviceLogin", "Devices", "OneTimePassword",
            "ProcessConfinement", "SecretVault", "VaultService", "WatchwordCryptography",
            "WatchwordSystem"),

        // Server: the verifying side
        module(
            "Server", "LocalSockets", documents: ["LoginProtocol.md"], "WatchwordCryptography",
            "WatchwordSystem"),
        module("Server", "HTTPListener", "CMicroHTTPD", "WatchwordCoding", "WatchwordCryptography"),
        module(
            "Server", "Verification",
            documents: ["DeviceKeys.md", "EnrolledSecrets.md", "Verification.docc"],
            "OneTimePassword", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Server", "LocalEnrolment", "LocalSockets", "Verification", "WatchwordCoding",
            "WatchwordCryptography", "WatchwordSystem"),
        module("Server", "SQLStore", "Verification", "WatchwordSystem"),
        module(
            "Server", "PostgreSQLStore", documents: ["PostgreSQLStore.docc"], "CPostgreSQL",
            "SQLStore", "Verification",
            "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Server", "SQLiteStore", documents: ["SQLiteStore.docc"], "CSQLite", "SQLStore",
            "Verification",
            "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Server", "PasskeyVerification",
            documents: ["Passkeys.md", "PasskeyVerification.docc"],
            "CCBOR", "JSONReading",
            "Verification", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Server", "VerificationService",
            documents: ["API.md", "Pages/Pages.md", "Pages/enrol.png"],
            resources: ["enrol.html", "page.css", "page.js", "sign-in.html"].map {
                .embedInCode("Pages/Files/\($0)")
            }, "JSONReading", "LocalSockets", "OneTimePassword", "PasskeyVerification", "QRDrawing",
            "Verification", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),

        // Programs
        program("watchword-clipboard", "Devices", "WatchwordSystem"),
        program(
            "watchword-screenshot", "Devices", "OneTimePassword", "ProcessConfinement",
            "WatchwordSystem"),
        module(
            "Programs", "CommandLineInterface", "Courier", "Exports", "ProcessConfinement",
            "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        program(
            "watchword-courier", "CCurl", "Courier", "JSONReading", "WatchwordCoding",
            "WatchwordCryptography", "WatchwordSystem"),
        program("watchword-presence", "PAMAuthentication", "WatchwordSystem"),
        program(
            "watchword-pam-remote", "CommandLineInterface", "Courier", "JSONReading",
            "LocalSockets", "OneTimePassword", "Verification", "WatchwordCoding",
            "WatchwordCryptography", "WatchwordSystem"),
        program("watchword-reader", "PictureReading", "Pictures", "QRDrawing", "WatchwordSystem"),
        program("watchword-token", "Devices", "TokenDrivers", "WatchwordSystem"),
        module(
            "Programs", "Commands", documents: ["Tutorials"], resources: documentsOfProgram,
            "CommandLineInterface", "Courier", "DeviceLogin", "Devices", "Exports",
            "OneTimePassword", "Pictures", "ProcessConfinement", "QRDrawing", "SecretVault",
            "VaultService", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem"),
        program("watchword-exports", "ExportReading", "Exports", "WatchwordSystem"),
        module(
            "Programs", "ServerCommands",
            documents: [
                "Monitoring/alerts-test.yaml", "Monitoring/alerts.yaml",
                "Monitoring/dashboard.json", "Operations.md", "Tutorials",
            ],
            resources: documentsOfProgram, "CommandLineInterface", "Courier", "Devices", "Exports",
            "HTTPListener", "JSONReading", "LocalEnrolment", "LocalSockets", "OneTimePassword",
            "PasskeyVerification", "PostgreSQLStore", "ProcessConfinement", "QRDrawing",
            "SQLStore", "SQLiteStore", "Verification", "VerificationService", "WatchwordCoding",
            "WatchwordCryptography", "WatchwordSystem"),
        module(
            "Programs", "EnrolCommands", resources: documentsOfProgram, "CommandLineInterface",
            "Devices", "LocalEnrolment", "QRDrawing", "WatchwordCoding", "WatchwordCryptography",
            "WatchwordSystem"),
        program("watchword", "Commands"),
        program("watchword-agent", "Agent"),
        program("watchword-enrol", "EnrolCommands"),
        program("watchword-server", "ServerCommands"),

        // Tests
        .target(
            name: "TestSupport",
            dependencies: [
                "Devices", "OneTimePassword", "WatchwordCryptography", "WatchwordSystem",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        // Starts a PostgreSQL server for a test.
        .target(
            name: "PostgreSQLServer", dependencies: ["TestSupport"], path: "Tests/PostgreSQLServer",
            swiftSettings: settings),
        // Readers of pictures or exports that crash, lie or stay unconfined.
        .target(name: "Faults", path: "Tests/FaultyReaders/Faults", swiftSettings: settings),
        program(
            "FaultyReader", path: "Tests/FaultyReaders/FaultyReader", "Faults", "PictureReading",
            "Pictures"),
        program(
            "FaultyExportReader", path: "Tests/FaultyReaders/FaultyExportReader",
            "WatchwordCryptography", "Exports", "Faults", "OneTimePassword"),
        .target(
            name: "Lies", dependencies: ["WatchwordSystem"], path: "Tests/FaultyReaders/Lies",
            swiftSettings: settings),
        program("LyingReader", path: "Tests/FaultyReaders/LyingReader", "Lies"),
        program("LyingExportReader", path: "Tests/FaultyReaders/LyingExportReader", "Lies"),
        program(
            "UnconfinedReader", path: "Tests/FaultyReaders/UnconfinedReader", "CSeccomp", "Pictures"
        ),
        tests(
            "ModelTests", "Courier", "WatchwordCryptography", "DeviceLogin", "OneTimePassword",
            "WatchwordSystem", "SecretVault", "Verification"),
        tests(
            "WatchwordSystemTests", "ProcessConfinement", "WatchwordCryptography", "WatchwordSystem"
        ),
        // One runs the PAM modules that a test names; the other checks presence as `watchword`
        // does.
        program(
            "StackedPresence", path: "Tests/PresencePrograms/StackedPresence", "PAMAuthentication"),
        program(
            "PresenceAsker", path: "Tests/PresencePrograms/PresenceAsker", "WatchwordSystem",
            "Devices"),
        tests("DevicesTests", "WatchwordCryptography", "WatchwordSystem", "Devices"),
        // `watchword-token` with an authenticator in software.
        program(
            "software-authenticator", path: "Tests/SoftwareAuthenticator", "CFIDO2", "COpenSSL",
            "TokenDrivers", "Devices"),
        tests(
            "TokenDriversTests", "Verification", "WatchwordCoding", "WatchwordCryptography",
            "Devices", "WatchwordSystem"),
        tests("WatchwordCryptographyTests", "WatchwordCryptography"),
        // Decrypts in a confined process.
        program(
            "ConfinedDecryption", path: "Tests/ConfinedDecryption", "ProcessConfinement",
            "WatchwordCryptography",
            "ExportReading", "WatchwordSystem"),
        tests("PictureReadingTests", "WatchwordSystem", "PictureReading", "Pictures", "QRDrawing"),
        tests("QRDrawingTests", "QRDrawing", "PictureReading"),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        tests(
            "OneTimePasswordTests", "AllocationCounter", "OneTimePassword", "WatchwordCryptography"),
        tests(
            "SecretVaultTests", "SecretVault", "OneTimePassword", "WatchwordCryptography",
            "Devices", "WatchwordSystem"),
        program(
            "vault-writer", path: "Tests/VaultWriter", "WatchwordCryptography", "Devices",
            "SecretVault"),
        // Calls the functions that compare secrets while valgrind counts instructions.
        .target(name: "InstructionCounter", path: "Tests/InstructionCounter"),
        program(
            "constant-time-probe", path: "Tests/ConstantTimeProbe", "WatchwordCryptography",
            "InstructionCounter", "OneTimePassword", "Verification"),
        tests(
            "VerificationTests", "PasskeyVerification", "Verification", "OneTimePassword",
            "JSONReading", "WatchwordCoding", "WatchwordCryptography", "WatchwordSystem",
            "StoreContract"),
        tests(
            "PasskeyVerificationTests", "WatchwordCryptography", "JSONReading", "WatchwordCoding",
            "PasskeyVerification", "Verification"),
        .target(
            name: "StoreContract", dependencies: ["WatchwordCryptography", "Verification"],
            path: "Tests/StoreContract", swiftSettings: settings),
        program(
            "store-writer", path: "Tests/StoreWriter", "CSQLite", "SQLStore", "SQLiteStore",
            "StoreContract",
            "Verification"),
        tests(
            "SQLiteStoreTests", "WatchwordCryptography", "OneTimePassword", "WatchwordSystem",
            "SQLiteStore", "SQLStore", "StoreContract", "Verification"),
        tests(
            "PostgreSQLStoreTests", "WatchwordCryptography", "WatchwordSystem", "PostgreSQLServer",
            "PostgreSQLStore", "SQLStore", "StoreContract", "Verification"),
        // Reads an export in a confined process.
        program(
            "ConfinedReading", path: "Tests/ConfinedReading", "ProcessConfinement",
            "WatchwordCryptography",
            "ExportReading", "Exports", "WatchwordSystem"),
        tests(
            "ExportReadingTests", "CSQLite", "CZip", "WatchwordCryptography", "ExportReading",
            "Exports", "JSONReading", "WatchwordCoding", "OneTimePassword", "WatchwordSystem"),
        tests(
            "ExportsTests", "ProcessConfinement", "WatchwordCryptography", "ExportReading",
            "Exports", "OneTimePassword", "WatchwordSystem"),
        tests(
            "PicturesTests", "ProcessConfinement", "WatchwordCryptography", "Pictures",
            "WatchwordSystem"),
        .target(
            name: "ServiceTranscripts",
            dependencies: [
                "WatchwordCryptography", "WatchwordCoding", "JSONReading", "LocalSockets",
                "OneTimePassword", "PasskeyVerification", "TestSupport", "Verification",
                "VerificationService",
            ], path: "Tests/ServiceTranscripts", swiftSettings: settings),
        tests(
            "VerificationServiceTests", "WatchwordCryptography", "WatchwordCoding", "JSONReading",
            "OneTimePassword", "PasskeyVerification", "WatchwordSystem", "ServiceTranscripts",
            "StoreContract",
            "Verification", "VerificationService"),
        tests("JSONReadingTests", "JSONReading", "WatchwordCoding", "WatchwordCryptography"),
        program("FaultyCourier", path: "Tests/FaultyCourier", "Courier", "WatchwordSystem"),
        tests("CourierTests", "Courier", "WatchwordCryptography", "WatchwordSystem"),
        tests(
            "DeviceLoginTests", "Courier", "OneTimePassword", "WatchwordCryptography",
            "DeviceLogin", "Devices", "WatchwordSystem", "SecretVault"),
        tests(
            "CommandLineInterfaceTests", "CommandLineInterface", "Commands", "Courier",
            "EnrolCommands", "ServerCommands", "WatchwordSystem"),
        tests(
            "CommandsTests", "CommandLineInterface", "Devices", "Commands", "DeviceLogin",
            "WatchwordCoding", "OneTimePassword", "WatchwordCryptography", "WatchwordSystem",
            "Pictures", "QRDrawing", "SecretVault"),
        // Confines itself like the agent's process with the keys.
        program(
            "KeyHolderProbe", path: "Tests/KeyHolderProbe", "ProcessConfinement", "WatchwordSystem"),
        // `watchword-agent` on a machine that a test suspends.
        program("suspending-agent", path: "Tests/SuspendingAgent", "Agent"),
        tests(
            "AgentTests", "Agent", "Courier", "WatchwordCryptography", "DeviceLogin",
            "Devices", "OneTimePassword", "WatchwordSystem", "SecretVault", "VaultService"),
        program(
            "service-process", path: "Tests/ServiceProcess", "HTTPListener", "WatchwordSystem",
            "PostgreSQLStore", "ServerCommands", "ServiceTranscripts", "StoreContract",
            "Verification", "VerificationService"),
        tests(
            "VaultServiceTests", "Devices", "WatchwordCryptography", "OneTimePassword",
            "WatchwordSystem", "SecretVault", "VaultService"),
        tests("HTTPListenerTests", "HTTPListener", "WatchwordCoding", "WatchwordCryptography"),
        tests(
            "LocalEnrolmentTests", "LocalEnrolment", "LocalSockets", "OneTimePassword",
            "Verification", "WatchwordCryptography", "WatchwordSystem"),
        tests("LocalSocketsTests", "LocalSockets", "WatchwordCryptography", "WatchwordSystem"),
        tests(
            "ServerTests", "CommandLineInterface", "WatchwordCryptography", "DeviceLogin",
            "Devices", "Exports", "HTTPListener", "WatchwordCoding", "JSONReading",
            "OneTimePassword", "PasskeyVerification", "PostgreSQLServer", "PostgreSQLStore",
            "SecretVault", "ServerCommands", "ServiceTranscripts", "SQLiteStore", "StoreContract",
            "Verification", "VerificationService", "WatchwordSystem"),
    ]
)
