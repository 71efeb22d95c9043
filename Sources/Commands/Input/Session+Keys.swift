import Arguments
import CommandRunner
import Cryptography
import OneTimePassword
import POSIX

// The key and the code parameters from the options.
extension Session {
    /// More bytes than any real key or URI has.
    static let secretLimit = 1 << 16

    /// The key from `--secret-file` or the terminal, tolerating the forms in which issuers print
    /// keys.
    func key() throws(CommandFailure) -> SecretBytes {
        let text: SecretBytes
        let place: String
        if let path = arguments[.secretFile] {
            let source = SecretSource(path)
            (text, place) = (try source.read(limit: Session.secretLimit), source.name)
        } else {
            (text, place) = (try Question.key.ask(), "the key")
        }
        let decoded: (secret: SecretBytes, tolerances: [Base32Deviation])
        do {
            decoded = try text.withBytes { bytes throws(Base32Error) in
                try Base32.decodeTolerantly(bytes)
            }
        } catch {
            throw .key(place, error)
        }
        guard decoded.secret.count > 0 else { throw .input(place, .empty) }
        for tolerance in decoded.tolerances {
            if let words = Messages.warning(of: tolerance) { printer.warn("\(place): \(words)") }
        }
        return decoded.secret
    }

    func algorithm() throws(CommandFailure) -> HashAlgorithm {
        let word = try usage { () throws(UsageError) in try arguments.choice(.algorithm) }
        return word.flatMap(HashAlgorithm.init(rawValue:)) ?? .sha1
    }

    func style() throws(CommandFailure) -> CodeStyle {
        let digits = try usage { () throws(UsageError) in
            try arguments.integer(.digits, in: 1...10)
        }
        do {
            return .decimal(try CodeLength(digits: digits ?? 6))
        } catch {
            throw .usage(.badValue(Option.digits.name, expected: "a whole number from 1 to 10"))
        }
    }

    func timeStep() throws(CommandFailure) -> TimeStep {
        let period = try usage { () throws(UsageError) in
            try arguments.integer(.period, in: 1...Int64(Int32.max))
        }
        var start: Int64 = 0
        if let text = arguments[.start] { start = try moment(of: .start, text) }
        do {
            return try TimeStep(period: period ?? 30, start: start)
        } catch {
            throw .usage(.badValue(Option.period.name, expected: "a whole number of seconds"))
        }
    }

    func counter() throws(CommandFailure) -> UInt64 {
        try usage { () throws(UsageError) in
            try arguments.integer(.counter, in: 0...UInt64.max) ?? 0
        }
    }
}
