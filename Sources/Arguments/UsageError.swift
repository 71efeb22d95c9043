/// What was wrong with the way the program was called.
///
/// Operands and values are not repeated: somebody may have typed a secret where a name belongs.
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
    /// The same of a variable of the environment.
    case badVariable(String, expected: String)
    case missingOperand(String)
    /// A name that names nothing.
    case emptyName
    case tooManyOperands(verb: String)
    case conflict(String, String)
    case needs(String, with: String)
    case needsOneOf([String])
    /// The entry says itself what the option would say.
    case saidByEntry(String)
    case twoReadersOfStandardInput
}
