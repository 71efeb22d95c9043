import CommandLineInterface
import OneTimePassword
import WatchwordCryptography
import WatchwordSystem

// The key and the code parameters from the options.
extension Session {
    /// More bytes than any real key or URI has.
    static let secretLimit = 1 << 16

    /// The key from `--secret-file` or the terminal.
    func key() throws -> SecretBytes {
        try key(from: keyText(asking: .key))
    }

    /// The text of `--secret-file`, or the answer to `question`.
    func keyText(asking question: Question) throws -> KeyText {
        guard let path = arguments[.secretFile] else {
            return KeyText(text: try question.ask(), place: "the key")
        }
        let source = SecretSource(path)
        return KeyText(text: try source.read(limit: Session.secretLimit), place: source.name)
    }

    /// Decodes a key in the encoding of `--encoding`.
    func key(from written: KeyText) throws -> SecretBytes {
        let place = written.place
        if let form = written.text.withBytes({ SecretForm(inURI: $0) }) {
            throw CommandFailure.uriForKey(place, form)
        }
        let key = try isHex() ? hexKey(written) : base32Key(written)
        guard key.count > 0 else { throw CommandFailure.at(place, InputFileError.empty) }
        return key
    }

    /// Whether keys are hexadecimal.
    func isHex() throws -> Bool {
        try arguments.choice(.encoding) == "hex"
    }

    private func hexKey(_ written: KeyText) throws -> SecretBytes {
        try CommandFailure.naming(written.place) {
            try written.text.withoutLastLineEnd().withBytes { try Hexadecimal.decode($0) }
        }
    }

    /// Tolerates the forms in which issuers print keys.
    private func base32Key(_ written: KeyText) throws -> SecretBytes {
        let decoded = try CommandFailure.naming(written.place) {
            try written.text.withBytes { try Base32.decodeTolerantly($0) }
        }
        for tolerance in decoded.tolerances {
            guard let words = Messages.warning(of: tolerance) else { continue }
            printer.warn("\(written.place): \(words)")
        }
        return decoded.secret
    }

    func algorithm() throws -> HashAlgorithm {
        let word = try arguments.choice(.algorithm)
        return word.flatMap(HashAlgorithm.init(rawValue:)) ?? .sha1
    }

    func style() throws -> CodeStyle {
        let digits = try arguments.integer(.digits, in: 1...10)
        guard let length = CodeLength(digits: digits ?? 6) else {
            throw UsageError.badValue(Option.digits.name, expected: "a whole number from 1 to 10")
        }
        return .decimal(length)
    }

    func timeStep() throws -> TimeStep {
        let period = try arguments.integer(.period, in: 1...Int64(Int32.max))
        var start: Int64 = 0
        if let text = arguments[.start] { start = try moment(of: .start, text) }
        guard let step = TimeStep(period: period ?? 30, start: start) else {
            throw UsageError.badValue(Option.period.name, expected: "a whole number of seconds")
        }
        return step
    }

    func counter() throws -> UInt64 {
        try arguments.integer(.counter, in: 0...UInt64.max) ?? 0
    }
}

/// A key as it was written, and where.
struct KeyText {
    let text: SecretBytes
    let place: String
}
