import Devices
import TestSupport
import Testing
import WatchwordCryptography

/// Answers a helper's questions from a list.
struct TestPerson: TokenHelper.Person {
    /// A question that was asked.
    struct Question: Equatable {
        let isRepeated: Bool
        let left: UInt32?
    }

    private var pins: [String]
    /// The questions so far.
    private(set) var questions: [Question] = []
    /// The touches so far.
    private(set) var touches: [Int] = []

    init(_ pins: String...) { self.pins = pins }

    mutating func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        questions.append(Question(isRepeated: isRepeated, left: left))
        return pins.isEmpty ? nil : SecretBytes(text: pins.removeFirst())
    }

    mutating func touch(number: Int, of count: Int) { touches.append(number) }
}

extension TokenResponse {
    /// The secret, as text; `nil` if it is none.
    var secretText: String? { if case .secret(let secret) = self { secret.text } else { nil } }
}

extension TemporaryFolder {
    /// The path of the helper program in the folder.
    var program: String { file("helper") }

    /// Writes a script as the helper program.
    func addProgram(_ script: String) throws { try addProgram(script, as: "helper") }

    /// Copies a program as the helper program.
    func addProgram(copying path: String) throws { try addProgram(copying: path, as: "helper") }
}
