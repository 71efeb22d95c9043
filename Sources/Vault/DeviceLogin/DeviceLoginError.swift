public import Courier
public import Devices
public import SecretVault
public import WatchwordCryptography
package import WatchwordSystem

/// The reason why a sign-in or an enrolment failed.
public enum DeviceLoginError: Error, Hashable, Sendable {
    /// The entry is not an enrolled secret.
    case otherKind
    /// The entry is a device key, not an enrolled secret.
    case deviceKey
    /// The server has not answered the key's registration.
    case unregistered
    /// An earlier run with this ticket made the key in a different place, or without the PIN.
    case otherPlace
    /// The server has registered the key of an earlier run, which made the key in a different
    /// place, or without the PIN. That key is in use now, and the ticket was not sent.
    case adoptedElsewhere
    /// The system agent uses only its own computer's TPM.
    case otherTPM
    /// This version cannot read the entry's content.
    case unreadable
    /// The secret is older than a secret that was already presented: the secret comes from a
    /// backup. It was not presented, because the server would treat the secret as stolen.
    case stale
    /// The text does not have the form of an enrolment ticket; it was not sent.
    case badTicket
    /// The entry with this name holds the enrolment of this ticket, perhaps in a later state, or
    /// held it before. Nothing was stored.
    case alreadyEnrolled(as: String)
    /// The vault reported this error.
    case vault(VaultError)
    /// The server at this address sent no usable response; `nil` if no request was made.
    case helper(HTTPHelperFailure, at: ServerAddress?)
    /// The server at this address responded with a problem document.
    case problem(HelperResponse.Problem, at: ServerAddress)
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

extension DeviceLoginError {
    /// Converts the vault's errors.
    static func vault<Result: ~Copyable>(
        in call: @autoclosure () throws(VaultError) -> Result
    ) throws(DeviceLoginError) -> Result {
        do { return try call() } catch { throw .vault(error) }
    }

    /// Converts the failure of a call into OpenSSL.
    static func cryptography<Result>(
        in call: @autoclosure () throws(CryptographyFailure) -> Result
    ) throws(DeviceLoginError) -> Result {
        do { return try call() } catch { throw .cryptography(error) }
    }
}

extension Tombstone.Reason {
    /// The reason for the server's wipe order, which has the same word in both types; `nil` for an
    /// unknown reason, which is not obeyed.
    init?(_ order: HelperResponse.WipeOrder) { self.init(rawValue: order.rawValue) }
}

extension DeviceLoginError: Transferable {
    enum Kind: UInt8, CaseIterable, Transferable {
        case otherKind, unreadable, stale, badTicket, vault, helper, problem, denied
        case wipeNotObeyed, wiped, unexpectedResponse, cryptography, deviceKey, unregistered
        case token, otherPlace, otherTPM, adoptedElsewhere, alreadyEnrolled
    }

    package func write(to output: FrameWriter) {
        switch self {
        case .otherKind: output.append(Kind.otherKind)
        case .token(let failure): output.append(Kind.token, failure)
        case .deviceKey: output.append(Kind.deviceKey)
        case .unregistered: output.append(Kind.unregistered)
        case .otherPlace: output.append(Kind.otherPlace)
        case .otherTPM: output.append(Kind.otherTPM)
        case .adoptedElsewhere: output.append(Kind.adoptedElsewhere)
        case .unreadable: output.append(Kind.unreadable)
        case .stale: output.append(Kind.stale)
        case .badTicket: output.append(Kind.badTicket)
        case .alreadyEnrolled(let name): output.append(Kind.alreadyEnrolled, name)
        case .vault(let error): output.append(Kind.vault, error)
        case .helper(let failure, let server): output.append(Kind.helper, failure, server)
        case .problem(let problem, let server):
            output.append(Kind.problem, problem, server)
        case .denied: output.append(Kind.denied)
        case .wipeNotObeyed: output.append(Kind.wipeNotObeyed)
        case .wiped(let reason): output.append(Kind.wiped, reason)
        case .unexpectedResponse: output.append(Kind.unexpectedResponse)
        case .cryptography(let failure): output.append(Kind.cryptography, failure)
        }
    }

    package init(reading fields: inout FieldReader, in bytes: Span<UInt8>) throws(Unreadable) {
        self =
            switch try fields.value(bytes) as Kind {
            case .otherKind: .otherKind
            case .token: try fields.make(Self.token, from: bytes)
            case .deviceKey: .deviceKey
            case .unregistered: .unregistered
            case .otherPlace: .otherPlace
            case .otherTPM: .otherTPM
            case .adoptedElsewhere: .adoptedElsewhere
            case .unreadable: .unreadable
            case .stale: .stale
            case .badTicket: .badTicket
            case .alreadyEnrolled: try fields.make(Self.alreadyEnrolled, from: bytes)
            case .vault: try fields.make(Self.vault, from: bytes)
            case .helper: try fields.make(Self.helper, from: bytes)
            case .problem: try fields.make(Self.problem, from: bytes)
            case .denied: .denied
            case .wipeNotObeyed: .wipeNotObeyed
            case .wiped: try fields.make(Self.wiped, from: bytes)
            case .unexpectedResponse: .unexpectedResponse
            case .cryptography: try fields.make(Self.cryptography, from: bytes)
            }
    }
}
