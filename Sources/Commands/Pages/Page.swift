/// All that is said of a verb: the help page, the manual and the completions are made from it.
struct Page: Sendable {
    /// What a verb works on.
    enum Operands: Sendable {
        case none
        /// The name of an entry; never completed, because names are inside the locked vault.
        case name
        case optionalName
        case names
        case paths
        /// Something else, called by this placeholder.
        case one(String)
        case oneAndOptionalName(String)
        case nameAndNewName
        /// One of these words.
        case word([String])

        var placeholder: String {
            switch self {
            case .none: ""
            case .name, .optionalName, .names: "NAME"
            case .paths: "PATH"
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
            case .names: "[NAME…]"
            case .paths: "PATH…"
            case .oneAndOptionalName(let placeholder): "\(placeholder) [NAME]"
            case .name, .one, .word, .nameAndNewName: placeholder
            }
        }

        var minimum: Int {
            switch self {
            case .none, .optionalName, .names: 0
            case .name, .paths, .one, .word, .oneAndOptionalName: 1
            case .nameAndNewName: 2
            }
        }

        /// The first operand from which on all are names of entries.
        var firstName: Int {
            switch self {
            case .name, .optionalName, .names, .nameAndNewName: 0
            case .oneAndOptionalName: 1
            case .none, .paths, .one, .word: Int.max
            }
        }

        var maximum: Int {
            switch self {
            case .none: 0
            case .name, .optionalName, .one, .word: 1
            case .oneAndOptionalName, .nameAndNewName: 2
            case .names, .paths: Int.max
            }
        }
    }

    let summary: String
    let operands: Operands
    let options: [Option]
    /// Command lines to paste; the first one is the plainest.
    let examples: [String]
    /// What the summary does not say, a paragraph each.
    let details: [String]
}
