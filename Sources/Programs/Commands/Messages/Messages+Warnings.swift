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
            "the counter may be that of the last code; if the first code is refused, use the next one"
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
