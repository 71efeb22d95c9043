internal import Cryptography
internal import JSONText

/// What a route answers, as bytes, so that it can be kept and given again.
struct Answer: Sendable {
    /// The status.
    let status: Status
    /// The content; none when there is nothing to say.
    let body: SecretBytes
    /// What was decided, in a word for logs and metrics.
    let outcome: String

    /// Takes what is to be said.
    init(_ success: Success, _ body: SecretBytes, outcome: String) {
        status = success.status
        self.body = body
        self.outcome = outcome
    }

    /// There is something to say.
    static func answered(_ members: [(String, JSONValue)], outcome: String) -> Answer {
        Answer(.answered, JSONValue.object(members).rendered(), outcome: outcome)
    }

    /// Something new is there.
    static func made(_ members: [(String, JSONValue)]) -> Answer {
        Answer(.made, JSONValue.object(members).rendered(), outcome: "made")
    }

    /// It is done, and there is nothing to say.
    static var done: Answer { Answer(.done, SecretBytes(copying: [UInt8]().span), outcome: "done") }

    /// A decision that is a problem for who asked.
    init(_ problem: Problem) {
        status = problem.status
        body = problem.json.rendered()
        outcome = problem.name
    }

    /// Reads what ``kept()`` wrote; nothing when it is something else.
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

    /// The answer to keep: a byte for the format, two for the status, and the content.
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

/// A request that ends without an answer of its route.
struct Refusal: Error, Sendable {
    /// What the client is told.
    let problem: Problem
    /// What the operator is told beyond that; no secret.
    let cause: String?

    init(_ problem: Problem, cause: String? = nil) {
        self.problem = problem
        self.cause = cause
    }
}
