/// An error in the command line.
///
/// It does not contain operands or values, because the user may have typed a secret by mistake.
package enum UsageError: Error, Hashable, Sendable {
    case notUTF8
    case missingVerb
    case unknownVerb(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    case foreignOption(String, verb: String)
    case doubledOption(String)
    case missingValue(String)
    case unexpectedValue(String)
    case badValue(String, expected: String)
    /// The same for an environment variable.
    case badVariable(String, expected: String)
    case missingOperand(String)
    case badOperand(String, expected: String)
    /// An entry name that is empty.
    case emptyName
    case tooManyOperands(verb: String)
    case conflict(String, String)
    case needs(String, with: String)
    case needsOneOf([String])
    /// The option is given together with an entry that already specifies it.
    case saidByEntry(String)
    case twoReadersOfStandardInput
}
