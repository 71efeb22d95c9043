internal import CFIDO2
public import Devices
internal import Glibc
internal import WatchwordCryptography

/// The part of `watchword-token` that talks to a FIDO2 authenticator.
public enum AuthenticatorProgram {
    /// Makes a credential or gets its secret.
    ///
    /// - Parameter source: where the authenticators are, by default those of this computer.
    public static func answer(
        _ request: TokenRequest, over channel: borrowing TokenChannel,
        from source: some AuthenticatorSource = ConnectedAuthenticators()
    ) throws(TokenFailure) -> TokenResponse {
        try TokenFailure.prepareCryptography()
        switch request {
        case .makeCredential(let path, let salt, let requiresPIN):
            let devices = try opened(path, from: source, over: channel)
            guard devices.count == 1 else { throw .severalDevices }
            return try make(salt: salt, requiresPIN: requiresPIN, on: devices[0], over: channel)
        case .secret(let credential, let path):
            let devices = try opened(path, from: source, over: channel)
            guard let device = holder(of: credential, among: devices) else { throw .otherDevice }
            if credential.requiresPIN { try device.expectPIN() }
            let secret = try withPIN(credential.requiresPIN, on: device, over: channel) {
                pin throws(TokenFailure) in
                channel.askToTouch(number: 1, of: 1)
                return try device.secret(of: credential, pin: pin)
            }
            return .secret(secret.0)
        case .seal, .unseal, .makeKey, .sign, .attest, .activate: throw .badRequest
        }
    }

    /// Opens the authenticators in a process that can only open devices, and then gives up that,
    /// too.
    private static func opened(
        _ path: String?, from source: some AuthenticatorSource, over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> [Authenticator] {
        Authenticator.prepare()
        try channel.confineToOpening()
        let devices = try source.open(path)
        try channel.confine()
        guard !devices.isEmpty else { throw .noDevice }
        return devices
    }

    /// The authenticator that recognises the credential; no touch is needed to find it.
    private static func holder(
        of credential: FIDOCredential, among devices: [Authenticator]
    ) -> Authenticator? {
        var uncertain: Authenticator?
        for device in devices {
            switch device.knows(credential) {
            case true?: return device
            case false?: continue
            case nil: uncertain = uncertain ?? device
            }
        }
        return uncertain
    }

    private static func make(
        salt: [UInt8], requiresPIN: Bool, on device: Authenticator,
        over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        if requiresPIN { try device.expectPIN() }
        func id(pin: SecretBytes?) throws(TokenFailure) -> [UInt8] {
            channel.askToTouch(number: 1, of: 2)
            return try device.makeCredential(pin: pin)
        }
        let made: ([UInt8], pin: SecretBytes?)
        do throws(TokenFailure) {
            made = try withPIN(requiresPIN, on: device, over: channel, id)
        } catch .noPIN where !requiresPIN {
            // Some authenticators with a PIN make no credential without it.
            made = try withPIN(true, on: device, over: channel, id)
        }
        guard
            let credential = FIDOCredential(
                id: made.0, salt: salt, relyingParty: FIDOCredential.standardRelyingParty,
                requiresPIN: requiresPIN)
        else { throw .badDeviceResponse }
        channel.askToTouch(number: 2, of: 2)
        return .made(
            credential, try device.secret(of: credential, pin: requiresPIN ? made.pin : nil))
    }

    /// Calls `body` with the PIN, again after a wrong PIN.
    private static func withPIN<Result>(
        _ requiresPIN: Bool, on device: Authenticator, over channel: borrowing TokenChannel,
        _ body: (SecretBytes?) throws(TokenFailure) -> Result
    ) throws(TokenFailure) -> (Result, pin: SecretBytes?) {
        guard requiresPIN else { return (try body(nil), nil) }
        for attempt in 1...TokenChannel.mostAttempts {
            let left = device.attemptsLeft()
            if left == 0 { throw .blockedPIN }
            guard let pin = channel.askPIN(isRepeated: attempt > 1, left: left) else {
                throw attempt > 1 ? .wrongPIN(left: left) : .noPIN
            }
            do throws(TokenFailure) {
                return (try body(pin), pin)
            } catch .wrongPIN {
                continue
            }
        }
        throw .wrongPIN(left: device.attemptsLeft())
    }
}

/// The source of authenticators.
public protocol AuthenticatorSource {
    /// Opens the authenticator at `path`, or all of them.
    func open(_ path: String?) throws(TokenFailure) -> [Authenticator]
}

/// The authenticators that are connected to this computer.
public struct ConnectedAuthenticators: AuthenticatorSource {
    /// More than this are not looked at.
    private static let most = 16

    /// Uses the computer's authenticators.
    public init() {}

    /// Opens the authenticator at `path`, or all of them.
    public func open(_ path: String?) throws(TokenFailure) -> [Authenticator] {
        var opened: [Authenticator] = []
        var isDenied = false
        for path in path.map({ [$0] }) ?? ConnectedAuthenticators.paths() {
            guard unsafe access(path, R_OK | W_OK) == 0 else {
                isDenied = isDenied || errno == EACCES || errno == EPERM
                continue
            }
            if let device = ConnectedAuthenticators.open(at: path) { opened.append(device) }
        }
        if opened.isEmpty, isDenied { throw .noPermission }
        return opened
    }

    private static func open(at path: String) -> Authenticator? {
        guard let device = unsafe fido_dev_new() else { return nil }
        guard unsafe fido_dev_open(device, path) == FIDO_OK else {
            var released: OpaquePointer? = unsafe device
            unsafe fido_dev_free(&released)
            return nil
        }
        let authenticator = unsafe Authenticator(owning: device)
        // An authenticator that supports only U2F has no `hmac-secret`.
        return unsafe fido_dev_is_fido2(device) ? authenticator : nil
    }

    private static func paths() -> [String] {
        guard let list = unsafe fido_dev_info_new(most) else { return [] }
        var released: OpaquePointer? = unsafe list
        defer { unsafe fido_dev_info_free(&released, most) }
        var found = 0
        guard unsafe fido_dev_info_manifest(list, most, &found) == FIDO_OK else { return [] }
        return (0..<min(found, most)).compactMap { index in
            guard let info = unsafe fido_dev_info_ptr(list, index),
                let path = unsafe fido_dev_info_path(info)
            else { return nil }
            return unsafe String(validatingCString: path)
        }
    }
}
