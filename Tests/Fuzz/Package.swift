// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because libFuzzer asks for settings that no package may hand to its users.
// Scripts/fuzz builds and runs it.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Watchword", path: "../..")],
    targets: [
        .executableTarget(
            name: "Fuzz", dependencies: [.product(name: "Rooms", package: "Watchword")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
