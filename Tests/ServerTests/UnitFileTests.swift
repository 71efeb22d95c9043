import Foundation
import TestSupport
import Testing

private let systemd = ForeignProgram("systemd-analyze")

struct UnitFileTests {
    @Test(
        "systemd rates the documented unit as OK or better",
        .enabled(if: systemd != nil, "systemd is not installed"))
    func confinement() throws {
        let page = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Sources/Programs/ServerCommands/Operations.md"),
            encoding: .utf8)
        let unit = try #require(page.components(separatedBy: "```ini\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(unit.utf8), to: "watchword-server.service")
        // The exposure level times ten; below 2.0 is "OK".
        let outcome = try systemd?.run(["security", "--offline=yes", "--threshold=20", path])
        #expect(outcome?.status == 0)
    }
}
