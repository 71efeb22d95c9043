internal import Foundation

/// The compiler that built the tests, for programs that it must reject.
public enum SwiftCompiler {
    /// Why the source was not compiled.
    public enum Failure: Error {
        case notInPath
        /// The compiler failed without reporting an error.
        case broke(status: Int32)
    }

    /// The errors that the compiler reports for `source`, which may import the modules built with
    /// the tests.
    ///
    /// Compiles up to SIL, because ownership is checked after types.
    public static func errors(in source: String) throws -> [String] {
        guard let compiler = ForeignProgram("swiftc") else { throw Failure.notInPath }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(source.utf8), to: "program.swift")
        let outcome = try compiler.run([
            "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6",
            "-diagnostic-style", "llvm", "-I", BuiltProgram.testFile("Modules"),
            "-module-cache-path", folder.file("cache"), file,
        ])
        let said = String(decoding: outcome.errors, as: UTF8.self)
        let errors = said.split(separator: "\n").compactMap { line in
            line.range(of: " error: ").map { String(line[$0.upperBound...]) }
        }
        guard outcome.status == 0 || !errors.isEmpty else {
            throw Failure.broke(status: outcome.status)
        }
        return errors
    }
}
