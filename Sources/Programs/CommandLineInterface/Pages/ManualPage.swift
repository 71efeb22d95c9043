/// The manual page in mdoc(7), generated from the table of verbs.
package enum ManualPage<Verb: ProgramVerb> {
    package static var text: String {
        let documents = Verb.documents
        let help = documents.help
        var lines = options(Verb.global, help: help)
        let verbs = Dictionary(uniqueKeysWithValues: Verb.allCases.map { ($0.name, $0.entry) })
        for group in help.groups(of: Verb.allCases.map(\.name)) {
            let title = group.title.map { ": " + $0.uppercased() } ?? ""
            lines.append(".Sh COMMANDS\(title)")
            for verb in group.names.compactMap({ verbs[$0] }) { lines += section(verb, help: help) }
        }
        return documents.manual(lines.joined(separator: "\n"))
    }

    private static func section(_ verb: VerbEntry, help: HelpDocument) -> [String] {
        let section = help[verb.name]
        var lines = [".Ss \(verb.name) \(escaped(verb.operands.usage))", sentence(section.summary)]
        for paragraph in section.details {
            lines += [".Pp"] + sentences(of: paragraph).map(escaped)
        }
        let options = verb.options
        if !options.isEmpty { lines += self.options(options, of: verb.name, help: help) }
        return lines + [".Bd -literal -offset indent"] + section.examples.map(escaped) + [".Ed"]
    }

    private static func options(
        _ options: [Option], of verb: String? = nil, help: HelpDocument
    ) -> [String] {
        var lines = [".Bl -tag -width Ds"]
        for option in options {
            let short = option.short.map { "Fl \($0) , " } ?? ""
            let value =
                option.placeholder.map {
                    (option.hasOptionalValue ? " Ns Op = Ns Ar " : " Ar ") + escaped($0)
                } ?? ""
            lines.append(".It \(short)Fl -\(option.name)\(value)")
            lines.append(sentence(help.summary(of: option, for: verb)))
        }
        return lines + [".El"]
    }

    /// A summary as a sentence.
    private static func sentence(_ summary: String) -> String {
        escaped(summary.prefix(1).uppercased() + summary.dropFirst()) + "."
    }

    /// One line for each sentence, as mdoc requires.
    private static func sentences(of paragraph: String) -> [String] {
        var sentences: [String] = []
        var sentence = ""
        for word in paragraph.split(separator: " ") {
            sentence += (sentence.isEmpty ? "" : " ") + word
            if word.hasSuffix(".") || word.hasSuffix("?") {
                sentences.append(sentence)
                sentence = ""
            }
        }
        return sentence.isEmpty ? sentences : sentences + [sentence]
    }

    /// Escapes characters that roff would interpret.
    private static func escaped(_ text: String) -> String {
        var plain = ""
        for character in text {
            switch character {
            case "\\": plain += "\\e"
            case "“": plain += "\\(lq"
            case "”": plain += "\\(rq"
            case "…": plain += "..."
            case "-": plain += "\\-"
            case "~": plain += "\\(ti"
            default: plain.append(character)
            }
        }
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}

/// The documents with the text of a program's help pages and manual.
///
/// In both, `{name}` stands for a value, such as a number that a constant defines. They are read
/// only to show a page or completions, not to run a command.
package struct ProgramDocuments: Sendable {
    /// The help pages in UTF-8; see ``HelpDocument``.
    let helpText: [UInt8]
    /// The manual in UTF-8 and mdoc(7), where `{commands}` stands for the options and commands, and
    /// the case of an ``ExitCode``, such as `{usage}`, for its number.
    let manualText: [UInt8]
    /// The values by name.
    let values: [String: String]

    package init(help: [UInt8], manual: [UInt8], values: [String: String]) {
        helpText = help
        manualText = manual
        self.values = values
    }

    /// The help of the program and its commands.
    var help: HelpDocument { HelpDocument(filled(helpText, values)) }

    func manual(_ commands: String) -> String {
        let statuses = ExitCode.allCases.map { ("\($0)", "\($0.rawValue)") }
        let values = values.merging(statuses + [("commands", commands)]) { $1 }
        // The line break at its end is printed with the page.
        let isEnded = manualText.last == UInt8(ascii: "\n")
        return filled(isEnded ? manualText.dropLast() : manualText[...], values)
    }

    /// `document` with its values; unknown names stay unchanged.
    private func filled(_ document: some Sequence<UInt8>, _ values: [String: String]) -> String {
        let parts = document.split(separator: UInt8(ascii: "{"), omittingEmptySubsequences: false)
        var text = String(decoding: parts[0], as: UTF8.self)
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != UInt8(ascii: "}") }
            if let value = values[String(decoding: name, as: UTF8.self)] {
                text += value + String(decoding: part.dropFirst(name.count + 1), as: UTF8.self)
            } else {
                text += "{" + String(decoding: part, as: UTF8.self)
            }
        }
        return text
    }
}
