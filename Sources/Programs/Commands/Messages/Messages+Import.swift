import CommandLineInterface
import Exports
import OneTimePassword
import Pictures
import ProcessConfinement
import SecretVault
import VaultService
import WatchwordCryptography
import WatchwordSystem

// Import results: a sentence for people and a slug for JSON.
extension Messages {
    static func sentence(forSkipping name: EntryName, as twin: EntryName) -> String {
        name == twin ? "already in the vault" : "already in the vault as \(twin.visible)"
    }

    /// The update of an entry that was already in the vault.
    static func sentence(for updates: [ImportUpdate]) -> String {
        updates.map { update in
            switch update {
            case .counter(let old, let new): "counter raised from \(old) to \(new)"
            case .pin: "PIN added"
            case .details: "details added"
            }
        }.joined(separator: ", ")
    }

    static func sentence(for reason: Finding.SkipReason) -> String {
        switch reason {
        case .symbolicLink: "symbolic link"
        case .repeatedPart: "this part of the export was already read"
        case .deleted: "deleted in the other app; use --include-deleted to import it"
        case .enrolled:
            "the server would treat a copy of an enrolled secret as stolen; enrol this device"
        case .bound: "the entry opens only on its device, and only in its own vault"
        case .wiped: "the entry was wiped, and has no secret"
        case .manifest: "the manifest of Steam Desktop Authenticator, which has no entries"
        }
    }

    /// The same reason in a summary.
    static func word(for reason: Finding.SkipReason) -> String {
        switch reason {
        case .symbolicLink: "symbolic link"
        case .repeatedPart: "repeated part"
        case .deleted: "deleted"
        case .enrolled: "enrolled secret"
        case .bound: "bound to a device"
        case .wiped: "wiped"
        case .manifest: "manifest"
        }
    }

    static func sentence(for refusal: Finding.Refusal) -> String {
        switch refusal {
        case .file(.tooLarge(ExportLimits.standard.bytes)):
            sentence(for: FileError.tooLarge(limit: ExportLimits.standard.bytes))
                + exports.advice(raises: true)
        case .file(.empty), .picture(.empty): "the file is empty"
        case .file(let error): sentence(for: error)
        case .picture(let refusal): sentence(for: refusal)
        case .unrelatedSymbol: "the QR code is not an otpauth:// URI"
        case .line(.notAURI): "the line is not an otpauth:// URI"
        case .line(.keyURI(let error)): sentence(forURI: error)
        case .line(.migration(let error)): sentence(for: error)
        case .export(let error): exports.sentence(for: error)
        case .vault(let error): "a Watchword vault, but " + sentence(for: error)
        case .sameVault: "a copy of this vault; use watchword merge"
        case .reader(let loss, let limits):
            HelperMessages.sentence(for: loss, file: "file", reader: "export reader")
                + exports.advice(
                    raises: limits == .standard && [.timedOut, .tooMuchMemory].contains(loss))
        case .exportRow(let reason): sentence(for: reason)
        case .missingPictures(let numbers):
            numbers.count == 1
                ? "the export is missing image \(list(numbers))"
                : "the export is missing images \(list(numbers))"
        case .unrecognisedLines(let count):
            count == 1
                ? "1 more line is not an otpauth:// URI"
                : "\(count) more lines are not otpauth:// URIs"
        case .exportEntry(let number, let reason):
            "entry \(number) of the export \(sentence(for: reason))"
        case .missingParts(let parts, let size):
            parts.count == 1
                ? "the export is missing part \(list(parts)) of \(size)"
                : "the export is missing parts \(list(parts)) of \(size)"
        case .incompleteExports(let count):
            count == 1 ? "1 more export is incomplete" : "\(count) more exports are incomplete"
        }
    }

