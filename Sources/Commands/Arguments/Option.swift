/// One option as it is typed, completed and documented.
struct Option: Hashable, Sendable {
    /// What follows the option.
    enum Value: Hashable, Sendable {
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
    let name: String
    /// The one letter it is also known by, where people expect one.
    let short: Character?
    /// What follows it.
    let value: Value
    /// One line for the help page and the completions.
    let summary: String

    /// An option that is there or not.
    init(_ name: String, short: Character? = nil, _ summary: String) {
        self.init(name, short: short, .none, summary)
    }

    /// An option that `value` follows.
    init(_ name: String, _ value: Value, _ summary: String) {
        self.init(name, short: nil, value, summary)
    }

    private init(_ name: String, short: Character?, _ value: Value, _ summary: String) {
        self.name = name
        self.short = short
        self.value = value
        self.summary = summary
    }

    /// The placeholder of its value on a page; `nil` when it takes none.
    var placeholder: String? {
        switch value {
        case .none: nil
        case .file: "FILE"
        case .text(let placeholder), .beginning(_, let placeholder): placeholder
        case .choice(let words): words.joined(separator: "|")
        }
    }

    /// The same option, explained for one verb.
    func saying(_ summary: String) -> Option { Option(name, short: short, value, summary) }

    // An option is known by its name: what is said of it may differ from verb to verb.
    static func == (left: Option, right: Option) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
