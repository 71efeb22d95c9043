import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// The real exports that are archives, databases, XML or OpenPGP messages.
@Suite(
    "Real exports in archives, databases and XML",
    .enabled(if: PackageFolder.shared != nil, "needs the shared folder"))
struct SharedContainerTests {
    static let folders = [
        "1password", "authenticator-plus", "authy", "battle-net", "google-authenticator-sqlite",
        "microsoft-authenticator", "proton-pass", "stratum", "winauth", "freeotp",
    ]
    /// Files that other suites read.
    static let others = [".bin", ".stratum", ".authpro", "v2_api25.xml", "v2_api34.xml"]

    static func exports() throws -> [SharedExport] {
        try SharedExport.all(in: folders).filter { export in
            !others.contains { export.path.hasSuffix($0) }
        }
    }

    @Test("each export yields the expected entries", arguments: try exports())
    func entries(export: SharedExport) throws {
        let (password, rows) = try export.answer
        let folder = String(export.path.prefix { $0 != "/" })
        let expected = try rows.compactMap { try Self.summary($0, in: folder) }
        let found = try readExport(try export.content, password: password)
        #expect(found.refusals.count == rows.count - expected.count)
        let entries = found.entries.map { entry in
            var summary = EntrySummary(entry)
            // The answers state neither vaults nor what is in the trash.
            summary.state = .active
            if folder != "stratum" { summary.tags = [] }
            return summary
        }
        #expect(entries.count == expected.count)
        // The answers for FreeOTP are in the file's order, the entries in the user's.
        #expect(entries.sorted(by: Self.precedes) == expected.sorted(by: Self.precedes))
    }

    @Test("an encrypted export needs its password", arguments: try exports())
    func missingPassword(export: SharedExport) throws {
        let (password, _) = try export.answer
        guard password != nil else { return }
        let content = try export.content
        let actual = try readExport(content, password: password).format
        // Before the archive is open, it can be any zip archive.
        let format = actual == .winAuth ? .zipArchive : actual
        #expect(throws: ExportError.passwordNeeded(format)) {
            try read(content)
        }
        for wrong in ["", "wrong", "Test", String(repeating: "x", count: 400)] {
            #expect(throws: ExportError.wrongPassword(format)) { try read(content, wrong) }
        }
    }

    @Test("a truncated export is refused", arguments: try exports())
    func truncation(export: SharedExport) throws {
        let content = try export.content
        let (password, _) = try export.answer
        for tenth in 0..<10 {
            let part = content.part(0..<(content.count * tenth / 10))
            #expect(throws: ExportError.self) { try readExport(part, password: password) }
        }
    }

    private static func precedes(_ left: EntrySummary, _ right: EntrySummary) -> Bool {
        left.description < right.description
    }

    /// The entry that an expected row states; `nil` if it is refused.
    private static func summary(_ row: Any, in folder: String) throws -> EntrySummary? {
        var row = try #require(row as? [String: Any])
        switch folder {
        case "google-authenticator-sqlite":
            row["account"] = row["email"]
            row["type"] = row["type"] as? Int == 1 ? "hotp" : "totp"
        case "microsoft-authenticator":
            row["issuer"] = row["name"]
            row["account"] = row["username"]
            row["secret"] = row["oath_secret_key"]
            row["type"] = "totp"
        case "stratum":
            let types = [1: "hotp", 2: "totp", 3: "motp", 4: "steam", 5: "yandex"]
            row["type"] = try #require((row["type"] as? Int).flatMap { types[$0] })
            row["account"] = row["username"]
            row["algorithm"] = ["SHA1", "SHA256", "SHA512"][row["algorithm"] as? Int ?? 0]
        case "1password" where row["bare"] as? String == "DFDFDEFDEF":
            // The second field of an item.
            row["account"] = "team@keepassxc.org (one-time password)"
        default: break
        }
        if case .entry(let entry) = try ExpectedRow(row, in: folder) { return entry }
        return nil
    }
}
