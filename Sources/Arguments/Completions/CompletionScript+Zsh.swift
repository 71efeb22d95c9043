extension CompletionScript {
    /// The script for zsh's completion system.
    static var zsh: String {
        """
        #compdef \(Verb.program)
        # zsh completion for \(Verb.program); made by: \(Verb.program) completions zsh
        _\(function)() {
            local word verb plain=0
            local -i i
            local -a operands everywhere verbs
            everywhere=(
        \(zshSpecs(Verb.global, indent: 8))
            )
            for ((i = 2; i < CURRENT; i++)); do
                word=${words[i]}
                if ((plain)); then operands+=("$word"); continue; fi
                case $word in
                    --) plain=1 ;;
                    \(namesWithValue.map { "--" + $0 }.joined(separator: "|"))) ((i++)) ;;
                    -?*) ;;
                    *) operands+=("$word") ;;
                esac
            done
            verb=${operands[1]}
            case $verb in
                \(groups.joined(separator: "|"))) ((${#operands} > 1)) && verb+=" ${operands[2]}" ;;
            esac
            case $verb in
        \(zshVerbs)
                *)
                    verbs=(
        \(zshFirstWords)
                    )
                    if [[ -z $verb && $words[CURRENT] != -* ]]; then
                        _describe verb verbs
                    else
                        _arguments -s $everywhere '*: :'
                    fi ;;
            esac
        }
        if [[ $funcstack[1] == _\(function) ]]; then _\(function) "$@"; else compdef _\(function) \(Verb.program); fi
        """
    }

    private static var zshFirstWords: String {
        firstWords.map { "                '\($0.word):\(zshQuoted($0.summary))'" }
            .joined(separator: "\n")
    }

    private static var zshVerbs: String {
        var lines = groups.map { group in
            "        \(group)) _arguments -s $everywhere '1: :' "
                + "'2:verb:(\(secondWords(of: group).joined(separator: " ")))' ;;"
        }
        for verb in Verb.allCases {
            let words = verb.name.split(separator: " ").count
            var specs = (1...words).map { "'\($0): :'" }
            if let choices = operandWords(of: verb) {
                specs.append("'\(words + 1): :(\(choices.joined(separator: " ")))'")
            } else {
                specs.append(takesFiles(verb) ? "'*:file:_files'" : "'*: :'")
            }
            lines += ["        '\(verb.name)')", "            _arguments -s $everywhere \\"]
            if !verb.page.options.isEmpty {
                lines.append(zshSpecs(verb.page.options, indent: 16, ending: " \\"))
            }
            lines.append("                " + specs.joined(separator: " ") + " ;;")
        }
        let verbs = firstWords.map(\.word).filter { $0 != "help" }.joined(separator: " ")
        lines.append("        help) _arguments '1: :' '2:verb:(\(verbs))' ;;")
        return lines.joined(separator: "\n")
    }

    private static func zshSpecs(_ options: [Option], indent: Int, ending: String = "") -> String {
        options.map { option in
            let value =
                switch option.value {
                case .none: ""
                case .file: ":file:_files"
                case .text(let placeholder): ":\(zshQuoted(placeholder)): "
                case .choice(let words), .beginning(let words, _):
                    ":word:(\(words.joined(separator: " ")))"
                }
            let equals = option.value == .none ? "" : "="
            let explained = "[\(zshQuoted(option.summary))]\(value)"
            let margin = String(repeating: " ", count: indent)
            guard let short = option.short else {
                return "\(margin)'--\(option.name)\(equals)\(explained)'\(ending)"
            }
            return "\(margin)'(-\(short) --\(option.name))'{-\(short),--\(option.name)}"
                + "'\(explained)'\(ending)"
        }.joined(separator: "\n")
    }

    private static func zshQuoted(_ text: String) -> String {
        text.reduce(into: "") { quoted, character in
            switch character {
            case "'": quoted += "'\\''"
            case "[", "]", ":", "\\": quoted += "\\\(character)"
            default: quoted.append(character)
            }
        }
    }
}
