import CommandLineInterface
import Foundation
import TestSupport
import Testing

@testable import ServerCommands

private let systemd = ForeignProgram("systemd-analyze")

/// The files for the server in the Debian package.
struct UnitFileTests {
    private func text(of name: String) throws -> String {
        try String(
            contentsOf: PackageFolder.root.appending(path: "Scripts/server/\(name)"),
            encoding: .utf8)
    }

    @Test(
        "systemd rates the server's unit as OK or better",
        .enabled(if: systemd != nil, "systemd is not installed"))
    func confinement() throws {
        let unit = try text(of: "watchword-server.service").replacing("@PREFIX@", with: "/usr")
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(unit.utf8), to: "watchword-server.service")
        // The exposure level times ten; below 2.0 is "OK".
        let outcome = try systemd?.run(["security", "--offline=yes", "--threshold=20", path])
        #expect(outcome?.status == 0)
    }

    @Test(
        "systemd opens each socket under the name and with the mode that the server expects",
        arguments: LocalSocketOptions.Socket.allCases)
    func sockets(_ socket: LocalSocketOptions.Socket) throws {
        let name = socket.rawValue
        let lines = try text(of: "watchword-\(name).socket").split(separator: "\n")
        for line in [
            "FileDescriptorName=\(name)", "ListenStream=/run/watchword/\(name)",
            "SocketMode=0\(String(socket.mode, radix: 8))", "Service=watchword-server.service",
        ] { #expect(lines.contains(Substring(line)), "\(line)") }
    }

    @Test("the settings file sets nothing, and contains examples of the server's options")
    func settings() throws {
        let folder = try TemporaryFolder()
        func names(in text: String) throws -> [String] {
            let path = try folder.write(Array(text.utf8), to: "server.conf")
            return try SettingsFile(reading: path).settings.map(\.name)
        }
        let text = try text(of: "server.conf")
        #expect(try names(in: text) == [])
        // Text after a number sign and a space is a comment.
        let examples = try names(in: text.replacing(/\n#(?=\w)/, with: "\n"))
        #expect(examples.contains("WATCHWORD_LISTEN"))
        let known = ServerVerb.serving.map(\.variable) + ["PGPASSFILE"]
        #expect(Set(examples).isSubset(of: known))
    }
}
