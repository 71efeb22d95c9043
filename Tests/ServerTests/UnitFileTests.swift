import Foundation
import TestSupport
import Testing

private let systemd = ForeignProgram("systemd-analyze")

struct UnitFileTests {
    @Test(
        "systemd finds the README's unit well enough confined",
        .enabled(if: systemd != nil, "systemd is not installed"))
    func confinement() throws {
        let readme = try String(
            contentsOf: PackageFolder.root.appending(path: "README.md"), encoding: .utf8)
        let unit = try #require(readme.components(separatedBy: "```ini\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(unit.utf8), to: "watchword-server.service")
        // Its mark times ten; below 2.0 is “OK”.
        let outcome = try systemd?.run(["security", "--offline=yes", "--threshold=20", path])
        #expect(outcome?.status == 0)
    }
}