    static func sentence(for refusal: ItemRefusal) -> String {
        switch refusal {
        case .keyRepeatedTooOften: "the vault already has too many entries with this key"
        case .nameTaken(let name):
            "an entry named “\(name.visible)” has a different key or different parameters; use --on-duplicate replace or keep"
        case .notCompared(let name):
            "“\(name.visible)” requires a check at each use, so its key was not compared; use --on-duplicate replace or keep"
        case .boundElsewhere(let name):
            "“\(name.visible)” opens only on a different device; import the file there, or remove the entry first"
        case .requiresCheckPerUse(let name):
            "“\(name.visible)” now requires a check at each use; run the import again"
        case .tooLong: "the name or the key is too long"
        }
    }

    /// Ascending numbers; three or more consecutive ones are written as `2–4`.
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
        case .unknownType: "has an unknown type"
        case .counterOutOfRange: "has a counter that is out of range"
        }
    }

    static func sentence(for error: MigrationError) -> String {
        switch error {
        case .notAMigrationURI: "not a Google Authenticator export"
        case .tooLong: "the export is too long"
        case .missingData: "the export has no data"
        case .duplicateParameter: "the export has a duplicate parameter"
        case .base64: "the export's data is not Base64"
        case .truncated: "the export is truncated"
        case .malformed(let place): "the export is damaged at byte \(place)"
        case .field(let number): "field \(number) of the export is invalid"
        case .unknownVersion: "the export has an unknown version"
        case .sizeOutOfRange: "the export has an invalid number of parts"
        case .indexOutOfRange: "this part of the export has an invalid number"
        }
    }

    /// A deviation that was tolerated in a part of an export.
    static func sentence(for warning: MigrationWarning) -> String {
        switch warning {
        case .missingPadding: "the export's data has no padding"
        case .spaceAsPlus: "a space in the export's data was read as a plus sign"
        case .urlSafeAlphabet: "the export's data uses the URL-safe Base64 alphabet"
        case .unknownParameter: "the export has an unknown parameter"
        case .missingSize: "the export does not state its number of parts; it was read as one part"
        case .unknownField(let entry, let field):
            "\(place(of: entry)) has an unknown field \(field)"
        case .missingAlgorithm(let entry):
            "\(place(of: entry)) does not state an algorithm; it was read as SHA-1"
        case .missingDigits(let entry):
            "\(place(of: entry)) does not state a number of digits; it was read as 6"
        case .missingType(let entry):
            "\(place(of: entry)) does not state a type; it was read as TOTP"
        case .readAsLatin1(let entry):
            "a name in \(place(of: entry)) is not UTF-8; it was read as Latin-1"
        case .spacesAround(let entry): "spaces around a name in \(place(of: entry)) were removed"
        }
    }

    private static func place(of entry: Int?) -> String {
        entry.map { "entry \($0 + 1) of the export" } ?? "the export"
    }

    /// The JSON `reason` for `refusal`.
    static func slug(for refusal: Finding.Refusal) -> String {
        switch refusal {
        case .file(let error): slug(for: error)
        case .picture(let refusal): slug(for: refusal)
        case .export(let error): slug(for: error)
        case .vault: "vault"
        case .sameVault: "same-vault"
        case .reader(let loss, _): slug(for: loss)
        case .exportRow(let reason): slug(for: reason)
        case .unrelatedSymbol, .unrecognisedLines, .line(.notAURI): "no-otpauth"
        case .line(.keyURI): "bad-uri"
        case .line(.migration): "bad-export"
        case .exportEntry: "bad-entry"
        case .missingParts, .incompleteExports, .missingPictures: "missing-parts"
        }
    }

    static func slug(for refusal: ItemRefusal) -> String {
        switch refusal {
        case .keyRepeatedTooOften: "same-key"
        case .nameTaken: "same-name"
        case .notCompared: "not-compared"
        case .boundElsewhere: "bound-elsewhere"
        case .requiresCheckPerUse: "asks-at-use"
        case .tooLong: "too-long"
        }
    }

    static func slug(for error: FileError) -> String {
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
        // The other reasons concern files that are written, and the program's own files.
        case .noFolder, .exists, .namesFolder, .symbolicLink, .notReplaceable, .protected,
            .otherOwner, .openToOthers, .busy, .inTheWay, .changed, .notConfirmed, .system:
            "unreadable"
        }
    }

    static func slug(for refusal: PictureRefusal) -> String {
        switch refusal {
        case .noSymbol: "no-symbol"
        case .notAPicture: "not-a-picture"
        case .unsupported: "unsupported"
        case .libraryMissing: "library-missing"
        case .damaged: "damaged"
        case .encrypted: "encrypted"
        case .tooLarge: "too-large"
        case .tooManySymbols: "too-many-symbols"
        case .empty: "empty"
        case .folder: "folder"
        case .notAFile: "not-a-file"
        case .unreadable(let failure): slug(for: FileError(reading: failure))
        case .lost(let loss): slug(for: loss)
        }
    }

    static func slug(for loss: HelperLoss) -> String {
        switch loss {
        case .crashed: "crashed"
        case .forbiddenCall: "forbidden-call"
        case .timedOut: "timed-out"
        case .tooMuchMemory: "too-much-memory"
        case .badResponse, .noResponse: "no-answer"
        }
    }
}

