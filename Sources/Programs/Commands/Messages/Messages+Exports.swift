import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import SecretVault
import WatchwordSystem

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

// Data that an export's format cannot hold.
extension Messages {
    /// “1 wiped entry”, “2 wiped entries”.
    static func entries(_ count: Int, _ adjective: String = "") -> String {
        let kind = adjective.isEmpty ? "" : adjective + " "
        return "\(count) \(kind)\(count == 1 ? "entry" : "entries")"
    }

    static func sentence(forLeavingOut count: Int, _ reason: EntryOmission) -> String {
        let are = count == 1 ? "was" : "were"
        return switch reason {
        case .plainSecret: "\(count) static \(count == 1 ? "secret" : "secrets") \(are) left out"
        case .yandex: "\(entries(count, "Yandex")) \(are) left out"
        case .yandexSecret:
            "\(entries(count, "Yandex")) \(are) left out (the app does not accept the secret)"
        case .motp: "\(entries(count, "Mobile-OTP")) \(are) left out"
        case .motpSecret:
            "\(entries(count, "Mobile-OTP")) \(are) left out (the secret is not lower-case hexadecimal)"
        case .digits: "\(entries(count)) \(are) left out (unsupported number of digits)"
        case .period: "\(entries(count)) \(are) left out (unsupported period)"
        case .start: "\(entries(count)) \(are) left out (the first period does not start at 0)"
        case .steam: "\(entries(count, "Steam")) \(are) left out (unsupported parameters)"
        case .counter: "\(entries(count)) \(are) left out (unsupported counter)"
        case .tooLong: "\(entries(count)) \(are) left out (too long for a QR code)"
        }
    }

    static func sentence(forLosing property: LostProperty, entries count: Int) -> String {
        let one = count == 1
        let lose = entries(count) + (one ? " loses its " : " lose their ")
        return switch property {
        case .tags: lose + "tags"
        case .furtherTags: lose + "tags except the first"
        case .note: lose + (one ? "note" : "notes")
        case .icon: lose + (one ? "icon name" : "icon names")
        case .favourite: lose + (one ? "favourite mark" : "favourite marks")
        case .otherParameters: lose + "further URI parameters"
        case .accessControl: lose + "access control"
        }
    }

    static func slug(for reason: EntryOmission) -> String {
        switch reason {
        case .plainSecret: "plain-secret"
        case .yandex: "yandex"
        case .yandexSecret: "yandex-secret"
        case .motp: "motp"
        case .motpSecret: "motp-secret"
        case .digits: "digits"
        case .period: "period"
        case .start: "t0"
        case .steam: "steam"
        case .counter: "counter"
        case .tooLong: "too-long"
        }
    }

    static func slug(for property: LostProperty) -> String {
        switch property {
        case .tags: "tags"
        case .furtherTags: "further-tags"
        case .note: "note"
        case .icon: "icon"
        case .favourite: "favourite"
        case .otherParameters: "other-parameters"
        case .accessControl: "access-control"
        }
    }
}

extension Messages {
    static func sentence(for refusal: PictureRefusal) -> String {
        switch refusal {
        case .noSymbol:
            "no QR code found; crop the image to the code, or use a larger or sharper image"
        case .notAPicture: "not an image"
        case .unsupported(let format): "\(format) images are not supported; save the image as PNG"
        case .libraryMissing(let format):
            "\(format.rawValue) images cannot be read: install the package "
                + (format.library?.package ?? "")
        case .damaged: "the image is damaged"
        case .encrypted:
            "an encrypted PDF file; print it to a new PDF file in a viewer, or remove its password "
                + "with qpdf --decrypt, and import the new file"
        case .tooLarge(let limit): tooLarge(limit)
        case .tooManySymbols: "the image has too many QR codes"
        case .empty: sentence(for: FileError.empty)
        case .folder: sentence(for: FileError.folder)
        case .notAFile: sentence(for: FileError.notAFile)
        case .unreadable(let failure):
            failure.isMissing
                ? sentence(for: FileError.missing)
                : failure.isPermissionDenied
                    ? sentence(for: FileError.forbidden) : sentence(for: failure)
        case .lost(let loss):
            HelperMessages.sentence(for: loss, file: "image", reader: "image reader")
        }
    }

    static func sentence(for failure: ScreenshotFailure) -> String {
        switch failure {
        case .refused:
            "no screenshot was taken: the desktop's request for permission was refused; run the "
                + "command again and allow it, or take a screenshot yourself and import its file"
        case .noTool(let names):
            "no screenshot was taken: neither the desktop portal nor one of these programs works "
                + "here: \(names.joined(separator: ", ")); take a screenshot yourself and import its file"
        }
    }

    static func sentence(for failure: CameraFailure) -> String {
        switch failure {
        case .none: "no camera found; import a photo instead"
        case .forbidden(let path):
            "\(path): no permission to use the camera; join the group “video”, or import a photo instead"
        case .busy(let path): "\(path): another program is using the camera; close it and try again"
        case .unknownFormat(let path):
            "\(path): the camera sends neither JPEG nor YUYV; import a photo instead"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func tooLarge(_ limit: PictureLimit) -> String {
        switch limit {
        case .bytes: "the file is larger than 32 MiB"
        case .pixels: "the image has more than 64 million pixels"
        case .side: "the image is wider or taller than 20,000 pixels"
        case .frames: "the image has more than 20 frames"
        }
    }
}
