import Cryptography
import OneTimePassword
import POSIX
import PictureReader
import Interchange

/// An item found in a file, or the reason why there is none.
struct Finding {
    /// The file's path.
    let file: String
    /// The line number in a text file.
    let line: Int?
    let content: Content

    enum Content {
        case credential(Credential, warnings: [String])
        case refused(Refusal)
        case skipped(SkipReason)
    }

    /// Why an item was skipped without loss.
    enum SkipReason: String {
        /// A symbolic link in a folder, which is not followed.
        case symbolicLink = "symbolic-link"
        /// A part of an export that another image already contained.
        case repeatedPart = "repeated-part"
    }

    /// Why an item was refused.
    enum Refusal {
        case file(InputFileError)
        case picture(PictureRefusal)
        /// A QR code without an otpauth URI.
        case unrelatedSymbol
        case line(OTPAuthLineError)
        /// A text without any otpauth URI.
        case unrelatedText
        /// The number of further lines without an otpauth URI.
        case unrecognisedLines(Int)
        /// An invalid entry of an export; the first entry is 1.
        case exportEntry(Int, MigrationRefusal.Reason)
        /// The missing parts of an export; the first part is 1.
        case missingParts([Int], of: Int)
        /// The number of further exports with missing parts.
        case incompleteExports(Int)
        /// The vault already has the maximum number of entries with this key.
        case keyRepeatedTooOften
        /// An entry with the same name has another key.
        case nameTaken(String)
        /// An earlier item of this import has the same name and another key.
        case nameTwice(String)
        /// During the import, the entry to replace was changed to require confirmation at each use.
        case requiresCheckPerUse(String)
        /// The name or the key is too long for the vault.
        case tooLong
    }

    init(_ file: String, line: Int? = nil, _ content: Content) {
        self.file = file
        self.line = line
        self.content = content
    }
}
