internal import WatchwordSystem

/// An error in the command line.
///
/// It does not contain operands or values, because the user may have typed a secret by mistake.
package enum UsageError: Error, Hashable, Sendable {
    case notUTF8
    case missingVerb
    case unknownVerb(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    case inapplicableOption(String, verb: String)
    case duplicateOption(String)
    case missingValue(String)
    /// A required option, with its values if it takes several from a short list.
    case missingOption(String, values: [String] = [])
    case unexpectedValue(String)
    case badValue(String, expected: String)
    case badVariable(String, expected: String)
    case missingOperand(String)
    case badOperand(String, expected: String)
    case emptyName
    /// A secret in the position of the operand with this placeholder.
    case secretAsOperand(String, SecretForm)
    /// There are more operands than the verb takes; `meant` is an option with one of these operands
    /// as its value.
    case tooManyOperands(verb: String, meant: String? = nil)
    case conflict(String, String)
    case needs(String, with: String)
    case needsOneOf([String])
    /// The entry on the command line already specifies this option's value.
    case specifiedByEntry(String)
    /// The key URI already specifies this option's value.
    case specifiedByURI(String)
    case twoReadersOfStandardInput
    /// Only completion scripts use this verb.
    case reservedForShells(String)
}

extension UsageError {
    /// The error message for the user of `program`.
    package func sentence(program: String) -> String {
        switch self {
        case .notUTF8:
            "an argument or $WATCHWORD_VAULT is not UTF-8; if it is a file name, rename the file"
        case .missingVerb: "no command given; \(program) --help lists the commands"
        case .unknownVerb(let word, let nearest):
            "unknown command “\(word.visibleOnTerminal)”"
                + Self.meant(nearest, "\(program) --help")
        case .unknownOption(let spelling, let nearest):
            "unknown option “\(spelling.visibleOnTerminal)”"
                + Self.meant(nearest.map { "--" + $0 }, "--help")
        case .inapplicableOption(let name, let verb):
            "--\(name) does not apply to “\(verb)”; see \(program) \(verb) --help"
        case .duplicateOption(let name): "--\(name) is given twice; give it once"
        case .missingValue(let name): "--\(name) needs a value"
        case .missingOption(let name, let values):
            "--\(name) is required" + (values.isEmpty ? "" : ": \(Self.list(of: values))")
        case .unexpectedValue(let name): "--\(name) takes no value"
        case .badValue(let name, let expected): "--\(name) must be \(expected)"
        case .badVariable(let name, let expected): "\(name) must be \(expected)"
        case .badOperand(let placeholder, let expected): "\(placeholder) must be \(expected)"
        case .missingOperand(let placeholder): "\(placeholder) is missing; see --help"
        case .emptyName: "NAME is empty; \(program) list prints all names"
        case .secretAsOperand(let placeholder, let form):
            "\(placeholder) \(form.finding), which other users and your shell's history can see; "
                + form.advice(program: program)
        case .tooManyOperands(let verb, let option):
            "too many arguments for “\(verb)”" + Self.meant(option, "\(program) \(verb) --help")
        case .conflict(let one, let other): "--\(one) and --\(other) cannot be used together"
        case .needs(let one, let other): "--\(one) requires --\(other)"
        case .needsOneOf(let choices):
            "one of these is required: " + choices.joined(separator: ", ")
        case .specifiedByEntry(let name):
            "--\(name) is specified by the entry; leave out the option or NAME"
        case .specifiedByURI(let name): "--\(name) is specified by the URI; leave out the option"
        case .twoReadersOfStandardInput: "only one option can read standard input"
        case .reservedForShells(let verb):
            "\(verb) is only for completion scripts; see \(program) completions --help"
        }
    }

    /// The value of an option that takes several of these words.
    package static func list(of values: [String]) -> String {
        "one or more of \(values.joined(separator: ", ")), separated by commas"
    }

    /// A suggestion: the name that was probably meant, or where names are listed.
    package static func meant(_ nearest: String?, _ help: String) -> String {
        nearest.map { "; did you mean “\($0)”?" } ?? "; see \(help)"
    }
}

/// The kind of secret in a command-line argument.
package enum SecretForm: Hashable, Sendable {
    /// An `otpauth://` URI.
    case keyURI
    /// A different URI that contains keys, such as a part of an export.
    case exportURI
    /// A key in Base32.
    case key

    fileprivate var finding: String {
        switch self {
        case .keyURI, .exportURI: "is a URI with a key"
        case .key: "looks like a key"
        }
    }

    fileprivate func advice(program: String) -> String {
        switch self {
        case .keyURI:
            "paste the URI at the prompt of \(program) add, or use \(program) add --uri-file FILE "
                + "(- for standard input)"
        case .exportURI:
            "write the URI to a file and use \(program) import FILE (- for standard input)"
        case .key:
            "paste the key at the prompt of \(program) add, or use --secret-file FILE (- for "
                + "standard input); for an entry with such a name, use --account or the entry's id"
        }
    }
}

/// Finds the name that the user probably meant.
package enum NearestName {
    /// The name that is closest to `typed`, if any is close enough to be suggested.
    package static func of(_ typed: String, among names: [String]) -> String? {
        let allowed = max(1, typed.count / 3)
        let measured = names.map { name in (name, distance(Array(typed), Array(name))) }
        // If distances are equal, prefer a name with the same first character as `typed`; then use
        // alphabetical order.
        let best = measured.min { left, right in
            (left.1, left.0.first == typed.first ? 0 : 1, left.0)
                < (right.1, right.0.first == typed.first ? 0 : 1, right.0)
        }
        if let best, best.1 <= allowed { return best.0 }
        let beginnings = names.filter { !typed.isEmpty && $0.hasPrefix(typed) }
        return beginnings.count == 1 ? beginnings[0] : nil
    }

    /// The Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of adjacent
    /// characters.
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for column in right.indices {
                let replacing = last[column] + (character == right[column] ? 0 : 1)
                var cost = min(last[column + 1] + 1, current[column] + 1, replacing)
                if row > 0, column > 0, character == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
