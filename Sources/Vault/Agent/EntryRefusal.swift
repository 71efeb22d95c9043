internal import Devices
internal import SecretVault
internal import VaultService

/// Why an entry was not used.
enum EntryRefusal: Error {
    case vault(VaultError)
    /// The check failed, at this cost.
    case refused(RefusalCost)
    /// The system's modules gave no verdict.
    case noVerdict(PAMCheckFailure)
    /// The entry has no such code.
    case noCode
    /// The vault has been locked meanwhile.
    case notHeld

    var response: AgentResponse {
        switch self {
        case .vault(let error): .failed(error)
        case .refused(let cost): .refused(cost)
        case .noVerdict(let failure): .noVerdict(failure)
        case .noCode: .noCode
        case .notHeld: .notHeld
        }
    }
}

extension EntryRefusal {
    static func from<Result>(
        _ body: () throws(VaultError) -> Result
    ) throws(EntryRefusal) -> Result {
        do { return try body() } catch { throw .vault(error) }
    }
}
