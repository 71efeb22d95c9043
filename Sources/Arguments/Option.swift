/// One option as it is typed, completed and documented.
package struct Option: Hashable, Sendable {
    /// What follows the option.
    package enum Value: Hashable, Sendable {
        /// Nothing: the option is there or not.
        case none
        /// A file to read, or to write.
        case file
        /// Something else, called by this placeholder.
        case text(String)
        /// One of these words.
        case choice([String])
        /// Something else, called by this placeholder; it begins with one of these words.
        case beginning([String], String)
    }

    /// Its name without the dashes.
    package let name: String
    /// The one letter it is also known by, where people expect one.
    package let short: Character?
    /// What follows it.
    package let value: Value
    /// One line for the help page and the completions.
    package let summary: String
    /// Whether the environment may say it, too, where the command line does not.
    package let isInEnvironment: Bool

    /// An option that is there or not.
    package init(_ name: String, short: Character? = nil, _ summary: String) {
        self.init(name, short: short, .none, summary, isInEnvironment: false)
    }

    /// An option that `value` follows.
    package init(_ name: String, _ value: Value, _ summary: String) {
        self.init(name, short: nil, value, summary, isInEnvironment: false)
    }

    private init(
        _ name: String, short: Character?, _ value: Value, _ summary: String, isInEnvironment: Bool
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
        self.isInEnvironment = isInEnvironment
    }

    /// Whether a value follows it.
    package var takesValue: Bool { if case .none = value { false } else { true } }

    /// The placeholder of its value on a page; `nil` when it takes none.
    package var placeholder: String? {
        switch value {
        case .none: nil
        case .file: "FILE"
        case .text(let placeholder), .beginning(_, let placeholder): placeholder
        case .choice(let words): words.joined(separator: "|")
        }
    }

    /// The same option, explained for one verb.
    package func saying(_ summary: String) -> Option {
        Option(name, short: short, value, summary, isInEnvironment: isInEnvironment)
    }

    /// The same option, which the environment may say, too.
    package var orEnvironment: Option {
        Option(name, short: short, value, summary, isInEnvironment: true)
    }

    /// The variable that says it: `WATCHWORD_OPS_LISTEN`.
    package var variable: String {
        "WATCHWORD_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    // An option is known by its name: what is said of it may differ from verb to verb.
    package static func == (left: Option, right: Option) -> Bool { left.name == right.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
