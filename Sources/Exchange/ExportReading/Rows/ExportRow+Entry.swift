internal import Exports
internal import OneTimePassword
internal import WatchwordCryptography

extension ExportRow {
    /// The maximum length of a secret in bytes.
    static let maximumSecretCount = 1 << 10
    /// The maximum length of a note or a tag in bytes.
    static let maximumTextCount = 1 << 20

    /// The entry that the row describes.
    ///
    /// - Throws: why the row is not an entry.
    func entry() throws(ExportRowRefusal) -> ExportedEntry {
        if let refusal { throw refusal }
        if case .field(let field) = secret { return try entry(ofField: field) }
        switch kind {
        case .unknown: throw .unknownType
        case .motp: return try entry(.notComputed(try motp()), warnings)
        case .totp, .hotp, .steam, .yandex: break
        }
        let (key, secretWarnings) = try key()
        var warnings = warnings + secretWarnings
        let content: ExportedEntry.Content
        if kind == .yandex {
            content = .notComputed(try uncomputed(.yandex, key))
        } else {
            content = .oneTimePassword(try credential(key, &warnings))
        }
        return try entry(content, warnings)
    }

    /// The entry with `content` and the row's other values.
    func entry(
        _ content: ExportedEntry.Content, _ warnings: [ExportWarning]
    ) throws(ExportRowRefusal) -> ExportedEntry {
        var known: Set<String> = []
        let tags = tags.map(\.trimmed).filter { !$0.isEmpty && known.insert($0).inserted }
        for text in tags + [note, icon] where text.utf8.count > Self.maximumTextCount {
            throw .tooLong
        }
        for text in tags + [note, icon, issuer, account] where text.utf8.contains(0) {
            throw .malformed
        }
        var entry = ExportedEntry(
            content: content, tags: tags, note: note, icon: icon, isFavourite: isFavourite)
        entry.state = state
        entry.line = line
        entry.warnings = warnings
        if case .oneTimePassword(let credential) = content {
            entry.warnings += credential.warnings.map(ExportWarning.credential)
            entry.lastUsedStep = lastUse.step(of: credential)
        }
        return entry
    }

    /// The refusal that is reported for a row that is not an entry.
    func refused(_ reason: ExportRowRefusal) -> ExportRefusal {
        var (issuer, account) = names
        if issuer.isEmpty, account.isEmpty, case .field(let field) = secret {
            account = field.withBytes(KeyURIParts.label).trimmed
        }
        let isUsable = [issuer, account].allSatisfy {
            $0.utf8.count <= KeyURI.maximumCount && !$0.utf8.contains(0)
        }
        return ExportRefusal(
            row: number, line: line, issuer: isUsable ? issuer : "",
            account: isUsable ? account : "",
            reason: state == .deleted ? .unreadableDeleted : reason)
    }

    /// The names without surrounding spaces, and the account without the issuer before it.
    var names: (issuer: String, account: String) {
        let issuer = issuer.trimmed
        let account = account.trimmed
        let prefix = "\(issuer):"
        guard !issuer.isEmpty, account.utf8.starts(with: prefix.utf8) else {
            return (issuer, account)
        }
        let rest = account.utf8.dropFirst(prefix.utf8.count)
        return (issuer, String(decoding: Array(rest), as: UTF8.self).trimmed)
    }

    /// The row's code of a kind that Watchword does not compute.
    func uncomputed(
        _ kind: UncomputedCode.Kind, _ secret: SecretBytes
    ) throws(ExportRowRefusal) -> UncomputedCode {
        let (issuer, account) = names
        guard issuer.utf8.count + account.utf8.count <= KeyURI.maximumCount else { throw .tooLong }
        return UncomputedCode(
            kind: kind, issuer: issuer, account: account, secret: secret, pin: pin)
    }

    // MARK: - Secrets

    private func key() throws(ExportRowRefusal) -> (SecretBytes, [ExportWarning]) {
        let key: SecretBytes
        var warnings: [ExportWarning] = []
        switch secret {
        case .none: throw .noSecret
        case .base32(let text):
            guard let decoded = text.decodedBase32() else { throw .badSecret }
            key = decoded.secret
            if decoded.tolerances.contains(.strayCharacter) { warnings = [.incompleteSecret] }
        case .hex(let text):
            guard let decoded = text.decodedHex() else { throw .badSecret }
            key = decoded
        case .bytes(let bytes), .text(let bytes): key = bytes
        case .field: throw .malformed  // A field is more than a single secret.
        }
        try Self.check(key)
        return (key, warnings)
    }

    /// Refuses a secret that is empty or too long.
    static func check(_ secret: SecretBytes) throws(ExportRowRefusal) {
        guard secret.count > 0 else { throw .noSecret }
        guard secret.count <= maximumSecretCount else { throw .secretTooLong }
    }

    /// Mobile-OTP hashes the secret's text as written, so it is kept as text.
    ///
    /// It should be hexadecimal digits, but apps accept any letters and digits.
    private func motp() throws(ExportRowRefusal) -> UncomputedCode {
        let secret: SecretBytes
        switch self.secret {
        case .none: throw .noSecret
        case .text(let text): secret = text
        case .base32, .hex, .bytes, .field: throw .badSecret
        }
        try Self.check(secret)
        let isAlphanumeric = secret.withBytes { text in
            text.indices.allSatisfy { text[$0].isASCIIAlphanumeric }
        }
        guard isAlphanumeric else { throw .badSecret }
        return try uncomputed(.motp, secret)
    }

