internal import WatchwordCoding
internal import WatchwordCryptography

/// The response of a route, as bytes, so that the response can be stored and sent again.
struct RenderedResponse: Sendable {
    let status: Status
    /// The content; empty if the response has none.
    let body: SecretBytes
    /// The decision as one word, for logs and metrics.
    let outcome: String

    init(_ success: Success, _ body: SecretBytes, outcome: String) {
        status = success.status
        self.body = body
        self.outcome = outcome
    }

    /// A response with a JSON object.
    static func answered(_ members: [(String, JSONValue)], outcome: String) -> RenderedResponse {
        RenderedResponse(.answered, JSONValue.object(members).rendered(), outcome: outcome)
    }

    /// A response to a request that created an object.
    static func made(_ members: [(String, JSONValue)]) -> RenderedResponse {
        RenderedResponse(.made, JSONValue.object(members).rendered(), outcome: "made")
    }

    /// A successful response without content.
    static var done: RenderedResponse {
        RenderedResponse(.done, SecretBytes(copying: [UInt8]().span), outcome: "done")
    }

    /// A decision that is sent to the client as a problem.
    init(_ problem: Problem) {
        status = problem.status
        body = problem.json.rendered()
        outcome = problem.name
    }

    /// Reads the output of ``kept()``; `nil` if the bytes have another format.
    init?(kept: SecretBytes) {
        let head = kept.withBytes { bytes -> Int? in
            guard bytes.count >= 3, bytes[0] == Self.format else { return nil }
            return Int(bytes[1]) << 8 | Int(bytes[2])
        }
        guard let status = head.flatMap(Status.init(rawValue:)) else { return nil }
        self.status = status
        body = kept.withBytes { SecretBytes(copying: $0.extracting(3...)) }
        outcome = "repeated"
    }

    /// The response in its stored form: one byte for the format, two for the status, then the
    /// content.
    func kept() -> SecretBytes {
        SecretBytes(capacity: body.count + 3) { output in
            output.append(Self.format)
            output.append(UInt8(truncatingIfNeeded: status.rawValue >> 8))
            output.append(UInt8(truncatingIfNeeded: status.rawValue))
            body.withBytes { output.append(copying: $0) }
        }
    }

    private static let format: UInt8 = 1
}

/// The rejection of a request, before a decision or in its place.
struct Refusal: Error, Hashable, Sendable {
    /// The problem in the response.
    let problem: Problem
    /// The cause for the operator's log; the cause never contains a secret.
    let cause: String?

    init(_ problem: Problem, cause: String? = nil) {
        self.problem = problem
        self.cause = cause
    }
}
