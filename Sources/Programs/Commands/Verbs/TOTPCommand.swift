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
        for offset in 0..<UInt64(count) {
            // Stop at the last step that exists.
            let (factor, isBeyond) = first.addingReportingOverflow(offset)
            guard !isBeyond else { break }
            let code = generator.code(at: factor)
            try session.print(
                [("code", .text(code.text))]
                    + CodeFacts.timeBased(step, at: moment, offset: offset), orLine: code.text)
        }
        return .done
    }

    static func counterBased(_ session: Session) throws -> ExitCode {
        let (algorithm, style) = (try session.algorithm(), try session.style())
        let count = try count(session)
        let first = try session.counter()
        let generator = CodeGenerator(key: try session.key(), algorithm: algorithm, style: style)
        for offset in 0..<UInt64(count) {
            let (counter, isBeyond) = first.addingReportingOverflow(offset)
            guard !isBeyond else { break }
            let code = generator.code(at: counter)
            try session.print(
                [
                    ("code", .text(code.text)), ("counter", .counter(counter)),
                    ("type", .text("hotp")),
                ], orLine: code.text)
        }
        return .done
    }

    private static func count(_ session: Session) throws -> Int {
        try session.arguments.integer(.count, in: 1...countLimit) ?? 1
    }
}
