import Exports
import Foundation
import TestSupport
import Testing
import WatchwordCryptography

@testable import ExportReading

/// Each library reads in a process without access to files, sockets or threads, like
/// `watchword-exports`.
@Suite(
    "Real exports in a confined process",
    .enabled(if: PackageFolder.shared != nil, "needs the shared folder"))
struct ConfinedReadingTests {
    /// The folders of exports that take a derivation with much memory.
    private static let large = ["ente", "bitwarden", "keepass-kdbx"]

    static func exports() throws -> [SharedExport] {
        guard let root = PackageFolder.shared?.appending(path: "exports") else { return [] }
        let folders = try FileManager.default.contentsOfDirectory(atPath: root.path).sorted()
            .filter { $0 != "README.md" }
        return try SharedExport.all(in: folders).filter { export in
            // Leave out images, the texts for them, and a derivation that takes ten seconds.
            !export.path.hasPrefix("google-migration/") && !export.path.contains("maximum")
        }
    }

    @Test("a confined process reads each export", arguments: try exports())
    func reading(export: SharedExport) throws {
        let (password, expected) = try export.answer
        let folder = String(export.path.prefix { $0 != "/" })
        let reading = try ConfinedReading(
            try export.content.known, password: password?.text,
            mebibytes: Self.large.contains(folder) ? 4096 : 512)
        #expect(reading.status == 0)
        let counts = reading.answer.split(separator: " ").compactMap { Int($0) }
        if expected.isEmpty {
            #expect(reading.answer.hasPrefix("noEntries"))
        } else {
            #expect(counts.reduce(0, +) == expected.count, "\(reading.answer)")
        }
    }
}
