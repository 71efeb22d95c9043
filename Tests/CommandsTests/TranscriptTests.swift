import Foundation
import TestSupport
import Testing

struct TranscriptTests {
    @Test("the program's output and status match the transcript", arguments: try Transcript.all())
    func transcript(_ name: String) throws {
        let folder = try TemporaryFolder()
        for step in try Transcript(named: name).steps {
            let outcome = try Transcript.run(step.command, in: folder)
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
}
