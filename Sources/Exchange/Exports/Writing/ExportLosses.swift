internal import OneTimePassword
internal import WatchwordCryptography

/// Why a format cannot hold an entry.
///
/// An entry is left out rather than changed: an entry with wrong codes is worse than an entry that
/// is reported as missing.
public enum EntryOmission: String, CaseIterable, Hashable, Sendable {
    /// A plain secret, which has no codes.
    case plainSecret
    /// A Yandex code, which the format cannot express.
    case yandex
    /// A Yandex secret that is not one of the two forms that the app accepts; it would refuse the
    /// whole file.
    case yandexSecret
    /// A Mobile-OTP code, which the format cannot express.
    case motp
    /// A Mobile-OTP secret that is not in lower-case hexadecimal digits; its codes depend on the
    /// case.
    case motpSecret
    /// A number of digits that the app does not support.
    case digits
    /// A period that the app does not support.
    case period
    /// Periods that do not start at the Unix epoch.
    case start
    /// A Steam code with a counter, or with an algorithm or a period that Steam does not use.
    case steam
    /// A counter above what the app supports.
    case counter
    /// An entry that is too long for a QR code.
    case tooLong
}

/// A property that a format cannot hold.
public enum LostProperty: String, CaseIterable, Hashable, Sendable {
    case tags
    /// All tags but the first.
    case furtherTags
    case note, icon, favourite
    /// Parameters of the key URI that Watchword keeps but does not use.
    case otherParameters
    /// When presence is checked, and what happens when a check fails.
    case accessControl
}

extension ExportTarget {
    /// Why the format cannot hold `entry`; `nil` if it can.
    public func omission(of entry: ExportedEntry) -> EntryOmission? {
        switch entry.content {
        case .notComputed(let code):
            switch self {
            case .aegis: code.aegisOmission
            case .twoFAS, .google: code.kind == .motp ? .motp : .yandex
            case .keyURIs, .sheet: nil
            }
        case .oneTimePassword(let credential):
            switch self {
            case .keyURIs, .sheet: nil
            case .aegis, .twoFAS: omission(of: credential)
            case .google: credential.googleOmission
            }
        }
    }

    /// The properties of `entry` that the format cannot hold.
    public func losses(of entry: ExportedEntry) -> [LostProperty] {
        var losses: [LostProperty] = []
        switch self {
        case .aegis: break
        case .twoFAS where entry.tags.count > 1: losses.append(.furtherTags)
        case .twoFAS: break
        case .keyURIs, .google: if !entry.tags.isEmpty { losses.append(.tags) }
        // The sheet shows tags and notes, but only its key URIs are read back.
        case .sheet: if !entry.tags.isEmpty { losses.append(.tags) }
        }
        if !entry.note.isEmpty, self != .aegis { losses.append(.note) }
        if entry.isFavourite, self != .aegis { losses.append(.favourite) }
        if case .oneTimePassword(let credential) = entry.content,
            !credential.otherParameters.isEmpty, self != .keyURIs, self != .sheet
        {
            losses.append(.otherParameters)
        }
        return losses
    }

    /// For Aegis and 2FAS.
    private func omission(of credential: Credential) -> EntryOmission? {
        switch credential.movingFactor {
        case .counter(let counter):
            // 2FAS stores counters in 32 bits.
            let most = self == .twoFAS ? UInt64(Int32.max) : UInt64(Int64.max)
            guard counter <= most else { return .counter }
        case .time(let step):
            guard step.start == 0 else { return .start }
            guard supports(period: step.period) else { return .period }
        }
        guard case .decimal(let length) = credential.style else {
            let isStandard =
                credential.algorithm == .sha1 && credential.movingFactor == .time(.standard)
            return isStandard ? nil : .steam
        }
        return supports(digits: length.digits) ? nil : .digits
    }

    private func supports(period: Int64) -> Bool {
        switch self {
        // The app replaces any other number with its default.
        case .twoFAS: [10, 30, 60, 90].contains(period)
        // The app computes with milliseconds in 32 bits.
        default: period <= Int64(Int32.max) / 1_000
        }
    }

    private func supports(digits: Int) -> Bool {
        switch self {
        // The app replaces any other number with its default.
        case .twoFAS: (5...8).contains(digits)
        default: true
        }
    }
}

extension Credential {
    fileprivate var googleOmission: EntryOmission? {
        if MigrationBatch(credentials: [withoutOtherParameters], id: 0) != nil {
            return MigrationWriting.fits(withoutOtherParameters) ? nil : .tooLong
        }
        guard case .decimal(let length) = style else { return .steam }
        guard length == .six || length == .eight else { return .digits }
        switch movingFactor {
        case .counter: return .counter
        case .time(let step): return step.start == 0 ? .period : .start
        }
    }
}

extension UncomputedCode {
    fileprivate var aegisOmission: EntryOmission? {
        switch kind {
        case .motp: isMOTPInLowerCase ? nil : .motpSecret
        case .yandex: isYandexSecret ? nil : .yandexSecret
        }
    }

    /// Whether the secret has 16 bytes, as in a QR code, or the 26 of the form that the service
    /// shows as text, whose last 12 bits are a checksum.
    private var isYandexSecret: Bool {
        secret.withBytes { bytes in
            guard bytes.count == 26 else { return bytes.count == 16 }
            let stated = Int(bytes[24] & 0x0F) << 8 | Int(bytes[25])
            // The remainder of the other bits, as a polynomial, divided by this polynomial.
            let divisor = 0x18F3
            var remainder = 0
            for index in 0..<(26 * 8 - 12) {
                remainder = remainder << 1 | Int(bytes[index / 8] >> UInt8(7 - index % 8) & 1)
                if remainder & 0x1000 != 0 { remainder ^= divisor }
            }
            return remainder == stated
        }
    }

    /// Whether the secret is what Aegis writes for its bytes: pairs of lower-case hexadecimal
    /// digits.
    fileprivate var isMOTPInLowerCase: Bool {
        secret.withBytes { text in
            !text.isEmpty && text.count.isMultiple(of: 2)
                && text.indices.allSatisfy {
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[$0])
                        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(text[$0])
                }
        }
    }
}
