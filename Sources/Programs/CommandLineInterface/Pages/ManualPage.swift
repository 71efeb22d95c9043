/// The manual page in mdoc(7), generated from the table of verbs.
package enum ManualPage<Verb: ProgramVerb> {
    /// The whole page.
    package static var text: String {
        ([Verb.about.manualHead] + verbs + [Verb.about.manualTail]).joined(separator: "\n")
    }

    private static var verbs: [String] {
        options(Verb.global) + [".Sh COMMANDS"] + Verb.allCases.flatMap(section)
    }

    private static func section(_ verb: Verb) -> [String] {
        let page = verb.page
        var lines = [".Ss \(verb.name) \(escaped(page.operands.usage))"]
        lines.append(escaped(page.summary.prefix(1).uppercased() + page.summary.dropFirst()) + ".")
        for paragraph in page.details { lines += [".Pp"] + sentences(of: paragraph).map(escaped) }
        if !page.options.isEmpty { lines += options(page.options) }
        lines += [".Bd -literal -offset indent"]
        lines += page.examples.map(escaped)
        return lines + [".Ed"]
    }

    private static func options(_ options: [Option]) -> [String] {
        var lines = [".Bl -tag -width Ds"]
        for option in options {
            let short = option.short.map { "Fl \($0) , " } ?? ""
            let value =
                option.placeholder.map {
                    (option.hasOptionalValue ? " Ns Op = Ns Ar " : " Ar ") + escaped($0)
                } ?? ""
            lines.append(".It \(short)Fl -\(option.name)\(value)")
            lines.append(
                escaped(option.summary.prefix(1).uppercased() + option.summary.dropFirst()) + ".")
        }
        return lines + [".El"]
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
    package static func escaped(_ text: String) -> String {
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
