import Foundation
import TestSupport
import Testing

/// Commands on a terminal, and all of their output.
struct TerminalTranscriptTests {
    @Test(
        "each command asks and prints on a terminal as in the transcript, while the agent is used",
        arguments: ["agent", "agent-keys"])
    func agent(transcript: String) throws {
        let folder = try TemporaryFolder()
        let server = try LoginServer(certificate: "good")
        try folder.write(try TestCertificates.authority(), to: "ca.pem")
        let environment = [
            "XDG_RUNTIME_DIR": folder.file("run"), "SERVER": "https://localhost:\(server.port)",
        ]
        try FileManager.default.createDirectory(
            atPath: folder.file("run"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer {
            do {
                _ = try Transcript.run("XDG_RUNTIME_DIR=$PWD/run watchword agent stop", in: folder)
            } catch {}
        }
        let name = "terminal/\(transcript).transcript"
        for step in try Transcript(named: name).steps {
            let place = "\(name), line \(step.line): \(step.command)"
            let terminal = try PseudoTerminal(step.command, in: folder, environment: environment)
            let (status, shown) = try step.run(on: terminal)
            #expect(status == step.status, "\(place)")
            #expect(
                Transcript.matches(Array(shown.utf8), step.output), "\(place)\nshowed:\n\(shown)")
        }
    }
}
