import Foundation
import TestSupport
import Testing

@testable import WatchwordSystem

@Suite struct ProgramOutputTests {
    private func run(
        _ script: String, environment: [String] = [], limit: Int = 1_000,
        timeout: Duration = .seconds(60)
    ) throws -> String? {
        let output = try ProgramOutput.of(
            "/bin/sh", ["-c", script], environment: environment, limit: limit, timeout: timeout)
        return output?.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test("a program's whole standard output is returned, and its standard error is not")
    func output() throws {
        #expect(try run("printf one; sleep 0.1; printf two; echo three >&2; exit 4") == "onetwo")
        #expect(try run("true") == "")
    }

    @Test("a program inherits only the named variables")
    func environment() throws {
        let path = try #require(ProcessInfo.processInfo.environment["PATH"])
        #expect(try run("printf '%s' \"$PATH|$HOME\"", environment: ["PATH"]) == "\(path)|")
    }

    @Test("a program that writes up to the limit is accepted, and one that writes more is not")
    func limit() throws {
        #expect(try run("printf 1234", limit: 4) == "1234")
        #expect(try run("printf 12345", limit: 4) == nil)
        #expect(try run("cat /dev/zero", limit: 4) == nil)
    }

    @Test("a program that takes too long is killed")
    func timeout() throws {
        #expect(try run("exec sleep 1000", timeout: .milliseconds(200)) == nil)
    }

    @Test("a private temporary folder has mode 0700 and is removed with its files")
    func temporaryFolder() throws {
        var folder: PrivateTemporaryFolder? = try PrivateTemporaryFolder()
        let path = try #require(folder?.path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o700)
        try Data([1]).write(to: URL(filePath: path).appending(path: "file"))
        folder = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
