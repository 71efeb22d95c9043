internal import Cryptography
internal import OneTimePassword

/// What the sealed list of the entries says of one record.
struct ManifestEntry {
    let id: RecordID
    /// The generation in which the record was sealed last, as in its clear part.
    let revision: UInt64
    /// SHA-256 of the sealed box as the file has it, in Base64.
    let digest: [UInt8]
    /// What tells that two entries hold the same secret.
    let fingerprint: [UInt8]
    let created: Int64
    var issuer: String
    var account: String
    let traits: EntryTraits

    static let digestCount = 32
    static let printCount = 16
}

/// What an entry is, and how its codes are made, but for the key.
enum EntryTraits: Hashable {
    case totp(HashAlgorithm, CodeStyle, TimeStep)
    case hotp(HashAlgorithm, CodeStyle)
    case secret
    case enrolled

    var kind: EntryKind {
        switch self {
        case .totp: .totp
        case .hotp: .hotp
        case .secret: .secret
        case .enrolled: .enrolled
        }
    }
}

extension ManifestEntry {
    /// How many bytes the entry takes at most.
    var room: Int {
        RecordID.count + 8 + digest.count + fingerprint.count + 1 + 8 + 4 + issuer.utf8.count + 4
            + account.utf8.count + EntryTraits.room
    }

    func write(to output: inout OutputSpan<UInt8>) {
        output.append(copying: id.bytes.span)
        output.append(revision, bytes: 8)
        output.append(copying: digest.span)
        output.append(copying: fingerprint.span)
        output.append(UInt64(bitPattern: created), bytes: 8)
        output.append(string: Array(issuer.utf8).span)
        output.append(string: Array(account.utf8).span)
        traits.write(to: &output)
    }

    init(
        reading fields: inout SecretFields, in bytes: Span<UInt8>
    ) throws(SecretFields.Unreadable) {
        id = RecordID(bytes.extracting(try fields.take(RecordID.count, of: bytes)))
        revision = try fields.number(bytes, 8)
        digest = [UInt8](
            copying: bytes.extracting(try fields.take(ManifestEntry.digestCount, of: bytes)))
        fingerprint = [UInt8](
            copying: bytes.extracting(try fields.take(ManifestEntry.printCount, of: bytes)))
        created = Int64(bitPattern: try fields.number(bytes, 8))
        issuer = try fields.text(bytes, limit: VaultLimits.nameSize)
        account = try fields.text(bytes, limit: VaultLimits.nameSize)
        traits = try EntryTraits(reading: &fields, in: bytes)
    }
}

extension EntryTraits {
    // The numbers are the format's, so they stand here and in the page, and nowhere else.
    /// How many bytes the longest traits take.
    static let room = 19
    private static let algorithms: [HashAlgorithm] = [.sha1, .sha256, .sha512]

    func write(to output: inout OutputSpan<UInt8>) {
        switch self {
        case .totp(let algorithm, let style, let step):
            output.append(1)
            EntryTraits.write(algorithm, style, to: &output)
            output.append(UInt64(bitPattern: step.period), bytes: 8)
            output.append(UInt64(bitPattern: step.start), bytes: 8)
        case .hotp(let algorithm, let style):
            output.append(2)
            EntryTraits.write(algorithm, style, to: &output)
        case .secret:
            output.append(3)
        case .enrolled:
            output.append(4)
        }
    }

    private static func write(
        _ algorithm: HashAlgorithm, _ style: CodeStyle, to output: inout OutputSpan<UInt8>
    ) {
        switch algorithm {
        case .sha1: output.append(1)
        case .sha256: output.append(2)
        case .sha512: output.append(3)
        }
        switch style {
        case .steam: output.append(0)
        case .decimal(let length): output.append(UInt8(length.digits))
        }
    }

    init(
        reading fields: inout SecretFields, in bytes: Span<UInt8>
    ) throws(SecretFields.Unreadable) {
        switch try fields.number(bytes, 1) {
        case 1:
            let (algorithm, style) = try EntryTraits.read(&fields, bytes)
            let period = Int64(bitPattern: try fields.number(bytes, 8))
            let start = Int64(bitPattern: try fields.number(bytes, 8))
            do {
                self = .totp(algorithm, style, try TimeStep(period: period, start: start))
            } catch {
                throw SecretFields.Unreadable()
            }
        case 2:
            let (algorithm, style) = try EntryTraits.read(&fields, bytes)
            self = .hotp(algorithm, style)
        case 3: self = .secret
        case 4: self = .enrolled
        default: throw SecretFields.Unreadable()
        }
    }

    private static func read(
        _ fields: inout SecretFields, _ bytes: Span<UInt8>
    ) throws(SecretFields.Unreadable) -> (HashAlgorithm, CodeStyle) {
        let algorithm = try fields.number(bytes, 1)
        guard (1...3).contains(algorithm) else { throw SecretFields.Unreadable() }
        let digits = try fields.number(bytes, 1)
        do {
            let style: CodeStyle =
                digits == 0 ? .steam : .decimal(try CodeLength(digits: Int(digits)))
            return (algorithms[Int(algorithm) - 1], style)
        } catch {
            throw SecretFields.Unreadable()
        }
    }
}
