/// The output of `--help`.
package enum HelpPage<Verb: ProgramVerb> {
    private static var width: Int { 80 }

    /// The page of one verb, which starts with examples.
    package static func of(_ verb: Verb) -> String {
        let entry = verb.entry
        let options = entry.options
        let help = Verb.documents.help
        let section = help[entry.name]
        var lines = ["Examples:"] + section.examples.map { "  " + $0 }
        let usage = [Verb.program, entry.name, entry.operands.usage].filter { !$0.isEmpty }
        lines += ["", "Usage: " + usage.joined(separator: " ") + " [OPTION…]", ""]
        lines += wrapped("\(entry.name): \(section.summary).", indent: 0)
        for paragraph in section.details { lines += [""] + wrapped(paragraph, indent: 0) }
        if !options.isEmpty {
            lines += ["", "Options:"]
            lines += columns(options.map { (left(of: $0), help.summary(of: $0, for: entry.name)) })
        }
        if let option = options.first(where: \.isInEnvironment) {
            let hint =
                "Most options can also be set by environment variables: \(option.variable) for "
                + "--\(option.name)."
            lines += [""] + wrapped(hint, indent: 0)
        }
        lines += ["", "Global options: see \(Verb.program) --help."]
        return lines.joined(separator: "\n")
    }

    /// The page of the program, with the global options; it also starts with examples.
    package static func ofProgram() -> String {
        let help = Verb.documents.help
        let about = help[Verb.program]
        var lines = ["Examples:"] + about.examples.map { "  " + $0 }
        lines += [
            "", "Usage: \(Verb.program) COMMAND [OPERAND…] [OPTION…]", "", about.summary, "",
            "Commands:",
        ]
        lines += columns(Verb.allCases.map { ($0.name, help[$0.name].summary) })
        lines += ["", "Global options:"]
        lines += columns(Verb.global.map { (left(of: $0), help.summary(of: $0)) })
        lines += [
            "", "Help for a command: \(Verb.program) COMMAND --help",
            "The manual page: \(Verb.program) manual",
        ]
        return lines.joined(separator: "\n")
    }

    private static func left(of option: Option) -> String {
        let short = option.short.map { "-\($0), " } ?? ""
        let value = option.placeholder.map { option.hasOptionalValue ? "[=\($0)]" : " " + $0 }
        return short + "--" + option.name + (value ?? "")
    }

    /// Two columns; the first one is as wide as its contents, within limits.
    ///
    /// In a row whose first column is wider, the second column begins on a new line.
    private static func columns(_ rows: [(String, String)]) -> [String] {
        let widest = rows.map { $0.0.count + 4 }.max() ?? 0
        let gap = min(widest, 31)
        return rows.flatMap { left, right in
            let indented = "  " + left
            guard indented.count + 2 <= gap else {
                return [indented] + wrapped(right, indent: gap)
            }
            let padded = indented + String(repeating: " ", count: gap - indented.count)
            var lines = wrapped(right, indent: gap)
            lines[0] = padded + lines[0].dropFirst(gap)
            return lines
        }
    }

    /// Wraps `text` to 80 columns, with each line indented.
    package static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indent, line.count + 1 + word.count > width {
                lines.append(line)
                line = margin
            }
            line += (line.count > indent ? " " : "") + word
        }
        return lines + [line]
    }
}