// The warnings of an import.
extension Messages {
    static func sentence(for warning: ImportWarning) -> String {
        switch warning {
        case .keyURI(let warning): sentence(for: warning)
        case .credential(let warning): sentence(for: warning)
        case .migration(let warning): sentence(for: warning)
        case .incompleteSecret:
            "the last character of the key does not complete a byte and was dropped; the key may be incomplete"
        case .steamParameters:
            "the file states a number of digits, a period or an algorithm that Steam does not use"
        case .counterOfLastCode:
            "the counter may be that of the last code; if the first code is refused, use the next code"
        case .notComputed(let kind):
            "the key is stored, but Watchword does not compute \(name(of: kind)) codes"
        case .otherNote: "the entry in the vault has a different note, which was kept"
        case .leftOut(.tag):
            "a tag was left out, because it is longer than 256 bytes or there are more than 64 tags"
        case .leftOut(.note): "the note is longer than 16,384 bytes and was left out"
        case .leftOut(.icon): "the name of the icon is longer than 256 bytes and was left out"
        }
    }

    /// A file's warnings in one line, such as “3 warnings: 2 keys shorter than 128 bits, …”.
    static func summary(of warnings: [ImportWarning]) -> String {
        var counts: [ImportWarning.Category: Int] = [:]
        for warning in warnings { counts[warning.category, default: 0] += 1 }
        let parts = ImportWarning.Category.allCases.compactMap { category in
            counts[category].map { description(of: category, count: $0) }
        }
        return "\(warnings.count) warnings: " + parts.joined(separator: ", ")
            + "; --verbose shows each"
    }

    private static func description(of category: ImportWarning.Category, count: Int) -> String {
        let (one, several) =
            switch category {
            case .incompleteSecret:
                ("key that may be incomplete", "keys that may be incomplete")
            case .misnamedParameter:
                ("parameter with an unknown name", "parameters with unknown names")
            case .counterOfLastCode:
                ("counter that may be one too low", "counters that may be one too low")
            case .shortKey: ("key shorter than 128 bits", "keys shorter than 128 bits")
            case .digits: ("unusual number of digits", "unusual numbers of digits")
            case .longPeriod: ("period longer than 120 s", "periods longer than 120 s")
            case .steamParameters:
                ("Steam entry with unexpected values", "Steam entries with unexpected values")
            case .keyURI: ("deviation in a key URI", "deviations in key URIs")
            case .migration: ("deviation in the export", "deviations in the export")
            case .notComputed:
                ("entry whose codes are not computed", "entries whose codes are not computed")
            case .otherNote:
                ("note that differs from the vault's", "notes that differ from the vault's")
            case .leftOut: ("detail that is too long", "details that are too long")
            }
        return "\(count) \(count == 1 ? one : several)"
    }
}
