public import Devices
public import WatchwordCryptography
internal import WatchwordSystem

/// A TPM, and who talks to it.
public struct TPMAccess: Sendable {
    let address: TPMAddress
    private let handler: any TokenRequestHandler

    /// - Parameter handler: by default, a process that this one starts for each request.
    public init(
        _ address: TPMAddress, through handler: any TokenRequestHandler = StartedTokenHelper()
    ) {
        self.address = address
        self.handler = handler
    }

    func carryOut(
        _ request: TokenRequest, asking person: inout some TokenHelper.Person
    ) throws(DeviceLoginError) -> TokenResult {
        do { return try handler.carryOut(request, with: &person) } catch { throw .token(error) }
    }
}

/// Looks for `watchword-token` when it is needed.
public struct StartedTokenHelper: TokenRequestHandler {
    /// Creates a handler.
    public init() {}

    /// Carries out one request in a process of its own.
    public func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenFailure) -> TokenResult {
        try TokenHelper().carryOut(request, with: &person)
    }
}

/// Where a new key is made.
public enum KeyPlace: Sendable {
    /// In the vault.
    case vault
    /// In this TPM, which requires the PIN, if there is one, before each signature, and attests the
    /// key to the server if that is wanted.
    case tpm(TPMAccess, pin: SecretBytes?, attests: Bool)
    /// In this TPM, or in the vault if the TPM cannot be opened.
    case tpmOrVault(TPMAccess)

    /// The PIN of a new key, if it has one.
    var pin: SecretBytes? {
        guard case .tpm(_, let pin, _) = self else { return nil }
        return pin
    }

    /// Whether the TPM attests a new key to the server.
    var attests: Bool {
        guard case .tpm(_, _, let attests) = self else { return false }
        return attests
    }

    /// The TPM; `nil` for the vault.
    var tpm: TPMAccess? {
        switch self {
        case .vault: nil
        case .tpm(let tpm, _, _), .tpmOrVault(let tpm): tpm
        }
    }

    /// Makes a key.
    func makeSigner() throws(DeviceLoginError) -> any TranscriptSigner {
        switch self {
        case .vault: return try SoftwareSigner.make()
        case .tpm(let tpm, let pin, _): return try TPMSigner.make(in: tpm, pin: pin)
        case .tpmOrVault(let tpm):
            do throws(DeviceLoginError) { return try TPMSigner.make(in: tpm, pin: nil) } catch {
                switch error {
                case .token(.noDevice), .token(.noPermission),
                    .token(.helper(.notFound)):
                    return try SoftwareSigner.make()
                default: throw error
                }
            }
        }
    }
}
