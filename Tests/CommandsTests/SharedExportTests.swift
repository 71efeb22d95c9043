import Foundation
import TestSupport
import Testing

/// The real exports that are shared between the projects, with the program itself.
struct SharedExportTests {
    private static let folder = PackageFolder.shared?.appending(path: "exports").path

    /// A row of the table in `README.md`.
    struct File: CustomTestStringConvertible, Sendable {
        let path: String
        let password: String?
        let count: Int
        var testDescription: String { path }
    }

    private static func files() throws -> [File] {
        guard let folder else { return [] }
        let table = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        return try table.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count > 4, Int(cells[3]) != nil else { return nil }
            let password = cells[2] == "none" ? nil : cells[2].trimmingCharacters(in: ["`"])
            let expected = folder + "/\(cells[0])/expected/\(cells[1]).json"
            return File(
                path: "\(folder)/\(cells[0])/\(cells[1])", password: password,
                count: try entryCount(in: Data(contentsOf: URL(filePath: expected))))
        }
    }

    /// The number of entries, including those in the parts of a migration.
    private static func entryCount(in data: Data) throws -> Int {
        let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let entries = try #require(document?["entries"] as? [Any])
        return entries.reduce(0) { count, entry in
            count + (((entry as? [String: Any])?["entries"] as? [Any])?.count ?? 1)
        }
    }

    @Test(
        "every entry of the shared exports is reported once",
        .enabled(
            if: folder != nil,
            "set WATCHWORD_SHARED to the folder that contains the shared exports"),
        arguments: try files())
    func everyExport(file: File) throws {
        let vault = try VaultFixture([])
        try vault.folder.write(Array("\(file.password ?? "")\n".utf8), to: "pw.txt")
        let outcome = try Transcript.run(
            "watchword import --json -q --dry-run --include-deleted --passphrase-file pass.txt"
                + " --export-password-file pw.txt '\(file.path)'",
            in: vault.folder)
        let lines = try outcome.text.split(separator: "\n").map { line in
            try #require(
                JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let reasons = lines.compactMap { $0["reason"] as? String }
        guard file.count > 0 else {
            #expect(reasons == ["no-entries"])
            return
        }
        #expect(lines.count == file.count, "\(reasons)")
        // Rows are refused because of their content, not because the reader misunderstood the file.
        let known: Set = [
            "same-codes", "same-name", "greater-counter", "new-pin", "no-key", "bad-key",
            "bad-digits",
            "bad-period", "unknown-algorithm", "encrypted-by-phone",
        ]
        #expect(known.isSuperset(of: reasons))
        let isIncomplete = lines.contains {
            ["refused", "unread"].contains($0["result"] as? String)
        }
        #expect(outcome.status == (isIncomplete ? 1 : 0))
    }
}
