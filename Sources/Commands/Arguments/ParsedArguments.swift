/// A call that was understood: its verb, its options, its operands.
struct ParsedArguments: Sendable {
    let verb: Verb
    let operands: [String]
    private let values: [Option: String]

    init(verb: Verb, operands: [String], values: [Option: String]) {
        self.verb = verb
        self.operands = operands
        self.values = values
    }

    /// Whether the option was given.
    func has(_ option: Option) -> Bool { values[option] != nil }

    /// The option's value, if it was given.
    subscript(_ option: Option) -> String? { values[option] }

    /// The value as a whole number in `range`.
    func integer<Number: FixedWidthInteger>(_ option: Option, in range: ClosedRange<Number>)
        throws(UsageError) -> Number?
    {
        guard let text = values[option] else { return nil }
        // `Number(_:)` takes a plus sign, which nobody means.
        guard !text.hasPrefix("+"), let number = Number(text), range.contains(number) else {
            let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw .badValue(option.name, expected: expected)
        }
        return number
    }

    /// The value as one of the option's words, whatever their case; `nil` when it was not given.
    func choice(_ option: Option) throws(UsageError) -> String? {
        guard let text = values[option], case .choice(let words) = option.value else { return nil }
        let typed = text.lowercased()
        guard let word = words.first(where: { $0.lowercased() == typed }) else {
            throw .badValue(option.name, expected: words.joined(separator: ", "))
        }
        return word
    }

    /// Refuses two options that say different things of the same.
    func forbid(_ options: Option...) throws(UsageError) {
        let given = options.filter(has)
        if given.count > 1 { throw .conflict(given[0].name, given[1].name) }
    }

    /// Refuses that two options both read standard input, or both write to standard output.
    func checkStandardInput() throws(UsageError) {
        let written: Set<Option> = [.png, .svg, .qrPNG]
        let streams = values.filter { option, value in option.value == .file && value == "-" }
        let writers = streams.keys.filter(written.contains)
        if streams.count - writers.count > 1 { throw .twoReadersOfStandardInput }
        if writers.count > 1 { throw .conflict(Option.png.name + " -", Option.svg.name + " -") }
    }
}
