import CommandLineInterface
import OneTimePassword
import WatchwordCryptography
import WatchwordSystem

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
        guard key.count > 0 else { throw CommandFailure.at(place, FileError.empty) }
        return key
    }

    /// Whether keys are hexadecimal.
    func isHex() throws -> Bool {
        try arguments.choice(.encoding) == "hex"
    }

    private func hexKey(_ written: KeyText) throws -> SecretBytes {
        try CommandFailure.naming(visible: written.place) {
            try written.text.withoutLastLineEnd().withBytes { try Hexadecimal.decode($0) }
        }
    }

    /// Tolerates the forms in which issuers print keys.
    private func base32Key(_ written: KeyText) throws -> SecretBytes {
        let decoded = try CommandFailure.naming(visible: written.place) {
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

/// The text of a key as entered, and its source.
struct KeyText {
    let text: SecretBytes
    let place: String
}

extension SecretForm {
    /// The kind of secret that `name` looks like; `nil` for an ordinary name.
    ///
    /// Every letter is Base32, so a name can also be a valid key. A false alarm makes a name
    /// unusable, but a missed key is only as bad as no check. Therefore only texts with all of
    /// these properties are treated as keys:
    /// - They have at least 16 characters without spaces and dashes: shorter keys (under 80 bits)
    ///   are rare, and longer names are too.
    /// - They contain a digit from 2 to 7, as 96% of 80-bit keys do, unlike most names. They
    ///   contain no other digit and no punctuation, so addresses and domains are names.
    /// - All letters have the same case, unlike in most names.
    /// - Spaces or dashes divide them into short groups of equal length, as issuers print keys;
    ///   words have different lengths.
    /// - Not all characters are lowercase hexadecimal digits, because they are an entry's id then.
    init?(inName name: String) {
        let bytes = Array(name.utf8)
        if let form = SecretForm(inURI: bytes.span) {
            self = form
        } else if SecretForm.isKey(bytes) {
            self = .key
        } else {
            return nil
        }
    }

    /// The kind of secret in a URI; `nil` for any other text.
    init?(inURI text: String) { self.init(inURI: Array(text.utf8).span) }

    /// The kind of secret in a URI; `nil` for any other text.
    init?(inURI whole: Span<UInt8>) {
        let text = whole.extracting(whole.rangeWithoutSpaces)
        if text.hasPrefixIgnoringCase("otpauth:") || KeyURI.isKeyURI(text) {
            self = .keyURI
        } else if SecretForm.otherSchemes.contains(where: { text.hasPrefixIgnoringCase($0) }) {
            self = .exportURI
        } else {
            return nil
        }
    }

    private static let otherSchemes = ["otpauth-migration:", "steam://", "motp://"]
    private static let shortestKey = 16
    private static let longestGroup = 6

    private static func isKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= shortestKey else { return false }
        let separators: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "-")]
        let groups = bytes.split { separators.contains($0) }
        guard let first = groups.first, let last = groups.last,
            groups.count == 1 || first.count <= longestGroup,
            groups.dropLast().allSatisfy({ $0.count == first.count }), last.count <= first.count
        else { return false }
        var characters = bytes.filter { !separators.contains($0) }
        // A key ends with its padding.
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        let digits = UInt8(ascii: "2")...UInt8(ascii: "7")
        let hasDigit = characters.contains(where: digits.contains)
        let isUpper = characters.allSatisfy {
            digits.contains($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        let isLower = characters.allSatisfy {
            digits.contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
        }
        let mayBeID = characters.allSatisfy {
            digits.contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        return characters.count >= shortestKey && hasDigit && (isUpper || isLower) && !mayBeID
    }
}
