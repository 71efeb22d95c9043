import ExportReading
import Exports
import OneTimePassword
import TestSupport
import Testing
import WatchwordCryptography

@Suite("Written exports read back")
struct RoundTripTests {
    private static let now: Int64 = 1_795_385_370

    @Test("each entry is read back, or its omission is reported", arguments: ExportTarget.allCases)
    func plain(target: ExportTarget) throws {
        for seed in 0..<40 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let entries = try generator.entries(count: 25)
            let written = try writeExport(entries, as: target, now: Self.now)
            // For some seeds, the format cannot hold any of the entries.
            guard written.omissions.count < entries.count else { continue }
            let export = try readExport(
                SecretBytes(joining: written.documents.lines), password: nil)
            #expect(export.refusals.isEmpty)
            #expect(export.missingPictures.isEmpty)
            let expected = try written.expected(of: entries)
            #expect(export.entries.map(Facts.init) == expected)
        }
    }

    @Test(
        "each entry of an encrypted export is read back",
        arguments: ExportTarget.allCases.filter(\.canBeEncrypted))
    func encrypted(target: ExportTarget) throws {
        var generator = SeededGenerator(seed: 99)
        let entries = try generator.entries(count: 40)
        let password = SecretBytes(text: "päss wörd")
        let written = try writeExport(entries, as: target, password: password, now: Self.now)
        let file = try #require(written.documents.first)
        #expect(written.documents.count == 1)
        #expect(!file.text.contains("Größe") || target == .twoFAS)
        let export = try readExport(file, password: password)
        #expect(export.refusals.isEmpty)
        let expected = try written.expected(of: entries)
        #expect(export.entries.map(Facts.init) == expected)
        let wrong = #expect(throws: ExportError.self) {
            _ = try readExport(file, password: SecretBytes(text: "pass word"))
        }
        guard case .wrongPassword? = wrong else {
            Issue.record("\(String(describing: wrong))")
            return
        }
    }

    @Test("the reader recognises each format")
    func formats() throws {
        let expected: [ExportTarget: ExportFormat] = [
            .aegis: .aegis, .twoFAS: .twoFAS, .keyURIs: .uriList, .google: .googleAuthenticator,
            .sheet: .watchwordSheet,
        ]
        let credential = try Credential(
            issuer: "Acme", account: "ann", key: SecretBytes(text: "12345678901234567890"))
        for target in ExportTarget.allCases {
            let written = try writeExport(
                [ExportedEntry(content: .oneTimePassword(credential))], as: target, now: Self.now)
            let export = try readExport(SecretBytes(joining: written.documents), password: nil)
            #expect(export.format == expected[target])
        }
    }

    @Test("a Google Authenticator picture has at most ten entries and fits into a QR code")
    func parts() throws {
        var generator = SeededGenerator(seed: 5)
        var entries: [ExportedEntry] = []
        for _ in 0..<45 {
            entries.append(
                ExportedEntry(content: .oneTimePassword(try generator.simpleCredential())))
        }
        let long = try Credential(
            issuer: "", account: String(repeating: "x", count: 1_400), key: generator.key())
        entries += [long, long].map { ExportedEntry(content: .oneTimePassword($0)) }
        let written = try writeExport(entries, as: .google, now: Self.now)
        let batches = try written.documents.map { uri in
            try uri.withBytes { text throws(MigrationError) in try MigrationBatch(parsing: text) }
        }
        #expect(batches.allSatisfy { $0.credentials.count <= 10 && $0.size == batches.count })
        #expect(batches.flatMap(\.credentials).count == 47)
        #expect(written.documents.allSatisfy { $0.count <= 2_331 })
    }

    @Test("an entry that fits into no QR code is left out of Google Authenticator's format")
    func tooLong() throws {
        let long = try Credential(
            issuer: "", account: String(repeating: "x", count: 3_000),
            key: SecretBytes(text: "12345678901234567890"))
        let entry = ExportedEntry(content: .oneTimePassword(long))
        #expect(ExportTarget.google.omission(of: entry) == .tooLong)
        #expect(ExportTarget.sheet.omission(of: entry) == nil)
        let sheet = try writeExport([entry], as: .sheet, now: Self.now)
        let read = try readExport(SecretBytes(joining: sheet.documents), password: nil)
        #expect(read.entries.map(Facts.init) == [Facts(entry)])
    }

    @Test("no text in an entry becomes markup in a sheet")
    func markup() throws {
        let credential = try Credential(
            issuer: "<script>\"&amp;", account: "</h2>",
            key: SecretBytes(text: "12345678901234567890"))
        let entry = ExportedEntry(
            content: .oneTimePassword(credential), tags: ["<b>"], note: "</p>\n&lt;<i>")
        let sheet = try writeExport([entry], as: .sheet, now: Self.now).documents[0].text
        #expect(!sheet.contains("<script>") && !sheet.contains("<i>") && !sheet.contains("<b>\n"))
        #expect(sheet.contains("&lt;script&gt;&quot;&amp;amp;: &lt;/h2&gt;"))
        #expect(sheet.contains("&lt;/p&gt;\n&amp;lt;&lt;i&gt;"))
        let entities = ["amp;", "lt;", "gt;", "quot;"]
        for piece in sheet.split(separator: "&").dropFirst() {
            #expect(entities.contains { piece.hasPrefix($0) }, "&\(piece.prefix(9))")
        }
    }

    @Test("two exports of the same entries share no salt, nonce or identifier")
    func fresh() throws {
        var generator = SeededGenerator(seed: 7)
        let entries = try generator.entries(count: 3)
        for target in [ExportTarget.aegis, .twoFAS] {
            let files = try (0..<2).map { _ in
                try writeExport(
                    entries, as: target, password: SecretBytes(text: "pw"), now: Self.now
                )
                .documents[0].text
            }
            let words = files.map { Set($0.split { !$0.isLetter && !$0.isNumber }) }
            let shared = words[0].intersection(words[1]).filter { $0.count >= 12 }
            // Names of members and the app's constant identifiers.
            #expect(
                shared.allSatisfy {
                    [
                        "schemaVersion", "appVersionCode", "appVersionName",
                        "servicesEncrypted", "icons_optimized", "1795385370000",
                    ].contains($0)
                },
                "\(shared)")
        }
    }
}

