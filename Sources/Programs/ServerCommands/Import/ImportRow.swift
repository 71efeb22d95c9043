import Exports
import OneTimePassword
import Verification

/// A row of another server's file, checked for the import.
struct ImportRow: Sendable {
    /// Counted from one.
    let number: Int
    /// The user's name; empty if the row has none.
    let subject: String
    let content: Content

    /// What is imported.
    enum Content: Sendable {
        case key(OneTimePasswordImport, Subject)
        case refused(Refusal)
    }

    /// The result of importing the row.
    enum Result: Sendable {
        case imported(CredentialID)
        case present(CredentialID)
        case refused(Refusal)
    }

    /// Why a row is refused; the raw value is its name in JSON.
    enum Refusal: String, Error, CaseIterable {
        case noKey = "no-key"
        case badKey = "bad-key"
        case keyTooShort = "key-too-short"
        case keyTooLong = "key-too-long"
        case unknownType = "unknown-type"
        case unknownAlgorithm = "unknown-algorithm"
        case badDigits = "bad-digits"
        case badPeriod = "bad-period"
        case badCounter = "bad-counter"
        case malformed = "malformed"
        case noSubject = "no-subject"
        case badSubject = "bad-subject"
        case keyInUse = "key-in-use"
        case tooManyCredentials = "too-many-credentials"
        case usedInFuture = "used-in-future"
    }

    /// Whether the key has fewer than 128 bits.
    var hasShortKey: Bool {
        if case .key(let given, _) = content { given.hasShortKey } else { false }
    }

    /// Checks an entry.
    ///
    /// - Parameter user: replaces the user's name in the file.
    init(_ number: Int, _ entry: ExportedEntry, user: String?, allowsShortKeys: Bool) {
        self.number = number
        guard case .oneTimePassword(let credential) = entry.content else {
            subject = user ?? ""
            content = .refused(.unknownType)
            return
        }
        subject = user ?? credential.account
        do throws(Refusal) {
            guard !subject.isEmpty else { throw .noSubject }
            guard let checked = Subject(subject) else { throw .badSubject }
            content = .key(
                try Self.key(credential, entry.lastUsedStep, allowsShortKeys), checked)
        } catch {
            content = .refused(error)
        }
    }

    /// A row that the reader refused.
    init(_ number: Int, refusedFor reason: ExportRowRefusal) {
        self.number = number
        subject = ""
        content = .refused(Refusal(reason))
    }

    private static func key(
        _ credential: Credential, _ lastUsedStep: UInt64?, _ allowsShortKeys: Bool
    ) throws(Refusal) -> OneTimePasswordImport {
        guard case .decimal(let length) = credential.style else { throw .unknownType }
        let factor: OneTimePasswordImport.Factor
        switch credential.movingFactor {
        case .counter(let counter): factor = .counter(counter)
        case .time(let step):
            guard step.start == 0 else { throw .unknownType }
            guard let period = Int(exactly: step.period) else { throw .badPeriod }
            factor = .time(period: period, lastUsedStep: lastUsedStep)
        }
        do throws(VerifierError) {
            return try OneTimePasswordImport(
                key: credential.key, allowingShortKey: allowsShortKeys, factor: factor,
                algorithm: credential.algorithm, digits: length.digits, name: credential.issuer,
                isConfirmed: true)
        } catch {
            guard case .enrolment(let fault) = error else { throw .malformed }
            switch fault {
            case .keyTooShort: throw .keyTooShort
            case .keyTooLong: throw .keyTooLong
            case .digits: throw .badDigits
            case .period: throw .badPeriod
            case .counter: throw .badCounter
            case .text: throw .malformed
            }
        }
    }
}

extension ImportRow.Result {
    init(_ outcome: ImportOutcome) {
        self =
            switch outcome {
            case .imported(let id, _): .imported(id)
            case .present(let id): .present(id)
            case .refused(.keyInUse): .refused(.keyInUse)
            case .refused(.tooMany): .refused(.tooManyCredentials)
            case .refused(.usedInFuture): .refused(.usedInFuture)
            // An import has no audience, and replaces nothing.
            case .refused(.unknownClient), .refused(.unknownCredential),
                .refused(.pendingCredential), .refused(.foreignCredential):
                .refused(.malformed)
            }
    }

    /// The result in JSON.
    var word: String {
        switch self {
        case .imported: "imported"
        case .present: "present"
        case .refused: "refused"
        }
    }

    var isImportedOrPresent: Bool { if case .refused = self { false } else { true } }
}

extension ImportRow.Refusal {
    fileprivate init(_ reason: ExportRowRefusal) {
        self =
            switch reason {
            case .noSecret: .noKey
            case .badSecret: .badKey
            case .secretTooLong: .keyTooLong
            case .unknownAlgorithm: .unknownAlgorithm
            case .unknownType: .unknownType
            case .badDigits: .badDigits
            case .badPeriod: .badPeriod
            case .badCounter: .badCounter
            default: .malformed
            }
    }
}
