internal import Cryptography
internal import HardwareTokens
internal import POSIX
internal import PresenceDevices
internal import VaultAgent

/// Uses a TPM through `watchword-token`, which the supervisor starts.
///
/// This process cannot open the device. It sends the helper what one key needs to sign.
struct RelayedToken: TokenRequestHandler {
    private let context: RelayContext
    /// Who enters the PIN of a key that has one; `nil` if nobody is asked.
    private let person: RemotePerson?
    /// For each step of the device.
    private let timeout: Duration

    init(_ context: RelayContext, asking person: RemotePerson? = nil, timeout: Duration) {
        self.context = context
        self.person = person
        self.timeout = timeout
    }

    func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenHelper.Failure) -> TokenResult {
        try context.using { helpers throws(SystemCallFailure) in
            try helpers.startToken()
        } otherwise: { refusal in
            switch refusal {
            case .notFound: TokenHelper.Failure.helper(.notFound)
            case .locked: .timedOut
            case .system(let failure): .helper(.system(failure))
            }
        } _: { connection throws(TokenHelper.Failure) in
            // When the vault is locked, the connection ends, and so does the question.
            guard let remote = self.person else {
                return try TokenHelper.carryOut(
                    request, with: &person, over: connection, timeout: timeout)
            }
            var pin = RemotePIN(person: remote, end: .reading(connection))
            return try TokenHelper.carryOut(
                request, with: &pin, over: connection, timeout: timeout)
        }
    }
}

/// The person at a client, who enters the PIN of a device key.
private struct RemotePIN: TokenHelper.Person {
    let person: RemotePerson
    /// Becomes ready when the PIN is no longer needed.
    let end: Polling.Interest

    func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? {
        // Without an answer, there is no PIN, and the key does not sign.
        do { return try person.askPIN(isRepeated: isRepeated, left: left, for: end) } catch {
            return nil
        }
    }

    // A TPM is not touched.
    func touch(number: Int, of count: Int) {}
}

/// Stands for the person, whom ``RelayedToken`` asks.
struct AbsentPerson: TokenHelper.Person {
    func pin(isRepeated: Bool, left: UInt32?) -> SecretBytes? { nil }
    func touch(number: Int, of count: Int) {}
}
