/// A valid command line: its options and its operands.
package struct ParsedArguments: Sendable {
    package let entry: VerbEntry
    package let operands: [String]
    /// The options on the command line; only repeatable options occur more than once.
    package let given: [GivenOption]
    /// The options of the verb and the global options.
    private let accepted: [Option]
    private let environment: @Sendable (String) -> String?

    init(
        entry: VerbEntry, accepting accepted: [Option], operands: [String],
        given: [GivenOption], environment: @escaping @Sendable (String) -> String?
    ) {
        self.entry = entry
        self.accepted = accepted
        self.operands = operands
        self.given = given
        self.environment = environment
    }

    /// The same command line with additional options, none of which it has already.
    package func adding(_ more: [GivenOption]) -> ParsedArguments {
        ParsedArguments(
            entry: entry, accepting: accepted, operands: operands, given: given + more,
            environment: environment)
    }

    /// The same command line, for which the environment also sets these options, although the verb
    /// does not have them.
    package func accepting(_ more: [Option]) -> ParsedArguments {
        ParsedArguments(
            entry: entry, accepting: accepted + more, operands: operands, given: given,
            environment: environment)
    }

    package func given(_ option: Option) -> String? { given.first { $0.option == option }?.value }

    /// All values of a repeatable option on the command line.
    package func values(of option: Option) -> [String] {
        given.filter { $0.option == option }.map(\.value)
    }

    /// Whether the option was given.
    ///
    /// In the environment, `0`, `no` and `false` mean that it was not.
    package func has(_ option: Option) -> Bool {
        if given(option) != nil { return true }
        guard let value = self[option] else { return false }
        return !["0", "no", "false"].contains(value.lowercased())
    }

    /// The option's value from the command line or, failing that, from the environment.
    package subscript(_ option: Option) -> String? {
        if let value = given(option) { return value }
        guard option.isInEnvironment, accepted.contains(option) else { return nil }
        return environment(option.variable)
    }

    /// The value as converted by `read`; `nil` if the option was not given.
    package func value<Value>(
        _ option: Option, expected: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = self[option] else { return nil }
        guard let value = read(text) else {
            guard given(option) == nil else { throw .badValue(option.name, expected: expected) }
            throw .badVariable(option.variable, expected: expected)
        }
        return value
    }

    /// The value as a whole number in `range`.
    package func integer<Number: FixedWidthInteger>(_ option: Option, in range: ClosedRange<Number>)
        throws(UsageError) -> Number?
    {
        guard let text = self[option] else { return nil }
        // `Number(_:)` accepts a plus sign, which we refuse.
        guard !text.hasPrefix("+"), let number = Number(text), range.contains(number) else {
            let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw .badValue(option.name, expected: expected)
        }
        return number
    }

    /// The value as one of the option's words, ignoring case; `nil` if it was not given.
    package func choice(_ option: Option) throws(UsageError) -> String? {
        guard let text = self[option] else { return nil }
        let words: [String]
        switch option.value {
        case .choice(let choices): words = choices
        case .optionalChoice(let choices, _):
            guard !text.isEmpty else { return nil }
            words = choices
        case .none, .file, .text, .beginning, .listed: return nil
        }
        let typed = text.lowercased()
        guard let word = words.first(where: { $0.lowercased() == typed }) else {
            throw .badValue(option.name, expected: "one of " + words.joined(separator: ", "))
        }
        return word
    }

    /// Refuses options that contradict each other.
    package func forbid(_ options: Option...) throws(UsageError) {
        let given = options.filter(has)
        if given.count > 1 { throw .conflict(given[0].name, given[1].name) }
    }
}

/// An option on the command line with its value.
package struct GivenOption: Sendable {
    /// The option as the verb defines it.
    package let option: Option
    package let value: String

    package init(option: Option, value: String) {
        self.option = option
        self.value = value
    }

    /// The option with one of the operands, which was probably meant to be its optional value.
    func attaching(oneOf operands: [String]) -> String? {
        guard value.isEmpty, case .optionalChoice(let words, _) = option.value else { return nil }
        return words.first(where: operands.contains).map { "--\(option.name)=\($0)" }
    }
}
