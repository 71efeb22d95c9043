/// All that is said of a verb: the help page, the manual and the completions are made from it.
package struct Page: Sendable {
    /// What a verb works on.
    package enum Operands: Sendable {
        case none
        /// The name of an entry; never completed, because names are inside the locked vault.
        case name
        case optionalName
        case names
        case paths
        /// One file.
        case file
        case optionalFile
        /// Something else, called by this placeholder.
        case one(String)
        case oneAndOptionalName(String)
        case nameAndNewName
        /// One of these words.
        case word([String])

        /// What the help calls it.
        package var placeholder: String {
            switch self {
            case .none: ""
            case .name, .optionalName, .names: "NAME"
            case .paths: "PATH"
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
            case .paths: "PATH…"
            case .oneAndOptionalName(let placeholder): "\(placeholder) [NAME]"
            case .name, .one, .file, .word, .nameAndNewName: placeholder
            }
        }

        var minimum: Int {
            switch self {
            case .none, .optionalName, .names, .optionalFile: 0
            case .name, .paths, .file, .one, .word, .oneAndOptionalName: 1
            case .nameAndNewName: 2
            }
        }

        /// The first operand from which on all are names of entries.
        package var firstName: Int {
            switch self {
            case .name, .optionalName, .names, .nameAndNewName: 0
            case .oneAndOptionalName: 1
            case .none, .paths, .file, .optionalFile, .one, .word: Int.max
            }
        }

        var maximum: Int {
            switch self {
            case .none: 0
            case .name, .optionalName, .file, .optionalFile, .one, .word: 1
            case .oneAndOptionalName, .nameAndNewName: 2
            case .names, .paths: Int.max
            }
        }
    }

    /// What it does, in half a sentence.
    package let summary: String
    /// What it works on.
    package let operands: Operands
    /// The options that it takes beside those that every verb takes.
    package let options: [Option]
    /// Command lines to paste; the first one is the plainest.
    package let examples: [String]
    /// What the summary does not say, a paragraph each.
    package let details: [String]

    /// Puts a page together.
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

/// What is said of a program beside its verbs.
package struct ProgramPage: Sendable {
    /// What it is, in a sentence.
    package let summary: String
    /// Command lines to paste.
    package let examples: [String]
    /// What `--help` ends with.
    package let closing: String
    /// What stands before the verbs in the manual, in mdoc(7).
    package let manualHead: String
    /// What stands behind them.
    package let manualTail: String

    /// Puts a page together.
    package init(
        summary: String, examples: [String], closing: String, manualHead: String,
        manualTail: String
    ) {
        self.summary = summary
        self.examples = examples
        self.closing = closing
        self.manualHead = manualHead
        self.manualTail = manualTail
    }
}
