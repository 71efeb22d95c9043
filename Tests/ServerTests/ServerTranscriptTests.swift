import Foundation
import TestSupport
import Testing

/// The transcripts of `watchword-server`.
struct ServerTranscriptTests {
    static func run(
        _ name: String, in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws {
        for step in try Transcript(named: name).steps {
            let outcome = try await onOwnThread {
                try Transcript.run(step.command, in: folder, environment: environment)
            }
            let place = "\(name), line \(step.line): \(step.command)"
            #expect(outcome.status == step.status, "\(place)")
            #expect(
                Transcript.matches(outcome.output, step.output),
                "\(place)\nprinted:\n\(outcome.text)")
            #expect(
                Transcript.matches(outcome.errors, step.errors),
                "\(place)\nsaid:\n\(String(decoding: outcome.errors, as: UTF8.self))")
        }
    }

    @Test(
        "the program's output and status match the transcript",
        arguments: try Transcript.all(in: "server"))
    func transcript(_ name: String) async throws {
        let folder = try TemporaryFolder()
        // Without it, root's commands would be about the server that is installed here, if any.
        try await Self.run(
            name, in: folder, environment: ["XDG_STATE_HOME": folder.file(".local/state")])
    }

    @Test("a help desk's commands print the same output over the API as on the database")
    func helpDesk() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        try state.folder.write(Array(try await state.makeKey().utf8), to: "desk.key")
        try await Self.run(
            "server/help-desk.transcript", in: state.folder,
            environment: [
                "XDG_STATE_HOME": state.folder.path,
                "DESK": "--server http://127.0.0.1:\(server.port) --api-key-file desk.key",
            ])
        #expect(try await server.stop() == 0)
    }
}
