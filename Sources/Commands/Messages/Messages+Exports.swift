import Interchange
import OneTimePassword
import SecretVault

// Other apps' exports.
extension Messages {
    /// What a file of `format` is, such as “an Aegis export”.
    static func noun(for format: ExportFormat) -> String {
        let name = plainNoun(for: format)
        let first = name.lowercased().first ?? "x"
        // “a 2FAS export”, “a 1Password export”.
        return ("aeio".contains(first) ? "an " : "a ") + name
    }

    /// The same without an article.
    static func plainNoun(for format: ExportFormat) -> String {
        switch format {
        case .uriList, .zipArchive: format.name
        case .keePass: "KeePass database"
        case .oathUsersFile, .watchwordSheet, .watchwordVault: format.name
        case .googlePAM, .passwordManagerCSV, .pskc: format.name + " file"
        default: format.name + " export"
        }
    }

    static func sentence(for error: ExportError) -> String {
        switch error {
        case .unknownFormat: "neither an image nor a known export or list of key URIs"
        case .passwordNeeded(nil):
            "neither an image nor a known export; if it is an encrypted one, use "
                + "--export-password-file FILE"
        case .wrongPassword(nil):
            "neither an image nor a known export, or an encrypted one with another password"
        case .passwordNeeded(let format?):
            "\(noun(for: format)), encrypted; enter its password, or use --export-password-file FILE"
        case .wrongPassword(let format?):
            "\(noun(for: format)), encrypted; wrong password, or the file is damaged"
        case .damaged(let format): "\(noun(for: format)), but it is damaged; export again"
        case .notJSON: "begins like JSON, but is damaged or truncated; export again"
        case .newerVersion(let format):
            "\(noun(for: format)) of a newer version than Watchword knows; update Watchword"
        case .unreadable(let format, let obstacle): sentence(for: obstacle, in: format)
        case .overLimit(let format, let limit, let found, let allowed):
            (format.map { noun(for: $0) + ", but " } ?? "") + excess(limit, found: found)
                + "; the limit is \(allowed)"
        case .noEntries(let format): "\(noun(for: format)) without one-time passwords"
        case .outOfMemory: "there is not enough memory to read the file"
        }
    }

    private static func sentence(for obstacle: ExportObstacle, in format: ExportFormat?) -> String {
        let noun = format.map(noun) ?? "a file"
        return switch obstacle {
        case .accountRestricted:
            "\(noun) that only its account can open; export again as “password protected”"
        case .noPasswordSlot:
            "\(noun) that only the app can open, because it has no password; set one and export again"
        case .publicKeyEncryption:
            "\(noun), encrypted to a public key; decrypt it first, for example with gpg, and pipe it "
                + "to watchword import -"
        case .keePass1: "a KeePass 1 database; open it with KeePassXC and save it as KDBX 4"
        case .utf16: "UTF-16 text is not supported; save the file as UTF-8"
        case .unsupportedAlgorithm: "\(noun), encrypted with an algorithm that is not supported"
        case .badKeyFile: "\(noun), but the file given with --key-file is damaged"
        case .oldArgon2:
            "\(noun), encrypted with version 1.0 of Argon2, which is not supported; in KeePassXC, "
                + "choose another key derivation function and save the database"
        case .manifest:
            "the manifest of Steam Desktop Authenticator; import it together with its .maFile files"
        }
    }

    private static func excess(_ limit: ExportLimit, found: UInt64) -> String {
        switch limit {
        case .fileSize: "it has \(found) bytes"
        case .documentSize: "its content has \(found) bytes"
        case .compressionRatio: "it would expand to \(found) bytes, too many for its size"
        case .archiveMembers: "it has \(found) archive members"
        case .rows: "it has \(found) entries or values"
        case .depth: "it is nested \(found) levels deep"
        case .iterations: "its password needs \(found) rounds of key derivation"
        case .memory: "its password needs \(found) bytes of memory"
        case .blockSize: "its key derivation has a block size of \(found)"
        case .parallelism: "its key derivation has a parallelism of \(found)"
        }
    }

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
        }
    }
}
