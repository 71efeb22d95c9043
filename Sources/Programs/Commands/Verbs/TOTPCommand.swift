import CommandLineInterface
import OneTimePassword
import WatchwordCoding

/// `totp` and `hotp`: print codes without a vault.
enum TOTPCommand {
    /// The maximum value of `--count`.
    private static let countLimit = 1_000_000

    static func timeBased(_ session: Session) throws -> ExitCode {
        let step = try session.timeStep()
        let (algorithm, style) = (try session.algorithm(), try session.style())
        let count = try count(session)
        let moment = try session.moment()
        let generator = CodeGenerator(key: try session.key(), algorithm: algorithm, style: style)
        let first = try step.number(at: moment)
        session.warnAboutClock()
        try print(count, codes: generator, from: first, session) { _, offset in
            CodeFacts.timeBased(step, at: moment, offset: offset)
        }
        return .done
    }

    static func counterBased(_ session: Session) throws -> ExitCode {
        let (algorithm, style) = (try session.algorithm(), try session.style())
        let count = try count(session)
        let first = try session.counter()
        let generator = CodeGenerator(key: try session.key(), algorithm: algorithm, style: style)
        try print(count, codes: generator, from: first, session) { counter, _ in
            [("counter", .counter(counter)), ("type", .text("hotp"))]
        }
        return .done
    }

    /// Prints codes, beginning with the moving factor `first`.
    ///
    /// - Parameter facts: returns the JSON members for the code of a factor, given its distance
    ///   from the first.
    private static func print(
        _ count: Int, codes generator: borrowing CodeGenerator, from first: UInt64,
        _ session: Session,
        facts: (_ factor: UInt64, _ offset: UInt64) -> Record
    ) throws {
        for offset in 0..<UInt64(count) {
            // Stop after the largest moving factor.
            let (factor, isBeyond) = first.addingReportingOverflow(offset)
            guard !isBeyond else { break }
            let code = generator.code(at: factor).text
            try session.print([("code", .text(code))] + facts(factor, offset), orLine: code)
        }
    }

    private static func count(_ session: Session) throws -> Int {
        try session.arguments.integer(.count, in: 1...countLimit) ?? 1
    }
}
