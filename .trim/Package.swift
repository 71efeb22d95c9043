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

func tests(_ name: String, _ imports: Target.Dependency...) -> Target {
    .testTarget(name: name, dependencies: imports + ["TestSupport"], swiftSettings: settings)
}

let package = Package(
    name: "Watchword",
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(
            name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CRNP", pkgConfig: "librnp", providers: [.apt(["librnp-dev"])]),
        .systemLibrary(name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
        .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),

        module("POSIX", "CLinux", "CSeccomp"),
        module("Raster"),
        module("Cryptography", "COpenSSL"),
        module("JSONText", "Cryptography", "POSIX"),
        module("OneTimePassword", "Cryptography"),
        module("ExportCryptography", "CGcrypt", "CSodium", "Cryptography"),
        module("OpenPGPReading", "CRNP", "Cryptography", "POSIX"),
        module("SQLiteReading", "CSQLite", "Cryptography", "POSIX"),
        module("XMLReading", "CXML2", "Cryptography", "POSIX"),
        module("ZipReading", "CZip", "Cryptography", "POSIX"),
        module("Interchange", "Cryptography", "OneTimePassword"),
        module("JSONReading", "CJansson", "Cryptography", "JSONText", "POSIX"),
        module(
            "ExportReading", "Cryptography", "ExportCryptography", "GzipReading", "Interchange",
            "JSONReading", "JSONText", "OneTimePassword", "OpenPGPReading", "POSIX",
            "SQLiteReading", "XMLReading", "ZipReading"),

        .target(
            name: "TestSupport", dependencies: ["Cryptography", "OneTimePassword", "POSIX"],
            path: "Tests/TestSupport", swiftSettings: settings),
        tests(
            "ExportReadingTests", "CSQLite", "CZip", "ConfinedReading", "Cryptography",
            "ExportCryptography", "ExportReading",
            "Interchange", "JSONReading", "JSONText", "OneTimePassword", "OpenPGPReading", "POSIX",
            "SQLiteReading", "XMLReading", "ZipReading"),
    ]
)
