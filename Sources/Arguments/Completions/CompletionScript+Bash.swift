extension CompletionScript {
    /// The script for bash 4 and later; it does not need the bash-completion package.
    package static var bash: String {
        """
        # bash completion for \(Verb.program); made by: \(Verb.program) completions bash
        _\(function)_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }
        _\(function)_files() {
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$1")
        }
        _\(function)() {
            local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            local word verb='' plain=0 i
            local -a operands=()
            COMPREPLY=()
            if [[ $current == '=' ]]; then
                current=''
            elif [[ $previous == '=' ]]; then
                previous=${COMP_WORDS[COMP_CWORD-2]}
            fi
            for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                if ((plain)); then operands+=("$word"); continue; fi
                case $word in
                    --) plain=1 ;;
                    \(namesWithValue.map { "--" + $0 }.joined(separator: "|")))
                        ((i++))
                        [[ ${COMP_WORDS[i]} == '=' ]] && ((i++)) ;;
                    -?*|'=') ;;
                    *) operands+=("$word") ;;
                esac
            done
            verb=${operands[0]:-}
            case $verb in
                \(groups.joined(separator: "|"))) [[ ${#operands[@]} -gt 1 ]] && verb+=" ${operands[1]}" ;;
            esac
            if ((!plain)); then
                case "$verb $previous" in
        \(bashValues)
                esac
            fi
            if ((!plain)) && [[ $current == -* ]]; then
                case $verb in
        \(bashOptions)
                    *) _\(function)_words '\(bashList(Verb.global))' "$current" ;;
                esac
                return
            fi
            case $verb in
                '') _\(function)_words '\(firstWords.map(\.word).joined(separator: " "))' "$current" ;;
        \(bashOperands)
            esac
        }
        complete -F _\(function) \(Verb.program)
        """
    }

    private static func bashList(_ options: [Option]) -> String {
        options.map { "--" + $0.name }.joined(separator: " ")
    }

    private static var bashOptions: String {
        Verb.allCases.map { verb in
            let list = bashList(verb.page.options + Verb.global)
            return "            '\(verb.name)') _\(function)_words '\(list)' \"$current\" ;;"
        }.joined(separator: "\n")
    }

    /// Completes an option's value with files or words; other values are unknown.
    private static var bashValues: String {
        var lines: [String] = []
        for option in Verb.allOptions where option.value != .none {
            // If only some verbs' options with this name take a value, those verbs are listed.
            let isUniform = namesWithValue.contains(option.name)
            let verbs =
                isUniform
                ? ["*"]
                : Verb.allCases.filter { $0.page.options.contains { $0.takesValue(like: option) } }
                    .map { "'\($0.name)'" }
            let pattern = verbs.map { $0 + "' --\(option.name)'" }.joined(separator: "|")
            let action =
                switch option.value {
                case .choice(let words), .beginning(let words, _):
                    "_\(function)_words '\(words.joined(separator: " "))' \"$current\"; "
                case .file: "_\(function)_files \"$current\"; "
                case .text, .none: ""
                }
            lines.append("            \(pattern)) \(action)return ;;")
        }
        return lines.joined(separator: "\n")
    }

    private static var bashOperands: String {
        var lines = groups.map { group in
            "        \(group)) _\(function)_words "
                + "'\(secondWords(of: group).joined(separator: " "))' \"$current\" ;;"
        }
        for verb in Verb.allCases {
            if let words = operandWords(of: verb) {
                lines.append(
                    "        '\(verb.name)') _\(function)_words "
                        + "'\(words.joined(separator: " "))' \"$current\" ;;")
            } else if takesFiles(verb) {
                lines.append("        '\(verb.name)') _\(function)_files \"$current\" ;;")
            }
        }
        let verbs = firstWords.map(\.word).filter { $0 != "help" }.joined(separator: " ")
        lines.append("        help) _\(function)_words '\(verbs)' \"$current\" ;;")
        return lines.joined(separator: "\n")
    }
}

extension Option {
    /// Whether both have the same name and take the same kind of value.
    func takesValue(like other: Option) -> Bool { self == other && value == other.value }
}
