/// The possible words at one position of the command line.
enum Completion {
    /// One of these words; none if there is nothing to offer.
    case words([Candidate])
    case files
    /// A word that the command for names prints when it is run with this option, for the vault at
    /// this path (`nil`: the default vault); the word on the command line begins with the prefix.
    case listed(by: String, vault: String?, prefix: String)

    /// A possible word and a one-line description.
    struct Candidate {
        let text: String
        var summary = ""
    }

    /// Determines the possible forms of `current` after `words`.
    init(of current: String, after words: [String], in table: VerbTable) {
        let (verb, reader) = CommandLineReader.interpret(words, by: table)
        let entry = verb.map { table.entries[$0.place] }
        let vault = reader.spoken.last { $0.option?.name == "vault" }?.value
        if let option = reader.optionWithoutValue {
            self = Completion(ofValueOf: option, vault: vault)
        } else if !reader.hasEndedOptions, current.hasPrefix("-") {
            self = Completion(
                of: current, for: entry, given: reader.spoken.map(\.option), in: table,
                vault: vault)
        } else if let entry, let verb {
            self = Completion(
                of: entry.operands, at: reader.operands.count - verb.words, vault: vault)
        } else {
            self = .words(table.words(after: reader.operands))
        }
    }

    /// Options, or the value of an option as in `--type=totp`.
    private init(
        of current: String, for entry: VerbEntry?, given: [Option?], in table: VerbTable,
        vault: String?
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
        self = Completion(ofValueOf: option, prefix: name + "=", vault: vault)
    }

    private init(ofValueOf option: Option, prefix: String = "", vault: String?) {
        self =
            switch option.value {
            case .file: .files
            case .choice(let words), .beginning(let words, _), .optionalChoice(let words, _):
                .words(words.map { Candidate(text: prefix + $0) })
            case .listed(_, let listing): .listed(by: listing, vault: vault, prefix: prefix)
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
            default:
                index >= operands.firstName
                    ? .listed(by: "names", vault: vault, prefix: "") : .words([])
            }
    }
}

extension Option {
    /// The ways to write the option.
    fileprivate var spellings: [String] { ["--" + name] + (short.map { ["-\($0)"] } ?? []) }
}

extension VerbTable {
    /// The words that can follow `words` in the name of a verb; `words` are only the beginning of a
    /// name.
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

/// A shell's request for the possible words at the cursor.
///
/// Completion scripts make it with the hidden verb `__complete SHELL INDEX WORD…`. The first WORD
/// is the program's name, and INDEX is the position of the word to complete. The answer has one
/// candidate per line, followed by a tab and a description if there is one. The line `\tfiles`
/// alone asks the shell to complete file names; no candidate is empty, so none looks like this
/// line. After the line `\tnames`, the script runs a command that prints the names of entries or
/// other words, with the options that follow, one part a line. For bash and fish, the first part is
/// the text in front of each word, such as `--tag=`; for bash, the typed word and the number of its
/// characters to keep come before that part. Case is ignored. An empty answer offers nothing.
///
/// The verb is not in the table of verbs, so help pages, the manual page and the completions do not
/// mention it. It uses only the table: it opens no vault and no database, and never prompts. The
/// command that prints names is an ordinary one, which asks only the agent.
struct CompletionRequest {
    /// The verb on the command line.
    static let verb = "__complete"

    let shell: CompletionScript.Shell
    /// The words before the one to complete, without the program's name.
    let words: [String]
    /// The part of the word to complete that has been typed.
    let current: String
    /// The number of characters of `current` that the shell keeps in front of a candidate.
    let keptCount: Int

    /// Reads the arguments after the verb.
    init(_ arguments: [String]) throws(UsageError) {
        guard arguments.count > 2, let shell = CompletionScript.Shell(rawValue: arguments[0]),
            let index = Int(arguments[1])
        else { throw .reservedForShells(CompletionRequest.verb) }
        let line = Array(arguments[2...])
        guard line.indices.contains(index), index > 0 else {
            throw .reservedForShells(CompletionRequest.verb)
        }
        var words = Array(line[1...index])
        let last = words.last ?? ""
        if shell == .bash { words = CompletionRequest.joined(words) }
        current = words.popLast() ?? ""
        self.shell = shell
        self.words = words
        let replaced = shell == .bash && CompletionRequest.isBreak(last) ? 0 : last.count
        keptCount = current.count - replaced
    }

    /// Joins the words that bash has split, as in `--type`, `=`, `totp`.
    private static func joined(_ words: [String]) -> [String] {
        var joined: [String] = []
        var continues = false
        for word in words {
            if continues || isBreak(word), let last = joined.popLast() {
                joined.append(last + word)
            } else {
                joined.append(word)
            }
            continues = isBreak(word)
        }
        return joined
    }

    /// Whether bash splits words at `word` and treats it as a separate word.
    private static func isBreak(_ word: String) -> Bool {
        !word.isEmpty && word.allSatisfy { "=:@".contains($0) }
    }

