/// A shell's request for the possible words at the cursor.
///
/// Completion scripts make it with the hidden verb `__complete SHELL INDEX WORD…`. The first WORD is
/// the program's name, and INDEX is the position of the word to complete. The answer has one
/// candidate per line, followed by a tab and a description if there is one. The line `\tfiles` alone
/// asks the shell to complete file names; a candidate is never empty, so no candidate looks like
/// that. After the line `\tnames`, the script runs a command that prints the names of entries, with
/// the options that follow, one part a line; for bash, these begin with the word that was typed
/// and the number of its characters to keep. An empty answer means that there is nothing to offer.
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
    /// The number of characters of `current` that the shell keeps before a candidate.
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
        case .entryNames(let vault):
            let typed = shell == .bash ? [current, "\(keptCount)"] : []
            return ["\tnames"] + typed + (vault.map { ["--vault", $0] } ?? [])
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
