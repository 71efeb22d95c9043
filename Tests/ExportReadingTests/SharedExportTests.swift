import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// The real exports that are text, JSON or ciphertext; ``SharedContainerTests`` reads the others.
@Suite(
    "Real exports of other apps",
    .enabled(if: PackageFolder.shared != nil, "needs the shared folder"))
struct SharedExportTests {
    static let folders = [
        "2fas", "aegis", "andotp", "bitwarden", "duo", "ente", "freeotp", "freeotpplus", "gauth",
        "google-migration", "keepass-kdbx", "lastpass", "proton-authenticator", "steam", "stratum",
        "totp-authenticator", "uri-list",
    ]

    static func exports() throws -> [SharedExport] {
        let others = Set(try SharedContainerTests.exports().map(\.path))
        return try SharedExport.all(in: folders).filter {
            // The image of a migration is read by the reader of images.
            !others.contains($0.path) && !$0.path.hasSuffix(".jpg")
        }
    }

    @Test("each export yields the expected entries", arguments: try exports())
    func entries(export: SharedExport) throws {
        let (password, rows) = try export.answer
        let folder = String(export.path.prefix { $0 != "/" })
        var expected: [EntrySummary] = []
        var refusedCount = 0
        for row in try rows.flatMap({ try Self.rows(in: $0) }) {
            switch try ExpectedRow(row, in: folder) {
            case .entry(let entry): expected.append(entry)
            case .refused: refusedCount += 1
            }
        }
        let content = try export.content
        guard !rows.isEmpty else {
            let error = #expect(throws: ExportError.self) {
                try readExport(content, password: password)
            }
            #expect(error == .noEntries(.keePass))
            return
        }
        let found = try readExport(content, password: password)
        #expect(found.refusals.count == refusedCount)
        var entries = found.entries.map { entry in
            var summary = EntrySummary(entry)
            // The answers do not state what is in the trash, nor Ente's and KeePass' tags.
            summary.state = .active
            if ["ente", "keepass-kdbx"].contains(folder) { summary.tags = [] }
            return summary
        }
        // The answers omit the titles of Bitwarden's Steam items without user names.
        for (index, answer) in expected.enumerated().prefix(entries.count)
        where folder == "bitwarden" && answer.type == "steam" && answer.account.isEmpty {
            entries[index].account = ""
        }
        if folder == "freeotp" {
            // FreeOTP 2 keeps its entries in the order of their hashes.
            entries.sort { $0.description < $1.description }
            expected.sort { $0.description < $1.description }
        }
        #expect(entries == expected)
    }

    @Test("a wrong password is refused, and a missing one is asked for", arguments: try exports())
    func passwords(export: SharedExport) throws {
        let (password, _) = try export.answer
        guard let password else { return }
        let content = try export.content
        let missing = #expect(throws: ExportError.self) { try readExport(content, password: nil) }
        let wrong = SecretBytes(text: password.text + "x")
        let refused = #expect(throws: ExportError.self) { try readExport(content, password: wrong) }
        switch (missing, refused) {
        case (.passwordNeeded(let missing), .wrongPassword(let refused)):
            #expect(missing == refused)
        default: Issue.record("\(String(describing: missing)), \(String(describing: refused))")
        }
    }

    /// The rows that an answer's element states.
    private static func rows(in element: Any) throws -> [Any] {
        if let line = element as? String { return [try row(ofGauthLine: line)] }
        guard let batch = element as? [String: Any], batch["meta"] != nil else { return [element] }
        return try #require(batch["entries"] as? [Any])
    }

    private static func row(ofGauthLine line: String) throws -> [String: Any] {
        if line.hasPrefix("otpauth://") {
            return [
                "type": "totp", "issuer": "test3", "account": "testuser3",
                "secret": "AAAQEAYEAUDAOCAJ", "algorithm": "SHA512", "digits": 8, "period": 30,
            ]
        }
        let parts = line.split(separator: ":")
        return ["type": "totp", "issuer": String(parts[0]), "secret": String(parts[1])]
    }
}

@Suite("All real exports", .enabled(if: PackageFolder.shared != nil, "needs the shared folder"))
struct SharedExportCountTests {
    @Test("every file except a picture is read by a test")
    func count() throws {
        let count = try SharedExportTests.exports().count + SharedContainerTests.exports().count
        #expect(count == 78)
    }

    @Test("a file opens with the decomposed form of its password")
    func decomposedPassword() throws {
        let exports = try SharedExport.all(in: ["keepass-kdbx"])
        let export = try #require(exports.first { $0.path.hasSuffix("NonAscii.kdbx") })
        let content = try export.content
        // The database has no one-time passwords.
        for (password, error) in [
            ("\u{394}\u{f6}\u{636}", ExportError.noEntries(.keePass)),
            ("\u{394}o\u{308}\u{636}", .noEntries(.keePass)),
            ("\u{394}o\u{636}", .wrongPassword(.keePass)),
        ] {
            #expect(throws: error) { try read(content, password) }
        }
    }
}
