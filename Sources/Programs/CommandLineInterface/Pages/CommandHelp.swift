/// The description of a verb, from which the help page, the manual and the completions are
/// generated.
package struct CommandHelp: Sendable {
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

    /// What the verb does, in one phrase.
    package let summary: String
    /// The verb's operands.
    package let operands: Operands
    /// The options that the verb accepts in addition to the global ones.
    package let options: [Option]
    /// Command lines to copy; the first one is the simplest.
    package let examples: [String]
    /// More details, one paragraph each.
    package let details: [String]

    /// Creates a page.
    package init(
        summary: String, operands: Operands = .none, options: [Option] = [], examples: [String],
        details: [String] = []
    ) {
        self.summary = summary
        self.operands = operands
        self.options = options
        self.examples = examples
        self.details = details
    }
}

/// The description of a program.
package struct ProgramHelp: Sendable {
    /// What the program is, in one sentence.
    package let summary: String
    /// Command lines to copy.
    package let examples: [String]
    /// The part of the manual before the verbs, in mdoc(7).
    package let manualHead: String
    /// The part of the manual after the verbs.
    package let manualTail: String

    /// Creates a page.
    package init(
        summary: String, examples: [String], manualHead: String, manualTail: String
    ) {
        self.summary = summary
        self.examples = examples
        self.manualHead = manualHead
        self.manualTail = manualTail
    }
}
