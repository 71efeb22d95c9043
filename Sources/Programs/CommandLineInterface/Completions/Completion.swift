/// What a word of the command line can be.
enum Completion {
    /// One of these words; none if there is nothing to offer.
    case words([Candidate])
    case files
    /// The name of an entry of the vault at this path, which is the default vault if it is `nil`.
    case entryNames(vault: String?)

    /// A possible word, with one line that describes it.
    struct Candidate {
        let text: String
        var summary = ""
    }

    /// What `current` can be after `words`.
    init(of current: String, after words: [String], in table: VerbTable) {
        let (verb, reader) = CommandLineReader.interpret(words, by: table)
        let entry = verb.map { table.entries[$0.place] }
        if let option = reader.optionWithoutValue {
            self = Completion(ofValueOf: option)
        } else if !reader.hasEndedOptions, current.hasPrefix("-") {
            self = Completion(
                of: current, for: entry, given: reader.spoken.map(\.option), in: table)
        } else if let entry, let verb {
            let vault = reader.spoken.last { $0.option?.name == "vault" }?.value
            self = Completion(
                of: entry.operands, at: reader.operands.count - verb.words, vault: vault)
        } else {
            self = .words(table.words(after: reader.operands))
        }
    }

    /// Options, or the value of an option as in `--type=totp`.
    private init(
        of current: String, for entry: VerbEntry?, given: [Option?], in table: VerbTable
    ) {
        let options = (entry?.options ?? []) + table.global
        guard let end = current.firstIndex(of: "=") else {
            let help = table.help
            let possible = options.filter { $0.isRepeatable || !given.contains($0) }
            let candidates = possible.flatMap { option in
                let summary = help.summary(of: option, for: entry?.name)
                return option.spellings.map { Candidate(text: $0, summary: summary) }
            }
            self = .words(candidates.filter { $0.text.hasPrefix("--") || !current.hasPrefix("--") })
            return
        }
        let name = current[..<end]
        guard let option = options.first(where: { "--" + $0.name == name }) else {
            self = .words([])
            return
        }
        self = Completion(ofValueOf: option, prefix: name + "=")
    }

    private init(ofValueOf option: Option, prefix: String = "") {
        self =
            switch option.value {
            case .file: .files
            case .choice(let words), .beginning(let words, _), .optionalChoice(let words, _):
                .words(words.map { Candidate(text: prefix + $0) })
            case .text, .none: .words([])
            }
    }

    /// The operand at `index`.
    private init(of operands: Operands, at index: Int, vault: String?) {
        guard index < operands.maximum else {
            self = .words([])
            return
        }
        self =
            switch operands {
            case .word(let words): .words(words.map { Candidate(text: $0) })
            case .paths, .optionalPaths, .file, .optionalFile: .files
            default: index >= operands.firstName ? .entryNames(vault: vault) : .words([])
            }
    }
}

extension Option {
    /// The ways to write the option.
    fileprivate var spellings: [String] { ["--" + name] + (short.map { ["-\($0)"] } ?? []) }
}

extension VerbTable {
    /// The words that can follow `words` in the name of a verb; `words` are not a complete name.
    fileprivate func words(after words: [String]) -> [Completion.Candidate] {
        if words.first == "help" {
            return self.words(after: Array(words.dropFirst())).filter { $0.text != "help" }
        }
        switch words.count {
        case 0: return firstWords
        case 1:
            let help = help
            return names.compactMap { name in
                let parts = name.split(separator: " ")
                guard parts.count == 2, parts[0] == words[0] else { return nil }
                return Completion.Candidate(text: String(parts[1]), summary: help[name].summary)
            }
        default: return []
        }
    }

    /// The first word of every verb, once.
    ///
    /// Its description is the summary of a one-word verb, or else the words that can follow.
    private var firstWords: [Completion.Candidate] {
        var words: [Completion.Candidate] = []
        let help = help
        for name in names {
            let parts = name.split(separator: " ").map(String.init)
            if parts.count == 1 {
                words.append(Completion.Candidate(text: name, summary: help[name].summary))
            } else if let index = words.firstIndex(where: { $0.text == parts[0] }) {
                words[index].summary += ", " + parts[1]
            } else {
                words.append(Completion.Candidate(text: parts[0], summary: parts[1]))
            }
        }
        return words + [Completion.Candidate(text: "help", summary: "show help for a command")]
    }
}
