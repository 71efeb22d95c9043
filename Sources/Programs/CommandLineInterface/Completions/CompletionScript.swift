/// A shell's completion script.
///
/// The script asks the program for the candidates, with the hidden verb `__complete`; see
/// ``CompletionRequest``. It runs the program found in `PATH`, even if the user has typed a path.
package enum CompletionScript {
    /// A supported shell.
    package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

    /// The script for the shell that `word` names.
    ///
    /// - Parameter names: the command that prints the names of entries, without the program; it never
    ///   prompts, and prints nothing if the names are not available.
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
        // Part of a function's name.
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
        // bash replaces only what is after the last of some characters, such as a colon.
        let completingNames =
            names.map { command in
                """

                    if [[ ${COMPREPLY[0]} == $'\\tnames' ]]; then
                        local word typed=${COMPREPLY[1]} kept=${COMPREPLY[2]} names
                        mapfile -t names < <(
                            \(program) \(command) "${COMPREPLY[@]:3}" 2>/dev/null </dev/null)
                        COMPREPLY=()
                        for word in "${names[@]}"; do
                            [[ $word == "$typed"* ]] || continue
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
                        lines=(${(f)"$(\(program) \(command) $lines[2,-1] 2>/dev/null </dev/null)"})
                        compadd -a lines
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
                        set -e __\(name)_lines[1]
                        set -g __\(name)_lines (
                            \(program) \(command) $__\(name)_lines 2>/dev/null </dev/null)
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