extension [SecretBytes] {
    /// The documents, each on a separate line.
    fileprivate var lines: [SecretBytes] { flatMap { [$0, SecretBytes(text: "\n")] } }
}

/// Everything that an export contains about an entry.
private struct Facts: Equatable, CustomStringConvertible {
    var text: [String]
    var credential: Credential?
    var tags: [String]
    var note: String
    var isFavourite: Bool

    init(_ entry: ExportedEntry) {
        switch entry.content {
        case .oneTimePassword(let credential):
            self.credential = credential
            text = []
        case .notComputed(let code):
            text = [
                "\(code.kind)", code.issuer, code.account, code.secret.hex, code.pin?.hex ?? "none",
            ]
        }
        tags = entry.tags
        note = entry.note
        isFavourite = entry.isFavourite
    }

    mutating func lose(_ property: LostProperty) throws {
        switch property {
        case .tags: tags = []
        case .furtherTags: tags = Array(tags.prefix(1))
        case .note: note = ""
        case .favourite: isFavourite = false
        case .otherParameters:
            let old = try #require(credential)
            credential = try Credential(
                issuer: old.issuer, account: old.account, key: old.key, algorithm: old.algorithm,
                style: old.style, movingFactor: old.movingFactor)
        case .icon, .accessControl: break
        }
    }

    var description: String {
        let names = credential.map { "\($0.issuer)|\($0.account)|\($0.style)|\($0.movingFactor)" }
        return "\(names ?? "\(text)") \(tags) \(note.debugDescription) \(isFavourite)"
    }
}

extension WrittenExport {
    /// What the export must contain: each entry that was not left out, without what it lost.
    fileprivate func expected(of entries: [ExportedEntry]) throws -> [Facts] {
        var expected = entries.map(Facts.init)
        for (entry, property) in losses { try expected[entry].lose(property) }
        let omitted = Set(omissions.map(\.entry))
        return expected.indices.filter { !omitted.contains($0) }.map { expected[$0] }
    }
}
