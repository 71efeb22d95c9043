import CommandLineInterface
import Exports
import OneTimePassword
import SecretVault

// Other apps' exports.
extension Messages {
    static let exports = ExportMessages(
        command: "watchword import", raisingOption: "--" + Option.raiseLimits.name)

    static func name(of kind: UncomputedCode.Kind) -> String {
        switch kind {
        case .yandex: "Yandex"
        case .motp: "Mobile-OTP"
        }
    }

    /// The name of a kind of code that Watchword does not compute.
    static func name(ofUncomputed kind: EntryKind) -> String {
        kind == .yandex ? name(of: .yandex) : name(of: .motp)
    }

    static func sentence(for reason: ExportRowRefusal) -> String {
        switch reason {
        case .noSecret: "the entry has no key"
        case .badSecret: "the entry's key is not in the expected encoding"
        case .secretTooLong: "the entry's key is longer than 1 KiB"
        case .unknownAlgorithm: "unknown algorithm; use SHA-1, SHA-256 or SHA-512"
        case .unknownType: "the entry has an unknown type"
        case .badDigits: "the number of digits is out of range"
        case .badPeriod: "the period is out of range"
        case .badCounter: "the counter is out of range"
        case .badKeyURI: "the entry's key URI is invalid"
        case .tooLong: "a name, a note or the key is too long"
        case .encryptedByPhone: "the app encrypted this entry with a key that only the phone has"
        case .malformed: "a value is missing or has the wrong type"
        case .unreadableDeleted: "deleted in the other app, and cannot be read"
        case .unreadableFile:
            "the file in the archive is damaged, or the manifest.json that decrypts it is missing"
        }
    }

    static func slug(for error: ExportError) -> String {
        switch error {
        case .unknownFormat, .passwordNeeded(nil), .wrongPassword(nil): "unknown-format"
        case .passwordNeeded: "password-needed"
        case .wrongPassword: "wrong-password"
        case .damaged, .notJSON: "damaged"
        case .newerVersion: "newer-version"
        case .unreadable(_, .utf16): "utf-16"
        case .unreadable(_, .emptyArchive): "no-entries"
        case .unreadable(_, .unknownMembers), .unreadable(_, .unknownColumns): "unknown-format"
        case .unreadable: "unsupported"
        case .overLimit(_, .fileSize, _, _), .overLimit(_, .documentSize, _, _): "too-large"
        case .overLimit: "over-limit"
        case .noEntries: "no-entries"
        case .outOfMemory: "too-much-memory"
        }
    }

    static func slug(for reason: ExportRowRefusal) -> String {
        switch reason {
        case .noSecret: "no-key"
        case .badSecret: "bad-key"
        case .secretTooLong, .tooLong: "too-long"
        case .unknownAlgorithm: "unknown-algorithm"
        case .unknownType: "unknown-type"
        case .badDigits: "bad-digits"
        case .badPeriod: "bad-period"
        case .badCounter: "bad-counter"
        case .badKeyURI: "bad-uri"
        case .encryptedByPhone: "encrypted-by-phone"
        case .malformed: "malformed"
        case .unreadableDeleted: "deleted-unreadable"
        case .unreadableFile: "unreadable-file"
        }
    }
}
