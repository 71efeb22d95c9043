import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// A database and its key file, as Base64.
struct KeyFileVector: Codable, Sendable, CustomTestStringConvertible {
    let name: String
    let file: String
    let keyFile: String
    let password: String?

    var testDescription: String { name }
}

@Suite("KeePass key files")
struct KeyFileTests {
    private static func cases() throws -> [KeyFileVector] {
        try VectorFile<KeyFileVector>("exports/keepass-key-files.json").cases
    }

    private func read(_ vector: KeyFileVector, keyFile: SecretBytes?) throws -> Export {
        let file = try #require(SecretBytes(text: vector.file).decodedBase64())
        let password = vector.password.map { SecretBytes(text: $0) }
        return try readExport(ExportSource(file, keyFile: keyFile), password: password)
    }

    @Test("a database opens with its key file, and not without it", arguments: try cases())
    func keyFiles(vector: KeyFileVector) throws {
        let keyFile = try #require(SecretBytes(text: vector.keyFile).decodedBase64())
        let export = try read(vector, keyFile: keyFile)
        #expect(
            export.entries.map { EntrySummary($0).description }
                == ["totp Acme|ann 00112233445566778899 SHA1 6 30 [] active"])
        let missing: ExportError =
            vector.password == nil ? .passwordNeeded(.keePass) : .wrongPassword(.keePass)
        #expect(throws: missing) { try read(vector, keyFile: nil) }
        #expect(throws: missing) { try read(vector, keyFile: SecretBytes(text: "another file")) }
    }

    @Test("a database without a key file also opens if a key file is given, even a damaged one")
    func unneeded() throws {
        let vector = try #require(try VectorFile<KeePassVector>("exports/keepass.json").cases.first)
        let file = try #require(SecretBytes(text: vector.file).decodedBase64())
        let damaged = "<KeyFile><Meta><Version>2.0</Version></Meta></KeyFile>"
        for keyFile in ["another file", damaged].map({ SecretBytes(text: $0) }) {
            let source = ExportSource(file, keyFile: keyFile)
            #expect(
                try readExport(source, password: SecretBytes(text: "pw")).entries.count
                    == vector.entries.count)
            #expect(throws: ExportError.passwordNeeded(.keePass)) {
                _ = try readExport(source, password: nil)
            }
        }
    }

    @Test("a key file whose digest does not match is refused")
    func damaged() throws {
        let vector = try #require(try Self.cases().first { $0.name == "XML 2" })
        var keyFile = try #require(SecretBytes(text: vector.keyFile).decodedBase64()).known
        let digit = try #require(keyFile.lastIndex(of: UInt8(ascii: "7")))
        keyFile[digit] = UInt8(ascii: "8")
        #expect(throws: ExportError.unreadable(.keePass, .badKeyFile)) {
            try read(vector, keyFile: SecretBytes(keyFile))
        }
    }
}
