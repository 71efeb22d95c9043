extension CompletionScript {
    /// The script for fish 3 and later.
    package static var fish: String {
        let head = """
            # fish completion for \(Verb.program); made by: \(Verb.program) completions fish
            function __\(function)_verb
                set -l operands
                set -l skip 0
                for word in (commandline -opc)[2..]
                    if test $skip = 1
                        set skip 0
                        continue
                    end
                    switch $word
                        case \(namesWithValue.map { "--" + $0 }.joined(separator: " "))
                            set skip 1
                        case '-?*'
                        case '*'
                            set -a operands $word
                    end
                end
                switch "$operands[1]"
                    case \(groups.joined(separator: " "))
                        echo -- $operands[1..2]
                    case '*'
                        echo -- $operands[1]
                end
            end
            function __\(function)_verb_is
                test (__\(function)_verb) = "$argv[1]"
            end
            complete -c \(Verb.program) -f
            """
        return ([head] + fishVerbs + fishOptions + fishOperands).joined(separator: "\n")
    }

    private static var fishVerbs: [String] {
        let first = firstWords.map {
            complete(verb: "", "-a \($0.word) -d '\(fishQuoted($0.summary))'")
        }
        let second = groups.map { group in
            complete(verb: group, "-a '\(secondWords(of: group).joined(separator: " "))'")
        }
        let verbs = firstWords.map(\.word).filter { $0 != "help" }.joined(separator: " ")
        return first + second + [complete(verb: "help", "-a '\(verbs)'")]
    }

    private static var fishOptions: [String] {
        Verb.global.map { "complete -c \(Verb.program) " + fishSpec($0) }
            + Verb.allCases.flatMap { verb in
                verb.page.options.map { complete(verb: verb.name, fishSpec($0)) }
            }
    }

    private static var fishOperands: [String] {
        Verb.allCases.compactMap { verb in
            if let words = operandWords(of: verb) {
                return complete(verb: verb.name, "-a '\(words.joined(separator: " "))'")
            }
            return takesFiles(verb) ? complete(verb: verb.name, "-F") : nil
        }
    }

    private static func complete(verb: String, _ rest: String) -> String {
        "complete -c \(Verb.program) -n '__\(function)_verb_is \"\(verb)\"' \(rest)"
    }

    private static func fishSpec(_ option: Option) -> String {
        let short = option.short.map { "-s \($0) " } ?? ""
        let value =
            switch option.value {
            case .none: ""
            case .file: " -r -F"
            case .text: " -x"
            case .choice(let words), .beginning(let words, _):
                " -x -a '\(words.joined(separator: " "))'"
            }
        return "\(short)-l \(option.name)\(value) -d '\(fishQuoted(option.summary))'"
    }

    private static func fishQuoted(_ text: String) -> String {
        text.reduce(into: "") { quoted, character in
            if character == "'" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
    }
}
