import Exports
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// A database and its entries, without those that have no one-time password.
struct KeePassVector: Codable, Sendable {
    let name: String
    let file: String
    let entries: [String]
}

@Suite("KeePass databases")
struct KeePassFormatTests {
    private let file: SecretBytes
    private let entries: [String]
    private let password = SecretBytes(text: "pw")

    init() throws {
        let vector = try #require(try VectorFile<KeePassVector>("exports/keepass.json").cases.first)
        file = try #require(SecretBytes(text: vector.file).decodedBase64())
        entries = vector.entries
    }

    @Test(
        "groups and tags become tags, earlier versions are left out, and binned entries are marked")
    func database() throws {
        let export = try readExport(file, password: password)
        #expect(export.entries.map { EntrySummary($0).description }.sorted() == entries.sorted())
        #expect(export.entries.map(\.note).filter { !$0.isEmpty } == ["n"])
        #expect(export.refusals.isEmpty)
    }

    @Test("an entry that was moved is read once, with its current group")
    func moved() throws {
        let vectors = try VectorFile<KeePassVector>("exports/keepass.json").cases
        let vector = try #require(vectors.first { $0.name.hasPrefix("moved") })
        let file = try #require(SecretBytes(text: vector.file).decodedBase64())
        let export = try readExport(file, password: password)
        #expect(export.entries.map { EntrySummary($0).description } == vector.entries)
    }

    @Test("XML without encryption is read like a database")
    func plainXML() throws {
        for vector in try VectorFile<KeePassVector>("exports/keepass-xml.json").cases {
            let export = try read(vector.file)
            #expect(export.format == .keePass)
            #expect(export.entries.map { EntrySummary($0).description } == vector.entries)
            #expect(export.refusals.isEmpty)
        }
    }

    @Test("XML with values that are still encrypted is refused, and so is damaged XML")
    func damagedXML() throws {
        let vectors = try VectorFile<KeePassVector>("exports/keepass-xml.json").cases
        let text = try #require(vectors.last).file
        for damaged in [
            text.replacing("ProtectInMemory=", with: "Protected="), String(text.dropLast(20)),
        ] {
            #expect(throws: ExportError.damaged(.keePass)) { try read(damaged) }
        }
    }

    @Test("a database in which any byte has been changed is refused")
    func changed() throws {
        for index in stride(from: 0, to: file.count, by: 17) {
            var changed = file.known
            changed[index] ^= 0x80
            #expect(throws: ExportError.self, "\(index)") {
                _ = try readExport(SecretBytes(changed), password: password)
            }
        }
    }

    @Test("a truncated database is refused")
    func truncated() throws {
        for count in stride(from: 12, to: file.count, by: 61) {
            #expect(throws: ExportError.damaged(.keePass)) {
                _ = try readExport(file.part(0..<count), password: password)
            }
        }
    }
}
