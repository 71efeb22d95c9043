import Foundation
import TestSupport

/// The compiler that built the tests, for programs that it must reject.
enum SwiftCompiler {
    /// Why the source was not compiled.
    enum Failure: Error {
        case notInPath
        /// The compiler failed without reporting an error.
        case broke(status: Int32)
    }

    /// The errors that the compiler reports for `source`, which may import the modules built with
    /// the tests.
    ///
    /// Compiles up to SIL, because ownership is checked after types.
    static func errors(in source: String) throws -> [String] {
        guard let compiler = ForeignProgram("swiftc") else { throw Failure.notInPath }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(source.utf8), to: "program.swift")
        let options = [
            "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6",
            "-diagnostic-style", "llvm", "-I", BuiltProgram.testFile("Modules"),
            "-module-cache-path", folder.file("cache"), file,
        ]
        let outcome = try compiler.run(options + cLibraries())
        let said = String(decoding: outcome.errors, as: UTF8.self)
        let errors = said.split(separator: "\n").compactMap { line in
            line.range(of: " error: ").map { String(line[$0.upperBound...]) }
        }
        guard outcome.status == 0 || !errors.isEmpty else {
            throw Failure.broke(status: outcome.status)
        }
        return errors
    }

    /// The options with which the compiler finds the C libraries of the modules.
    private static func cLibraries() throws -> [String] {
        let folder = PackageFolder.root.appending(path: "Sources/CLibraries")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let maps = ["CLinux", "CSystemd"].map {
            BuiltProgram.testFile("\($0).build/module.modulemap")
        }
        return names.flatMap { ["-I", folder.appending(path: $0).path] }
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
}