    /// The lines of the answer.
    func answer(_ completion: Completion) -> [String] {
        switch completion {
        case .files: return ["\tfiles"]
        case .listed(let option, let vault, let prefix):
            let typed = shell == .bash ? [current, "\(keptCount)"] : []
            let start = ["\tnames"] + typed + (shell == .zsh ? [] : [prefix])
            return start + ["--" + option] + (vault.map { ["--vault", $0] } ?? [])
        case .words(let candidates):
            // bash shows every candidate, without descriptions. The other shells filter the
            // candidates themselves.
            if shell == .bash {
                return candidates.map(\.text).filter { $0.hasPrefix(current) }
                    .map { String($0.dropFirst(keptCount)) }
            }
            return candidates.map { $0.text + ($0.summary.isEmpty ? "" : "\t" + $0.summary) }
        }
    }
}

extension VerbTable {
    /// The answer to the request in `arguments`, which follow the verb `__complete`.
    func completions(_ arguments: [String]) throws(UsageError) -> [String] {
        let request = try CompletionRequest(arguments)
        return request.answer(Completion(of: request.current, after: request.words, in: self))
    }
}

/// A shell's completion script.
///
/// The script asks the program for the candidates, with the hidden verb `__complete`; see
/// ``CompletionRequest``. It runs the program found in `PATH`, even if the user has typed a path.
package enum CompletionScript {
    package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// The script for the shell that `word` names.
    ///
    /// - Parameter names: the command that prints the names of entries, without the program and the
    ///   option `--names`; it never prompts, and prints nothing if the names are not available.
    package static func of(
        _ word: String, program: String, names: String? = nil
    ) throws(UsageError) -> String {
        guard let shell = Shell(rawValue: word) else {
            throw .needsOneOf(Shell.allCases.map(\.rawValue))
        }
        return of(shell, program: program, names: names)
    }

    /// The script for `shell`.
    static func of(_ shell: Shell, program: String, names: String? = nil) -> String {
        let name = String(program.map { $0 == "-" ? "_" : $0 })
        let script =
            switch shell {
            case .bash: bash(program, name, names)
            case .zsh: zsh(program, name, names)
            case .fish: fish(program, name, names)
            }
        let title = "# \(shell) completion for \(program); made by: \(program) completions \(shell)"
        // zsh finds the script by its first line.
        return (shell == .zsh ? "#compdef \(program)\n" : "") + title + "\n" + script
    }

    /// For bash 4 and later; it does not need the bash-completion package.
    private static func bash(_ program: String, _ name: String, _ names: String?) -> String {
        // bash replaces only the text after the last of certain characters, such as a colon.
        let completingNames =
            names.map { command in
                """

                    if [[ ${COMPREPLY[0]} == $'\\tnames' ]]; then
                        local word typed=${COMPREPLY[1]} kept=${COMPREPLY[2]}
                        local prefix=${COMPREPLY[3]} names
                        mapfile -t names < <(
                            \(program) \(command) "${COMPREPLY[@]:4}" 2>/dev/null </dev/null)
                        COMPREPLY=()
                        for word in "${names[@]}"; do
                            word=$prefix$word
                            [[ ${word,,} == "${typed,,}"* ]] || continue
                            printf -v word %q "${word:kept}"
                            COMPREPLY+=("$word")
                        done
                    fi
                """
            } ?? ""
        return """
            _\(name)() {
                local current=${COMP_WORDS[COMP_CWORD]}
                mapfile -t COMPREPLY < <(
                    \(program) __complete bash "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
                if [[ ${COMPREPLY[0]} == $'\\tfiles' ]]; then
                    compopt -o filenames 2>/dev/null
                    mapfile -t COMPREPLY < <(compgen -f -- "${current#[=:@]}")
                fi\(completingNames)
            }
            complete -F _\(name) \(program)
            """
    }

    /// For zsh's completion system, which loads the script as a function or evaluates it.
    private static func zsh(_ program: String, _ name: String, _ names: String?) -> String {
        let completingNames =
            names.map { command in
                """

                    elif [[ $lines[1] == $'\\tnames' ]]; then
                        [[ $PREFIX != --*=* ]] || compset -P '[^=]#='
                        lines=(${(f)"$(\(program) \(command) $lines[2,-1] 2>/dev/null </dev/null)"})
                        compadd -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -a lines
                """
            } ?? ""
        return """
            _\(name)() {
                local -a lines
                lines=(${(f)"$(\(program) __complete zsh $((CURRENT - 1)) "${(@Q)words}" 2>/dev/null)"})
                if [[ $lines[1] == $'\\tfiles' ]]; then
                    [[ $PREFIX != --*=* ]] || compset -P '[^=]#='
                    _files\(completingNames)
                else
                    # _describe separates the description with a colon.
                    lines=(${${lines//:/\\\\:}/$'\\t'/:})
                    _describe argument lines
                fi
            }
            if [[ $funcstack[1] == _\(name) ]]; then _\(name) "$@"; else compdef _\(name) \(program); fi
            """
    }

    /// For fish 3 and later.
    ///
    /// The rule has a condition that runs the program. If the program requests file names, the
    /// condition is false, and fish completes the file names itself.
    private static func fish(_ program: String, _ name: String, _ names: String?) -> String {
        let completingNames =
            names.map { command in
                """

                    if test "$__\(name)_lines[1]" = \\tnames
                        set -l prefix "$__\(name)_lines[2]"
                        set -g __\(name)_lines (
                            \(program) \(command) $__\(name)_lines[3..-1] 2>/dev/null </dev/null)
                        set -g __\(name)_lines $prefix$__\(name)_lines
                    end
                """
            } ?? ""
        return """
            function __\(name)_complete
                set -l words (commandline -opc)
                set -l current (commandline -ct)
                set -g __\(name)_lines (
                    \(program) __complete fish (count $words) $words "$current" 2>/dev/null)\(completingNames)
                test "$__\(name)_lines[1]" != \\tfiles
            end
            complete -c \(program) -n __\(name)_complete -f -a '$__\(name)_lines'
            """
    }
}
