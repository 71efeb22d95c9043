import Foundation
import TestSupport
import Testing

private let systemd = ForeignProgram("systemd-analyze")

struct UnitFileTests {
    @Test(
        "systemd rates the server's unit as OK or better",
        .enabled(if: systemd != nil, "systemd is not installed"))
    func confinement() throws {
        let unit = try String(
            contentsOf: PackageFolder.root.appending(
                path: "Scripts/server/watchword-server.service"),
            encoding: .utf8
        ).replacing("@PREFIX@", with: "/usr")
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(unit.utf8), to: "watchword-server.service")
        // The exposure level times ten; below 2.0 is "OK".
        let outcome = try systemd?.run(["security", "--offline=yes", "--threshold=20", path])
        #expect(outcome?.status == 0)
    }
}
