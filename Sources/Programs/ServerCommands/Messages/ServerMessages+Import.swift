import CommandLineInterface
import Exports
import OneTimePassword
import Verification

// Imports of other servers' files.
extension ServerMessages {
    static func sentence(for error: ExportError) -> String {
        switch error {
        case .unknownFormat, .notJSON, .passwordNeeded(nil), .wrongPassword(nil),
            .unreadable(_, .unknownMembers), .unreadable(_, .unknownColumns):
            "neither an OATH users file nor a google-authenticator or PSKC file"
        case .passwordNeeded(.some):
            "the file is encrypted; use --export-password-file with its password, or with its key in "
                + "hexadecimal digits"
        case .wrongPassword(.some): "wrong password or key, or the file is damaged"
        default: ExportMessages(command: "watchword-server import").sentence(for: error)
        }
    }

    static func sentence(for reason: ImportRow.Refusal) -> String {
        switch reason {
        case .noKey: "it has no key"
        case .badKey: "its key is not in the expected encoding"
        case .keyTooShort:
            "its key has fewer than 128 bits; --allow-short-keys accepts 80 bits or more"
        case .keyTooLong: "its key has more than \(OneTimePasswordEnrolment.maximumKeyCount) bytes"
        case .unknownType: "it is not a TOTP or HOTP key that the server can verify"
        case .unknownAlgorithm: "its algorithm is not SHA-1, SHA-256 or SHA-512"
        case .badDigits: "its codes do not have 6 to 8 digits"
        case .badPeriod: "its time step is not 1 to 120 seconds"
        case .badCounter: "its counter is out of range, or has reached its maximum"
        case .malformed: "a value is missing or malformed"
        case .noSubject: "it names no user; use --subject"
        case .badSubject:
            "its user's name has more than \(Subject.maximumCount) bytes, or a NUL character"
        case .keyInUse: "another credential has or had this key; enrol the user again"
        case .tooManyCredentials: "the user has too many credentials; revoke one first"
        case .usedInFuture:
            "its last code is ahead of this machine's clock; check the clock, and try again later"
        }
    }
}
