/// A command-line option and its value; the program's document has its help text.
package struct Option: Hashable, Sendable {
    /// The kind of value that an option takes.
    package enum Value: Hashable, Sendable {
        /// No value: the option is a flag.
        case none
        /// A file to read or write.
        case file
        /// Any other value, with this placeholder.
        case text(String)
        /// One of these words.
        case choice([String])
        /// One of these words after an equals sign, with this placeholder, or no value.
        case optionalChoice([String], String)
        /// A value that begins with one of these words, with this placeholder.
        case beginning([String], String)
        /// Any value, with this placeholder; completions take the known values from the command
        /// that prints names, run with the last option.
        case listed(String, by: String)
    }

    /// The name without the dashes.
    package let name: String
    /// The one-letter form; `nil` if the option has none.
    package let short: Character?
    package let value: Value
    /// Whether the option can also be set by an environment variable.
    package private(set) var isInEnvironment = false
    /// Whether the option can be given several times.
    package private(set) var isRepeatable = false
    private let ownPlaceholder: String?

    /// Describes an option on the command line.
    ///
    /// - Parameter placeholder: replaces the list of a choice's words in help pages.
    package init(
        _ name: String, short: Character? = nil, _ value: Value = .none, placeholder: String? = nil
    ) {
        self.name = name
        self.short = short
        self.value = value
        ownPlaceholder = placeholder
    }

    /// Whether the option needs a value.
    package var takesValue: Bool {
        switch value {
        case .none, .optionalChoice: false
        case .file, .text, .choice, .beginning, .listed: true
        }
    }

    /// Whether a value may follow an equals sign.
    var acceptsValue: Bool { value != .none }

    /// Whether the option may be given with or without a value.
    package var hasOptionalValue: Bool { acceptsValue && !takesValue }

    /// The placeholder of the value in help pages; `nil` for a flag.
    package var placeholder: String? {
        if let ownPlaceholder { return ownPlaceholder }
        return switch value {
        case .none: nil
        case .file: "FILE"
        case .text(let placeholder), .beginning(_, let placeholder),
            .optionalChoice(_, let placeholder), .listed(let placeholder, _):
            placeholder
        case .choice(let words): words.joined(separator: "|")
        }
    }

    /// The same option, but it can also be set by an environment variable.
    package var settableByEnvironment: Option {
        var option = self
        option.isInEnvironment = true
        return option
    }

    /// The same option, but it can be given several times.
    package var repeatable: Option {
        var option = self
        option.isRepeatable = true
        return option
    }

    /// The environment variable for the option, such as `WATCHWORD_OPS_LISTEN`.
    package var variable: String {
        "WATCHWORD_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    // Options are identified by name, because verbs can define the same option differently.
    package static func == (left: Option, right: Option) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

// The options of both programs.
extension Option {
    /// Shows a help page instead of running the command.
    package static let help = Option("help", short: "h")
    /// Shows the version instead of running the command.
    package static let version = Option("version", short: "V")
    package static let json = Option("json")
    package static let quiet = Option("quiet", short: "q")
}

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
    case file
    case optionalFile
    /// A different operand, with this placeholder.
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
