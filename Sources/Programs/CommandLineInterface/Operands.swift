/// The operands of a verb.
package enum Operands: Sendable {
    case none
    /// The name of an entry.
    case name
    case optionalName
    case names
    /// At least one name.
    case someNames
    case paths
    case optionalPaths
    /// One file.
    case file
    case optionalFile
    /// Another operand, with this placeholder.
    case one(String)
    case oneAndOptionalName(String)
    case nameAndNewName
    /// One of these words.
    case word([String])

    /// The placeholder in help pages.
    package var placeholder: String {
        switch self {
        case .none: ""
        case .name, .optionalName, .names, .someNames: "NAME"
        case .paths, .optionalPaths: "PATH"
        case .file, .optionalFile: "FILE"
        case .one(let placeholder): placeholder
        case .oneAndOptionalName(let placeholder): placeholder
        case .nameAndNewName: "NAME NEW-NAME"
        case .word(let words): words.joined(separator: "|")
        }
    }

    var usage: String {
        switch self {
        case .none: ""
        case .optionalName: "[NAME]"
        case .optionalFile: "[FILE]"
        case .names: "[NAME…]"
        case .someNames: "NAME…"
        case .paths: "PATH…"
        case .optionalPaths: "[PATH…]"
        case .oneAndOptionalName(let placeholder): "\(placeholder) [NAME]"
        case .name, .one, .file, .word, .nameAndNewName: placeholder
        }
    }

    /// Whether all operands are paths of files.
    package var arePaths: Bool {
        switch self {
        case .paths, .optionalPaths: true
        default: false
        }
    }

    var minimum: Int {
        switch self {
        case .none, .optionalName, .names, .optionalFile, .optionalPaths: 0
        case .name, .someNames, .paths, .file, .one, .word, .oneAndOptionalName: 1
        case .nameAndNewName: 2
        }
    }

    /// The index of the first entry name; all operands after it are also entry names.
    package var firstName: Int {
        switch self {
        case .name, .optionalName, .names, .someNames, .nameAndNewName: 0
        case .oneAndOptionalName: 1
        case .none, .paths, .optionalPaths, .file, .optionalFile, .one, .word: Int.max
        }
    }

    var maximum: Int {
        switch self {
        case .none: 0
        case .name, .optionalName, .file, .optionalFile, .one, .word: 1
        case .oneAndOptionalName, .nameAndNewName: 2
        case .names, .someNames, .paths, .optionalPaths: Int.max
        }
    }
}
