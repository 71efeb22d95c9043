internal import JSONReading
internal import TestSupport
package import WatchwordCoding
package import WatchwordCryptography

extension HTTPTranscript {
    /// A response that differs from the transcript.
    package struct Difference: Error, CustomStringConvertible {
        /// The step and the difference.
        package let description: String
    }

    /// Sends each request and compares the response.
    ///
    /// - Parameters:
    ///   - keys: API keys by their names in transcripts: `all`, and each scope.
    ///   - clock: the clock of the service.
    ///   - answer: sends a request to the service, in process or over a socket.
    /// - Throws: ``Difference`` for the first response that differs.
    package func run(
        keys: [String: SecretBytes], clock: TestClock,
        answer: (HTTPRequest) async throws -> HTTPResponse
    ) async throws {
        var memory = try TranscriptMemory(clock: clock)
        for step in steps {
            clock.advance(seconds: step.advance)
            let request = try memory.request(step, keys: keys)
            let response = try await answer(request)
            let said = response.body.text
            guard response.status == step.status else {
                throw Difference(
                    description: "\(step.name): status \(response.status), response \(said)")
            }
            for (name, value) in step.answerHeaders + [("Cache-Control", "no-store")] {
                guard response.value(of: name) == value else {
                    throw Difference(
                        description: "\(step.name): \(name): \(response.value(of: name) ?? "–")")
                }
            }
            if let expected = step.answer, step.method != "HEAD" {
                let value = try readJSON(
                    response.body, limits: JSONLimits(bytes: 1 << 20, depth: 16))
                guard memory.matches(value, expected) else {
                    throw Difference(description: "\(step.name): response \(said)")
                }
            }
        }
    }
}
