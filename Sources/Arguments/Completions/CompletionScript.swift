/// A shell's completion script, generated from the table of verbs.
///
/// It completes verbs, options, their words and files. It never runs the program, so it never opens
/// the vault.
package enum CompletionScript<Verb: ProgramVerb> {
    /// A shell that is supported.
    package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// The script for `shell`.
    package static func of(_ shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    /// The program's name as part of a function name.
    static var function: String { String(Verb.program.map { $0 == "-" ? "_" : $0 }) }

    /// The first words of two-word verbs, such as `slot` and `qr`.
    static var groups: [String] {
        var groups: [String] = []
        for verb in Verb.allCases {
            let words = verb.name.split(separator: " ")
            if words.count == 2, !groups.contains(String(words[0])) {
                groups.append(String(words[0]))
            }
        }
        return groups
    }

    /// The possible first words, each with a summary.
    static var firstWords: [(word: String, summary: String)] {
        var words: [(String, String)] = []
        for verb in Verb.allCases {
            let parts = verb.name.split(separator: " ").map(String.init)
            if parts.count == 1 {
                words.append((parts[0], verb.page.summary))
            } else if !words.contains(where: { $0.0 == parts[0] }) {
                words.append((parts[0], secondWords(of: parts[0]).joined(separator: ", ")))
            }
        }
        return words + [("help", "show help for a command")]
    }

    /// The possible words after `group`.
    static func secondWords(of group: String) -> [String] {
        Verb.allCases.map(\.name).filter { $0.hasPrefix(group + " ") }
            .map { String($0.dropFirst(group.count + 1)) }
    }

    /// The options that take a value with every verb, so that a shell can skip the value.
    static var namesWithValue: [String] {
        let flags = Set(Verb.allOptions.filter { $0.value == .none }.map(\.name))
        return Verb.allOptions.filter { $0.value != .none && !flags.contains($0.name) }.map(\.name)
    }

    /// The possible operands of `verb`; `nil` if they are not a fixed set of words.
    static func operandWords(of verb: Verb) -> [String]? {
        if case .word(let words) = verb.page.operands { words } else { nil }
    }

    /// Whether operands of `verb` are files.
    static func takesFiles(_ verb: Verb) -> Bool {
        switch verb.page.operands {
        case .paths, .file, .optionalFile: true
        default: false
        }
    }
}
