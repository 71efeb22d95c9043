import Cryptography
import Interchange
import OneTimePassword
import POSIX
import PictureReader

// What became of the things that were found in files: a sentence for people, a word for JSON.
extension Words {
    static func sentence(forSkipping name: EntryName, as twin: EntryName) -> String {
        name == twin ? "it is there already" : "it is there already, as \(twin.visible)"
    }

    static func sentence(for reason: Finding.Passing) -> String {
        switch reason {
        case .symbolicLink: "a symbolic link"
        case .repeatedPart: "a part of an export that was read before"
        }
    }

    static func sentence(for refusal: Finding.Refusal) -> String {
        switch refusal {
        case .file(let error): sentence(for: error)
        case .picture(let refusal): sentence(for: refusal)
        case .foreignSymbol: "the symbol is no otpauth:// address"
        case .line(.notAURI): "the line is no otpauth:// address"
        case .line(.keyURI(let error)): sentence(for: error)
        case .line(.migration(let error)): sentence(for: error)
        case .foreignText: "this is neither a picture nor a text with otpauth:// lines"
        case .foreignLines(let count):
            count == 1
                ? "1 more line is no otpauth:// address"
                : "\(count) more lines are no otpauth:// addresses"
        case .exportEntry(let number, let reason):
            "entry \(number) of the export \(sentence(for: reason))"
        case .missingParts(let parts, let size):
            parts.count == 1
                ? "part \(list(parts)) of the export's \(size) is missing"
                : "parts \(list(parts)) of the export's \(size) are missing"
        case .incompleteExports(let count):
            count == 1
                ? "1 more export is not complete" : "\(count) more exports are not complete"
        case .keyTooOften: "the vault has the same key so often already that no more is taken"
        case .nameTaken(let name):
            "there is an entry “\(name)” with another key or other parameters; --on-duplicate replace or keep decides"
        case .nameTwice(let name):
            "another key called “\(name)” came before it; --on-duplicate keep takes both"
        case .asksAtUse(let name):
            "“\(name)” has begun to ask at each use meanwhile; run the import again"
        case .tooLong: "a name or the key is longer than the vault takes"
        }
    }

    /// Numbers that rise; three or more in a row are written as `2–4`.
    static func list(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { range in
            range.count < 3
                ? range.map(String.init).joined(separator: ", ")
                : "\(range.lowerBound)–\(range.upperBound)"
        }.joined(separator: ", ")
    }

    private static func sentence(for reason: MigrationRefusal.Reason) -> String {
        switch reason {
        case .missingKey: "has no key"
        case .tooLong: "has a name or a key that is too long"
        case .unknownAlgorithm: "has an unknown algorithm"
        case .unknownDigits: "has an unknown number of digits"
        case .unknownType: "is of an unknown type"
        case .counterOutOfRange: "has a counter out of range"
        }
    }

    static func sentence(for error: MigrationError) -> String {
        switch error {
        case .notAMigrationURI: "this is no export of Google Authenticator"
        case .tooLong: "the export is longer than any that is read"
        case .missingData: "the export has no data"
        case .doubledParameter: "a parameter of the export is there twice"
        case .base64: "the export's data are not Base64"
        case .truncated: "the end of the export is missing"
        case .malformed(let place): "the export is damaged at byte \(place)"
        case .field(let number): "field \(number) of the export is not as it should be"
        case .unknownVersion: "the export is of an unknown version"
        case .sizeOutOfRange: "the export has an impossible number of parts"
        case .indexOutOfRange: "the export's part has an impossible number"
        }
    }

    /// What had to be tolerated in a part of an export.
    static func sentence(for warning: MigrationWarning) -> String {
        switch warning {
        case .missingPadding: "the export's data have no padding"
        case .spaceAsPlus: "a space in the export's data was read as a plus sign"
        case .unknownParameter: "the export has an unknown parameter"
        case .missingSize: "the export does not say how many parts it has; it was read as one"
        case .unknownField(let entry, let field):
            "\(place(of: entry)) has an unknown field \(field)"
        case .unsaidAlgorithm(let entry): "\(place(of: entry)) was read as SHA-1"
        case .unsaidDigits(let entry): "\(place(of: entry)) was read as having 6 digits"
        case .readAsLatin1(let entry): "a name in \(place(of: entry)) was read as Latin-1"
        case .spacesAround(let entry): "spaces around a name in \(place(of: entry)) are dropped"
        }
    }

    private static func place(of entry: Int?) -> String {
        entry.map { "entry \($0 + 1) of the export" } ?? "the export"
    }

    /// The word for `refusal` in JSON.
    static func slug(for refusal: Finding.Refusal) -> String {
        switch refusal {
        case .file(let error): slug(for: error)
        case .picture(let refusal): slug(for: refusal)
        case .foreignSymbol, .foreignText, .foreignLines, .line(.notAURI): "no-otpauth"
        case .line(.keyURI): "bad-uri"
        case .line(.migration): "bad-export"
        case .exportEntry: "bad-entry"
        case .missingParts, .incompleteExports: "missing-parts"
        case .keyTooOften: "same-key"
        case .nameTaken, .nameTwice: "same-name"
        case .asksAtUse: "asks-at-use"
        case .tooLong: "too-long"
        }
    }

    static func slug(for error: InputFileError) -> String {
        switch error {
        case .missing: "missing"
        case .forbidden: "forbidden"
        case .folder: "folder"
        case .notAFile, .pipe: "not-a-file"
        case .empty: "empty"
        case .tooLarge: "too-large"
        case .nameNotUTF8: "name-not-utf-8"
        case .tooDeep: "too-deep"
        case .utf16: "utf-16"
        case .system: "unreadable"
        }
    }

    static func slug(for refusal: PictureRefusal) -> String {
        switch refusal {
        case .noSymbol: "no-symbol"
        case .notAPicture: "not-a-picture"
        case .unsupported: "unsupported"
        case .damaged: "damaged"
        case .tooLarge: "too-large"
        case .tooManySymbols: "too-many-symbols"
        case .empty: "empty"
        case .folder: "folder"
        case .notAFile: "not-a-file"
        case .unreadable(let failure): slug(for: InputFileError(failure))
        case .crashed: "crashed"
        case .forbiddenCall: "forbidden-call"
        case .timedOut: "timed-out"
        case .tooMuchMemory: "too-much-memory"
        case .badAnswer, .noAnswer: "no-answer"
        }
    }
}
