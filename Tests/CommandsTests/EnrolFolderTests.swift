import Foundation
import TestSupport
import Testing

/// `Scripts/enrol-folder` with the real program; its own logic has unit tests in Python.
struct EnrolFolderTests {
    @Test(
        "enrol-folder turns a folder into a vault; a second run changes nothing",
        .enabled(if: ForeignProgram("python3") != nil, "python3 is not installed"))
    func folder() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("in"), withIntermediateDirectories: false)
        let uris = ["ann", "bob"].map {
            "otpauth://totp/Acme:\($0)?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3P\($0 == "ann" ? "XP" : "XA")"
        }
        try folder.write(Array(uris.joined(separator: "\n").utf8), to: "in/uris.txt")
        let users = "HOTP carl - 3132333435363738393031323334353637383930 7\n"
        try folder.write(Array(users.utf8), to: "in/users.oath")
        try folder.write(Array("correct horse\n".utf8), to: "pass")
        let first = try run(folder)
        #expect(first.status == 0)
        #expect(first.counts == ["added": 3, "skipped": 0, "refused": 0, "unread": 0])
        #expect(first.created)
        let vault = try folder.bytes(of: "vault")
        let second = try run(folder)
        #expect(second.status == 0 && !second.created)
        #expect(second.counts == ["added": 0, "skipped": 3, "refused": 0, "unread": 0])
        #expect(try folder.bytes(of: "vault") == vault)
        try folder.write(Array("nonsense".utf8), to: "in/other.txt")
        let third = try run(folder)
        #expect(third.status == 1 && third.counts["unread"] == 1)
        #expect(try folder.bytes(of: "vault") == vault)
        try folder.write(Array("wrong\n".utf8), to: "pass")
        #expect(try run(folder).status == 4)
    }

    private func run(
        _ folder: TemporaryFolder
    ) throws -> (status: Int32, created: Bool, counts: [String: Int]) {
        let python = try #require(ForeignProgram("python3"))
        let script = PackageFolder.root.appending(path: "Scripts/enrol-folder").path
        let programs = URL(filePath: BuiltProgram.path("watchword")).deletingLastPathComponent()
        let outcome = try python.run(
            [
                script, folder.file("in"), "--vault", folder.file("vault"), "--passphrase-file",
                folder.file("pass"),
            ],
            environment: [
                "PATH": "\(programs.path):/usr/bin:/bin", "HOME": folder.path, "LC_ALL": "C.UTF-8",
                "PYTHONDONTWRITEBYTECODE": "1",
            ])
        let report = try? JSONSerialization.jsonObject(with: Data(outcome.output))
        let facts = report as? [String: Any] ?? [:]
        return (
            outcome.status, facts["created"] as? Bool ?? false,
            facts["counts"] as? [String: Int] ?? [:]
        )
    }
}
