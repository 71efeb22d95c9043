/// The manual page in mdoc(7), generated from the table of verbs.
package enum ManualPage<Verb: ProgramVerb> {
    /// The whole page.
    package static var text: String {
        let documents = Verb.documents
        let help = documents.help
        var lines = options(Verb.global, help: help) + [".Sh COMMANDS"]
        for verb in Verb.allCases { lines += section(verb.entry, help: help) }
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
