// swift-tools-version: 6.2
import PackageDescription

// The house's settings, for every target.
let house: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ imports: Target.Dependency...) -> Target {
    .target(name: name, dependencies: imports, swiftSettings: house)
}

func program(_ name: String, path: String? = nil, _ imports: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: imports, path: path, swiftSettings: house)
}

func tests(_ name: String, _ imports: Target.Dependency...) -> Target {
    .testTarget(name: name, dependencies: imports + ["TestSupport"], swiftSettings: house)
}

let package = Package(
    name: "Watchword",
    products: [
        .executable(name: "watchword", targets: ["watchword"]),
        .executable(name: "watchword-reader", targets: ["watchword-reader"]),
        .executable(name: "watchword-server", targets: ["watchword-server"]),
        .executable(name: "watchword-presence", targets: ["watchword-presence"]),
        .executable(name: "watchword-courier", targets: ["watchword-courier"]),
        .library(name: "OneTimePassword", targets: ["Cryptography", "OneTimePassword"]),
        .library(
            name: "Verification", targets: ["Cryptography", "OneTimePassword", "Verification"]),
        .library(name: "SQLiteStore", targets: ["SQLiteStore"]),
        .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore"]),
        // For the fuzz and benchmark packages in Tests.
        .library(
            name: "Rooms",
            targets: [
                "Cryptography", "ImageFile", "Interchange", "JSONReading", "JSONText",
                "OneTimePassword", "Raster", "SecretVault", "SymbolDrawing", "SymbolReading",
                "Verification",
            ]),
    ],
    targets: [
        // System libraries: each is imported by one target only.
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        // Not linked: it is loaded by the first symbol that is drawn.
        .systemLibrary(name: "CQREncode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CZBar", pkgConfig: "zbar", providers: [.apt(["libzbar-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(
            name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(
            name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
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
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),

        // Level 0
        room("POSIX", "CLinux", "CSeccomp"),
        room("Presence"),
        room("Raster"),
        // Level 1
        room("Cryptography", "COpenSSL"),
        room("ImageFile", "CPNG", "CTurboJPEG", "CWebP", "POSIX", "Raster"),
        room("SymbolReading", "CZBar", "POSIX", "Raster"),
        room("SymbolDrawing", "CQREncode", "POSIX", "Raster"),
        room("PresenceDevices", "POSIX", "Presence"),
        room("HTTPClient", "CCurl", "POSIX"),
        // Level 2
        room("Arguments", "POSIX"),
        room("JSONText", "Cryptography", "POSIX"),
        room("Courier", "Cryptography", "POSIX"),
        room("OneTimePassword", "Cryptography"),
        room("PAMAuthentication", "CPAM", "POSIX", "PresenceDevices"),
        // Level 3
        .target(
            name: "SecretVault",
            dependencies: ["Cryptography", "OneTimePassword", "POSIX", "Presence"],
            exclude: ["VaultFile.md"], swiftSettings: house),
        room("Verification", "Cryptography", "OneTimePassword", "POSIX"),
        room("JSONReading", "CJansson", "Cryptography", "JSONText"),
        // Level 4
        room("DeviceLogin", "Courier", "Cryptography", "SecretVault"),
        room("Interchange", "Cryptography", "OneTimePassword"),
        room("PictureReader", "POSIX"),
        room("HTTPListener", "CMicroHTTPD", "Cryptography"),
        room("PostgreSQLStore", "CPostgreSQL", "Cryptography", "POSIX", "Verification"),
        room("SQLiteStore", "Cryptography", "CSQLite", "POSIX", "Verification"),
        room(
            "VerificationService", "Cryptography", "ImageFile", "JSONReading", "JSONText",
            "OneTimePassword", "POSIX", "Raster", "SymbolDrawing", "Verification"),
        // Level 5
        room(
            "Commands", "Arguments", "Courier", "Cryptography", "DeviceLogin", "ImageFile",
            "Interchange",
            "JSONText", "OneTimePassword",
            "PictureReader", "POSIX", "Presence", "PresenceDevices", "Raster", "SecretVault",
            "SymbolDrawing"),
        room(
            "ServerCommands", "Arguments", "Cryptography", "HTTPListener", "JSONText", "POSIX",
            "PostgreSQLStore", "SQLiteStore", "Verification", "VerificationService"),
        // Level 6
        program("watchword", "Commands"),
        program(
            "watchword-reader", "ImageFile", "PictureReader", "POSIX", "Raster", "SymbolReading"),
        program("watchword-presence", "PAMAuthentication", "POSIX"),
        program("watchword-server", "ServerCommands"),

        program(
            "watchword-courier", "Courier", "Cryptography", "HTTPClient", "JSONReading", "JSONText",
            "POSIX"),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["Cryptography", "OneTimePassword"],
            path: "Tests/TestSupport", swiftSettings: house),
        // A database server of the test's own.
        .target(
            name: "PostgreSQLServer", dependencies: ["TestSupport"], path: "Tests/PostgreSQLServer",
            swiftSettings: house),
        tests("PostgreSQLServerTests", "PostgreSQLServer"),
        // Readers that do what must not take the others' pictures along.
        program(
            "FaultyReader", path: "Tests/FaultyReaders/FaultyReader", "PictureReader", "POSIX"),
        program("LyingReader", path: "Tests/FaultyReaders/LyingReader", "POSIX"),
        program(
            "UnconfinedReader", path: "Tests/FaultyReaders/UnconfinedReader", "CSeccomp",
            "PictureReader"),
        tests(
            "ModelTests", "Courier", "Cryptography", "DeviceLogin", "OneTimePassword",
            "SecretVault", "Verification"),
        tests(
            "POSIXTests", "POSIX", "watchword-courier", "watchword-presence", "watchword-reader"),
        tests("PresenceTests", "Presence"),
        // One runs modules that a test names, the other asks as `watchword` does.
        program(
            "StackedPresence", path: "Tests/PresencePrograms/StackedPresence", "PAMAuthentication"
        ),
        program(
            "PresenceAsker", path: "Tests/PresencePrograms/PresenceAsker", "POSIX",
            "PresenceDevices"),
        tests(
            "PresenceDevicesTests", "POSIX", "Presence", "PresenceDevices", "PresenceAsker",
            "StackedPresence", "watchword-presence"),
        tests("CryptographyTests", "Cryptography"),
        tests("ImageFileTests", "ImageFile", "Raster"),
        tests(
            "SymbolReadingTests", "POSIX", "SymbolReading", "SymbolDrawing", "ImageFile", "Raster"),
        tests("SymbolDrawingTests", "SymbolDrawing", "Raster", "ImageFile"),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        tests("OneTimePasswordTests", "AllocationCounter", "OneTimePassword", "Cryptography"),
        tests(
            "SecretVaultTests", "SecretVault", "OneTimePassword", "Cryptography", "POSIX",
            "vault-writer"),
        program(
            "vault-writer", path: "Tests/VaultWriter", "Cryptography", "Presence", "SecretVault"),
        // Calls what compares secrets, under a program that counts instructions.
        .target(name: "InstructionCounter", path: "Tests/InstructionCounter"),
        program(
            "constant-time-probe", path: "Tests/ConstantTimeProbe", "Cryptography",
            "InstructionCounter", "OneTimePassword", "Verification"),
        tests(
            "VerificationTests", "Verification", "OneTimePassword", "Cryptography",
            "StoreContract", "constant-time-probe"),
        .target(
            name: "StoreContract", dependencies: ["Cryptography", "Verification"],
            path: "Tests/StoreContract", swiftSettings: house),
        program(
            "store-writer", path: "Tests/StoreWriter", "CSQLite", "SQLiteStore",
            "StoreContract", "Verification"),
        tests(
            "SQLiteStoreTests", "Cryptography", "OneTimePassword", "POSIX", "SQLiteStore",
            "StoreContract", "Verification", "store-writer"),
        tests(
            "PostgreSQLStoreTests", "Cryptography", "POSIX", "PostgreSQLServer", "PostgreSQLStore",
            "StoreContract", "Verification"),
        tests("InterchangeTests", "Interchange", "OneTimePassword", "Cryptography"),
        tests(
            "PictureReaderTests", "PictureReader", "POSIX", "watchword-reader", "FaultyReader",
            "LyingReader", "UnconfinedReader"),
        .target(
            name: "ServiceTranscripts",
            dependencies: [
                "Cryptography", "JSONReading", "JSONText", "OneTimePassword", "TestSupport",
                "Verification", "VerificationService",
            ], path: "Tests/ServiceTranscripts", swiftSettings: house),
        tests(
            "VerificationServiceTests", "Cryptography", "JSONReading", "JSONText",
            "OneTimePassword", "POSIX", "ServiceTranscripts", "StoreContract", "Verification",
            "VerificationService"),
        tests("JSONReadingTests", "JSONReading", "JSONText", "Cryptography"),
        program("FaultyCourier", path: "Tests/FaultyCourier", "Courier", "POSIX"),
        tests(
            "CourierTests", "Courier", "Cryptography", "POSIX", "watchword-courier",
            "FaultyCourier"),
        tests(
            "DeviceLoginTests", "Courier", "Cryptography", "DeviceLogin", "SecretVault",
            "watchword-courier"),
        tests(
            "CommandsTests", "Arguments", "Commands", "JSONText", "OneTimePassword", "Cryptography",
            "POSIX", "SecretVault",
            "StackedPresence", "watchword", "watchword-courier", "watchword-presence",
            "watchword-reader"),
        program(
            "service-process", path: "Tests/ServiceProcess", "HTTPListener", "POSIX",
            "PostgreSQLStore", "ServerCommands", "StoreContract", "Verification",
            "VerificationService"),
        tests("HTTPListenerTests", "HTTPListener", "Cryptography"),
        tests(
            "ServerTests", "Arguments", "Cryptography", "HTTPListener", "OneTimePassword",
            "PostgreSQLServer", "PostgreSQLStore", "ServerCommands", "ServiceTranscripts",
            "SQLiteStore", "StoreContract", "Verification", "VerificationService",
            "service-process", "watchword",
            "watchword-courier", "watchword-server"),
    ]
)
