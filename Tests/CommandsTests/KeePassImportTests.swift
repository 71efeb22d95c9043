import Foundation
import TestSupport
import Testing

struct KeePassImportTests {
    private struct Vector: Decodable {
        struct Case: Decodable {
            let file: Data
            let entries: [String]
        }
        let cases: [Case]
    }

    // Swift 6.3.1 miscompiled the search for the recycle bin in the release build.
    @Test("the program imports a KeePass database with a recycle bin")
    func recycleBin() throws {
        let file = PackageFolder.root.appending(path: "Vectors/exports/keepass.json")
        let vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
        let database = try #require(vector.cases.first)
        let vault = try VaultFixture([])
        try vault.folder.write(Array("pw\n".utf8), to: "pw.txt")
        try vault.folder.write(Array(database.file), to: "entries.kdbx")
        try vault.run(
            "watchword import -q --passphrase-file pass.txt --export-password-file pw.txt entries.kdbx"
        )
        let live = database.entries.filter { !$0.hasSuffix(" deleted") }
        let names = try vault.run("watchword list --names --passphrase-file pass.txt").text
        #expect(names.split(separator: "\n").count == live.count)
    }
}