    // MARK: - Parameters

    private func credential(
        _ key: SecretBytes, _ warnings: inout [ExportWarning]
    ) throws(ExportRowRefusal) -> Credential {
        let (issuer, account) = names
        let (algorithm, style) = try algorithmAndStyle(&warnings)
        var movingFactor = try movingFactor()
        if case .counter(let counter) = movingFactor {
            let generator = CodeGenerator(key: key, algorithm: algorithm, style: style)
            movingFactor = .counter(lastUse.nextCounter(from: counter, generator))
        }
        // The key is not empty, the names were trimmed, and there are no other parameters.
        return try refusing(as: .tooLong) {
            try Credential(
                issuer: issuer, account: account, key: key, algorithm: algorithm, style: style,
                movingFactor: movingFactor)
        }
    }

    private func algorithmAndStyle(
        _ warnings: inout [ExportWarning]
    ) throws(ExportRowRefusal) -> (HashAlgorithm, CodeStyle) {
        let written = (algorithm ?? "").trimmed
        let algorithm = written.isEmpty ? .sha1 : HashAlgorithm(spelling: written)
        if kind == .steam {
            // Steam's values are fixed, whatever the file states.
            if algorithm != .sha1 || !digits.isAbsent(or: Int64(CodeStyle.steamLength))
                || !period.isAbsent(or: TimeStep.standard.period)
            {
                warnings.append(.steamParameters)
            }
            return (.sha1, .steam)
        }
        guard let algorithm else { throw .unknownAlgorithm }
        switch digits {
        case .absent: return (algorithm, .decimal(.six))
        case .value(let value):
            guard let length = CodeLength(digits: Int(clamping: value)) else { throw .badDigits }
            return (algorithm, .decimal(length))
        case .large, .malformed: throw .badDigits
        }
    }

    private func movingFactor() throws(ExportRowRefusal) -> MovingFactor {
        switch kind {
        case .steam: return .time(.standard)
        case .hotp:
            switch counter {
            // FreeOTP stores -1 for a token that has not been used.
            case .absent, .value(-1): return .counter(0)
            case .value(let value):
                guard let counter = UInt64(exactly: value) else { throw .badCounter }
                return .counter(counter)
            case .large(let counter): return .counter(counter)
            case .malformed: throw .badCounter
            }
        default:
            switch period {
            case .absent: return .time(.standard)
            case .value(let value):
                guard let step = TimeStep(period: value) else { throw .badPeriod }
                return .time(step)
            case .large, .malformed: throw .badPeriod
            }
        }
    }
}

extension ExportRow.Number {
    fileprivate func isAbsent(or value: Int64) -> Bool {
        self == .absent || self == .value(value)
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

/// The information in a server's file about the last code that the server accepted.
enum LastUse {
    case unknown
    /// The time step of the code.
    case step(UInt64)
    /// The code itself, and the local time, in an unknown time zone, at which it was accepted.
    case code([UInt8], time: Int64?)

    /// How many time steps early or late a server may accept a code; users rarely configure more.
    private static let window = 20
    /// The greatest offsets of local time behind and ahead of UTC, in seconds.
    private static let zones: (behind: Int64, ahead: Int64) = (12 * 3_600, 14 * 3_600)

    /// The counter of the next code; `counter` belongs to the last or to the next code.
    ///
    /// After a use, liboath writes the last code and its counter; before the first use, it writes
    /// the counter of the next code.
    func nextCounter(from counter: UInt64, _ generator: borrowing CodeGenerator) -> UInt64 {
        guard case .code(let code, _) = self, counter < .max,
            generator.match(code.span, around: counter, behind: 0, ahead: 0) != nil
        else { return counter }
        return counter + 1
    }

    /// The time step of the last code; `nil` if it is unknown.
    func step(of credential: Credential) -> UInt64? {
        guard case .time(let timeStep) = credential.movingFactor else { return nil }
        switch self {
        case .unknown, .code(_, time: nil): return nil
        case .step(let step): return step
        case .code(let code, let time?):
            return Self.step(
                of: code, at: time, period: timeStep.period, credential.generator())
        }
    }

    /// The time step near `time` that has this code.
    ///
    /// If no step near that time in UTC matches, the time is in another zone. The latest matching
    /// step of any zone is then the safe choice, because no code can be accepted twice. If no step
    /// matches at all, the result is the step of `time`.
    private static func step(
        of code: [UInt8], at time: Int64, period: Int64, _ generator: borrowing CodeGenerator
    ) -> UInt64? {
        guard let written = step(at: time, period: period) else { return nil }
        if let offset = generator.match(
            code.span, around: written, behind: window, ahead: window)
        {
            return written.advanced(by: offset)
        }
        guard let first = step(at: time - zones.ahead, period: period),
            let last = step(at: time + zones.behind, period: period)
        else { return written }
        for step in stride(from: last + UInt64(window), through: first, by: -1)
        where generator.match(code.span, around: step, behind: 0, ahead: 0) != nil {
            return step
        }
        return written
    }

    private static func step(at time: Int64, period: Int64) -> UInt64? {
        UInt64(exactly: time / period)
    }
}
