public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography

/// Why a sign-in or an enrolment failed.
public enum DeviceLoginError: Error, Hashable, Sendable {
    /// The entry is not an enrolled secret.
    case otherKind
    /// The entry is a device key, not an enrolled secret.
    case deviceKey
    /// The server has not answered the key's registration.
    case unregistered
    /// An earlier run with this ticket made the key elsewhere, or without the PIN.
    case otherPlace
    /// The server has registered the key of an earlier run, which made it elsewhere, or without the
    /// PIN. It is in use now, and the ticket was not sent.
    case adoptedElsewhere
    /// The system agent uses only its own computer's TPM.
    case otherTPM
    /// This version cannot read the entry's content.
    case unreadable
    /// The secret is older than one that was already presented: it comes from a backup. It was not
    /// presented, because the server would treat it as stolen.
    case stale
    /// The text does not have the form of an enrolment ticket.
    case badTicket
    /// The entry with this name holds the enrolment of this ticket already, perhaps in a later state,
    /// or held it. Nothing was stored.
    case alreadyEnrolled(as: String)
    /// The vault threw this error.
    case vault(VaultError)
    /// The server sent no usable response.
    case helper(HTTPHelperFailure)
    /// The server responded with a problem document.
    case problem(HelperResponse.Problem)
    /// The server rejected the secret; the device keeps it.
    case denied
    /// The server rejected the secret and told the device to wipe it for an unknown reason; the
    /// device keeps it.
    case wipeNotObeyed
    /// The server told the device to wipe the secret, and it did.
    case wiped(Tombstone.Reason)
    /// The response does not fit the request.
    case unexpectedResponse
    /// The TPM with the device key did not sign.
    case token(TokenFailure)
    /// A call into OpenSSL failed.
    case cryptography(CryptographyFailure)
}

extension Tombstone.Reason {
    /// The reason for the server's wipe order; `nil` for an unknown reason, which is not obeyed.
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
