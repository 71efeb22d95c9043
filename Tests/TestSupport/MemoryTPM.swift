public import Devices
internal import Synchronization
public import WatchwordCryptography

/// A TPM in this process, without PINs.
public final class MemoryTPM: TokenRequestHandler {
    private struct State {
        var objects: [TPMObject: SecretBytes] = [:]
        var newest: SecretBytes?
        var failure: TokenFailure?
        var requests = 0
        var made: UInt8 = 0
    }

    private let state = Mutex(State())

    /// Makes a TPM that has sealed nothing.
    public init() {}

    /// How many requests it was asked to carry out.
    public var requests: Int { state.withLock { $0.requests } }
    /// The error with which every request fails; `nil` if the TPM works.
    public var failure: TokenFailure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }
    /// The secret that it sealed last.
    public var newest: SecretBytes? { state.withLock { $0.newest } }

    /// Makes the TPM unable to unseal what it sealed before.
    public func clear() { state.withLock { $0.objects = [:] } }

    /// Seals or unseals a secret.
    public func carryOut(
        _ request: TokenRequest, with person: inout some TokenHelper.Person
    ) throws(TokenFailure) -> TokenResponse {
        try state.withLock { state throws(TokenFailure) in
            state.requests += 1
            if let failure = state.failure { throw failure }
            switch request {
            case .seal(let secret, pin: nil, isBoundToPCR7: false, in: _):
                state.made += 1
                let object = TPMObject(
                    publicArea: [state.made], privateArea: [1], requiresPIN: false,
                    isBoundToPCR7: false)
                guard let object else { throw .badRequest }
                state.objects[object] = secret
                state.newest = secret
                return .sealed(object)
            case .unseal(let object, in: _):
                guard let secret = state.objects[object] else { throw .otherDevice }
                return .secret(secret)
            default: throw .badRequest
            }
        }
    }
}
