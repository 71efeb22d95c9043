/// A command-line option with its value, its help text and its completions.
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
    }

    /// The name without the dashes.
    package let name: String
    /// The one-letter form, if there is one.
    package let short: Character?
    /// The kind of value.
    package let value: Value
    /// One line for the help page and the completions.
    package let summary: String
    /// Whether the option can also be set by an environment variable.
    package let isInEnvironment: Bool
    /// Whether the option can be given several times.
    package let isRepeatable: Bool
    private let ownPlaceholder: String?

    /// Creates a flag.
    package init(_ name: String, short: Character? = nil, _ summary: String) {
        self.init(name, short: short, .none, summary, isInEnvironment: false)
    }

    /// Creates an option with a value.
    ///
    /// - Parameter placeholder: replaces the list of a choice's words in help pages.
    package init(
        _ name: String, short: Character? = nil, _ value: Value, placeholder: String? = nil,
        _ summary: String
    ) {
        self.init(
            name, short: short, value, placeholder: placeholder, summary, isInEnvironment: false)
    }

    private init(
        _ name: String, short: Character?, _ value: Value, placeholder: String? = nil,
        _ summary: String, isInEnvironment: Bool, isRepeatable: Bool = false
    ) {
        self.name = name
        self.short = short
        self.value = value
        ownPlaceholder = placeholder
        self.summary = summary
        self.isInEnvironment = isInEnvironment
        self.isRepeatable = isRepeatable
    }

    /// Whether the option needs a value.
    package var takesValue: Bool {
        switch value {
        case .none, .optionalChoice: false
        case .file, .text, .choice, .beginning: true
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
            .optionalChoice(_, let placeholder):
            placeholder
        case .choice(let words): words.joined(separator: "|")
        }
    }

    /// The same option with another summary, for one verb.
    package func saying(_ summary: String) -> Option {
        Option(
            name, short: short, value, placeholder: ownPlaceholder, summary,
            isInEnvironment: isInEnvironment, isRepeatable: isRepeatable)
    }

    /// The same option, but it can also be set by an environment variable.
    package var settableByEnvironment: Option {
        Option(
            name, short: short, value, placeholder: ownPlaceholder, summary, isInEnvironment: true)
    }

    /// The same option, but it can be given several times.
    package var repeatable: Option {
        Option(
            name, short: short, value, placeholder: ownPlaceholder, summary,
            isInEnvironment: isInEnvironment, isRepeatable: true)
    }

    /// The environment variable for the option, such as `WATCHWORD_OPS_LISTEN`.
    package var variable: String {
        "WATCHWORD_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    // Options are identified by name: their summaries can differ between verbs.
    package static func == (left: Option, right: Option) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

// The options of both programs.
extension Option {
    /// Shows a help page instead of running the command.
    package static let help = Option("help", short: "h", "show help for the command")
    /// Shows the version instead of running the command.
    package static let version = Option("version", short: "V", "show the version")
    package static let json = Option("json", "print JSON, one object per line")
    package static let quiet = Option("quiet", short: "q", "print no warnings or notes")
}
