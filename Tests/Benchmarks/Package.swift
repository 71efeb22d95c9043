// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that a build of Watchword does not build the benchmarks.
// Scripts/bench builds and runs them.
let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "Watchword", path: "../..")],
    targets: [
        .systemLibrary(name: "COpenSSLAlone", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CSQLiteAlone", pkgConfig: "sqlite3"),
        .executableTarget(
            name: "CodeBenchmark",
            dependencies: [
                "COpenSSLAlone", .product(name: "InternalModules", package: "Watchword"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "COpenSSLAlone", "CSQLiteAlone",
                .product(name: "InternalModules", package: "Watchword"),
                .product(name: "PostgreSQLStore", package: "Watchword"),
                .product(name: "SQLiteStore", package: "Watchword"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
