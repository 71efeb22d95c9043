import Foundation
import TestSupport
import Testing
import WatchwordSystem

struct ProgramVersionTests {
    private static let helpers = [
        "watchword-clipboard", "watchword-courier", "watchword-exports", "watchword-presence",
        "watchword-reader",
        "watchword-screenshot", "watchword-token",
    ]

    @Test(
        "every program prints the same version",
        arguments: ["watchword", "watchword-agent", "watchword-enrol", "watchword-server"] + helpers
    )
    func version(_ name: String) throws {
        let outcome = try ForeignProgram(path: BuiltProgram.path(name)).run(["--version"])
        #expect(outcome.text == "\(name) \(ProgramVersion.text)\n")
        #expect(outcome.errors == [])
        #expect(outcome.status == 0)
    }

    @Test("Changes.md begins with this version")
    func changes() throws {
        let page = try String(
            contentsOf: PackageFolder.root.appending(path: "Sources/Changes.md"), encoding: .utf8)
        let versions = page.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(versions.first == "## \(ProgramVersion.text)")
    }

    @Test("a helper program refuses arguments", arguments: helpers)
    func refusal(_ name: String) throws {
        let outcome = try ForeignProgram(path: BuiltProgram.path(name)).run(["file"])
        #expect(outcome.text == "")
        #expect(
            String(decoding: outcome.errors, as: UTF8.self) == "\(name) takes no arguments.\n")
        #expect(outcome.status == 2)
    }
}
