// swift-tools-version: 6.2
import PackageDescription

// A separate package, because libFuzzer needs unsafe build flags, which a dependency must not use.
// Scripts/fuzz builds and runs it.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Watchword", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz", dependencies: [.product(name: "InternalModules", package: "Watchword")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
