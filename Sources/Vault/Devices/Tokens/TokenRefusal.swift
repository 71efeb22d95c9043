internal import WatchwordCryptography
public import WatchwordSystem

/// Why a device did not do what was asked.
public enum TokenRefusal: Error, Hashable, Sendable {
    // Any device.
    /// There is no such device.
    case noDevice
    /// This user may not open the device.
    case noPermission
    /// Other programs use the device, or all the room in it.
    case busy
    /// The secret or credential was made by another device, or the device was reset since then.
    case otherDevice
    /// The PIN was wrong too often for one command; the device allows this many more attempts.
    case wrongPIN(left: UInt32?)
    /// No PIN was given.
    case noPIN
    /// A call failed, with the library's code.
    case failed(call: String, code: UInt32)
    /// The helper could not give up its privileges, so it did nothing.
    case notConfined(SystemCallFailure)
    /// The device's answer makes no sense.
    case badAnswer
    /// What the vault file holds for the device is malformed.
    case badRequest

    // A TPM.
    /// No PIN is accepted for some time; one failure is forgiven after this many seconds.
    case lockedOut(seconds: UInt32?)
    /// PCR 7 has changed since the secret was sealed.
    case changedPCR7
    /// The TPM has no PCR 7 for SHA-256.
    case noPCR7
    /// The storage hierarchy has a password.
    case ownerPassword
    /// The TPM has no certificate from its maker for an endorsement key that is RSA or on P-256.
    case noCertificate

    // An authenticator.
    /// Too many wrong PINs: the authenticator must be reset.
    case blockedPIN
    /// Three wrong PINs: the authenticator must be removed and inserted again.
    case needsReinsertion
    /// The authenticator has no PIN.
    case noPINSet
    /// Nobody touched the authenticator in time.
    case notTouched
    /// The authenticator, or its user, declined.
    case declined
    /// The authenticator does not support `hmac-secret`.
    case notSupported
    /// Several authenticators are connected.
    case severalDevices
}

// The encoding: the kind, a number and a word, of which each kind uses what it needs.
extension TokenRefusal {
    private static let plain: [(UInt8, TokenRefusal)] = [
        (1, .noDevice), (2, .noPermission), (3, .otherDevice), (5, .noPIN), (8, .badAnswer),
        (9, .badRequest), (11, .changedPCR7), (12, .noPCR7), (13, .ownerPassword),
        (14, .noCertificate), (15, .busy),
        (20, .blockedPIN), (21, .needsReinsertion), (22, .noPINSet), (23, .notTouched),
        (24, .declined), (25, .notSupported), (26, .severalDevices),
    ]

    /// Stands for an unknown number.
    private static let unknown = UInt32.max

    /// The encoding.
    package var bytes: [UInt8] {
        let (kind, number, word): (UInt8, UInt32, String) =
            switch self {
            case .wrongPIN(let left): (4, left ?? TokenRefusal.unknown, "-")
            case .failed(let call, let code): (6, code, call)
            case .notConfined(let failure): (7, UInt32(bitPattern: failure.number), failure.call)
            case .lockedOut(let seconds): (10, seconds ?? TokenRefusal.unknown, "-")
            default: (TokenRefusal.plain.first { $0.1 == self }?.0 ?? 0, 0, "-")
            }
        let text = ShortWord.bytes(of: word)
        return [kind] + number.littleEndianBytes + [UInt8(text.count)] + text
    }

    /// Parses what ``bytes`` returns, and nothing else.
    package init(parsing bytes: Span<UInt8>) throws(FieldReader.Unreadable) {
        // Little-endian, like the other helpers' reports of failed calls.
        var fields = FieldReader(.littleEndian)
        guard let refusal = try TokenRefusal(reading: &fields, bytes) else {
            throw FieldReader.Unreadable()
        }
        try fields.finish(bytes)
        // A kind that needs no number or word has no other.
        guard refusal.bytes == [UInt8](copying: bytes) else { throw FieldReader.Unreadable() }
        self = refusal
    }

    private init?(
        reading fields: inout FieldReader, _ bytes: Span<UInt8>
    ) throws(FieldReader.Unreadable) {
        let kind = try fields.byte(bytes)
        let number = UInt32(truncatingIfNeeded: try fields.number(bytes, width: 4))
        let word = try fields.word(bytes)
        let known = number == TokenRefusal.unknown ? nil : number
        switch kind {
        case 4: self = .wrongPIN(left: known)
        case 6: self = .failed(call: word, code: number)
        case 7:
            self = .notConfined(SystemCallFailure(call: word, number: Int32(bitPattern: number)))
        case 10: self = .lockedOut(seconds: known)
        default:
            guard let refusal = TokenRefusal.plain.first(where: { $0.0 == kind })?.1 else {
                return nil
            }
            self = refusal
        }
    }
}
