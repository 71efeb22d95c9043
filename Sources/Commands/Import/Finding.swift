import Cryptography
import OneTimePassword
import POSIX
import PictureReader
import Interchange

/// One thing that was found in a file, or why nothing was.
struct Finding {
    /// The file, as it was reached.
    let file: String
    /// The line, where the file is a text.
    let line: Int?
    let content: Content

    enum Content {
        case credential(Credential, warnings: [String])
        case refused(Refusal)
        case passedOver(Passing)
    }

    /// Why something was passed over, and nothing is lost by it.
    enum Passing: String {
        /// A symbolic link in a folder; it is not followed.
        case symbolicLink = "symbolic-link"
        /// A part of an export that was read from another picture before.
        case repeatedPart = "repeated-part"
    }

    /// Why something was not taken.
    enum Refusal {
        case file(InputFileError)
        case picture(PictureRefusal)
        /// A symbol that says something else.
        case foreignSymbol
        case line(OTPAuthLineError)
        /// A text without a single otpauth line.
        case foreignText
        /// So many more lines that are no otpauth lines.
        case foreignLines(Int)
        /// An entry of an export that is not understood, counted from 1.
        case exportEntry(Int, MigrationRefusal.Reason)
        /// Parts of an export that did not come, counted from 1.
        case missingParts([Int], of: Int)
        /// So many more exports of which parts did not come.
        case incompleteExports(Int)
        /// The key is in the vault so often that no more entries with it are taken.
        case keyTooOften
        /// Another entry has the name, and another key.
        case nameTaken(String)
        /// Another key of the same name came before it in the same run, and was not to be replaced.
        case nameTwice(String)
        /// The entry that it would replace began to ask at each use while the import ran.
        case asksAtUse(String)
        /// A name or a key is longer than the vault takes.
        case tooLong
    }

    init(_ file: String, line: Int? = nil, _ content: Content) {
        self.file = file
        self.line = line
        self.content = content
    }
}
