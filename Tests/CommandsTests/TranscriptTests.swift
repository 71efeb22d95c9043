import Foundation
import TestSupport
import Testing

struct TranscriptTests {
    @Test(
        "the program's output and status match the transcript, with an agent and without one",
        arguments: try Transcript.all(), [false, true])
    func transcript(_ name: String, usesAgent: Bool) throws {
        let folder = try TemporaryFolder()
        let agent = usesAgent ? try TranscriptAgent() : nil
        let transcript = try Transcript(named: name)
        for step in transcript.steps {
            let outcome = try Transcript.run(
                step.command, in: folder, programs: step.allowsAgent ? agent?.programs : nil)
            let place = "\(name), line \(step.line): \(step.command)"
            #expect(outcome.status == step.status, "\(place)")
            #expect(
                Transcript.matches(outcome.output, step.output),
                "\(place)\nprinted:\n\(outcome.text)")
            #expect(
                Transcript.matches(outcome.errors, step.errors),
                "\(place)\nsaid:\n\(String(decoding: outcome.errors, as: UTF8.self))")
        }
        // If the shell could not start the agent's program, it would run the real one.
        if let agent { #expect(agent.wasUsed == transcript.usesAgent, "\(name)") }
    }
}
