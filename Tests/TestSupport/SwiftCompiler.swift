internal import Foundation

/// The compiler that built the tests, for programs that it must refuse.
public enum SwiftCompiler {
    /// Why nothing was compiled.
    public enum Failure: Error {
        case notInPath
        /// It ended without a word of an error, but not well.
        case broke(status: Int32)
    }

    /// The errors that it finds in `source`, which may import the modules that were built with the tests.
    ///
    /// The program is gone through as far as the checks of who owns what, which come after the types'.
    public static func errors(in source: String) throws -> [String] {
        guard let compiler = ForeignProgram("swiftc") else { throw Failure.notInPath }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(source.utf8), to: "program.swift")
        let outcome = try compiler.run([
            "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6",
            "-diagnostic-style", "llvm", "-I", BuiltProgram.path("Modules"),
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
