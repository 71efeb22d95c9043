public import Courier
public import Cryptography
public import SecretVault

/// Why a device did not sign in, or was not enrolled.
public enum DeviceLoginError: Error, Hashable, Sendable {
    /// The entry is no enrolled secret.
    case otherKind
    /// What the entry holds is not what this version writes.
    case unreadable
    /// No enrolment ticket has this form.
    case badTicket
    /// The vault did not do its part.
    case vault(VaultError)
    /// There was no answer.
    case helper(HTTPHelperFailure)
    /// The server answered with a problem.
    case problem(HelperResponse.Problem)
    /// The secret was not accepted; it stays.
    case denied
    /// The server asks for a wipe for a reason that is none; the secret was not accepted, and stays.
    case wipeNotObeyed
    /// The server told the device to forget the secret, and it did.
    case wiped(Tombstone.Reason)
    /// The answer answers something else.
    case senseless
    /// OpenSSL could not do its work.
    case cryptography(CryptographyFailure)
}

extension Tombstone.Reason {
    /// The reason of the server's that is obeyed; nothing for one that is not listed.
    init?(_ order: HelperResponse.WipeOrder) {
        switch order {
        case .revoked: self = .revoked
        case .reuseDetected: self = .reuseDetected
        case .tooManyFailures: self = .tooManyFailures
        case .accountClosed: self = .accountClosed
        case .unlisted: return nil
        }
    }
}
