public import Devices
internal import WatchwordCryptography
internal import WatchwordSystem

/// The part of `watchword-token` that talks to a FIDO2 authenticator.
public enum AuthenticatorProgram {
    /// Makes a credential or gets its secret.
    ///
    /// - Parameter source: where the authenticators are, by default those of this computer.
    public static func answer(
        _ request: TokenRequest, over channel: borrowing TokenChannel,
        from source: some AuthenticatorSource = ConnectedAuthenticators()
    ) throws(TokenRefusal) -> TokenResult {
        do { try prepareConfinedCryptography() } catch {
            throw .failed(call: "OPENSSL_init_crypto", code: 0)
        }
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
                pin throws(TokenRefusal) in
                try channel.askToTouch(number: 1, of: 1)
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
    ) throws(TokenRefusal) -> [Authenticator] {
        Authenticator.prepare()
        try channel.confineToOpening()
        let devices = try source.open(path)
        try channel.confine()
        guard !devices.isEmpty else { throw .noDevice }
        return devices
    }

    /// The authenticator that knows the credential; no touch is needed to find it.
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
    ) throws(TokenRefusal) -> TokenResult {
        if requiresPIN { try device.expectPIN() }
        func id(pin: SecretBytes?) throws(TokenRefusal) -> [UInt8] {
            try channel.askToTouch(number: 1, of: 2)
            return try device.makeCredential(pin: pin)
        }
        let made: ([UInt8], pin: SecretBytes?)
        do throws(TokenRefusal) {
            made = try withPIN(requiresPIN, on: device, over: channel, id)
        } catch .noPIN where !requiresPIN {
            // Some authenticators with a PIN make no credential without it.
            made = try withPIN(true, on: device, over: channel, id)
        }
        guard
            let credential = FIDOCredential(
                id: made.0, salt: salt, relyingParty: FIDOCredential.standardRelyingParty,
                requiresPIN: requiresPIN)
        else { throw .badAnswer }
        try channel.askToTouch(number: 2, of: 2)
        return .made(
            credential, try device.secret(of: credential, pin: requiresPIN ? made.pin : nil))
    }

    /// Calls `body` with the PIN, again after a wrong one.
    private static func withPIN<Result>(
        _ requiresPIN: Bool, on device: Authenticator, over channel: borrowing TokenChannel,
        _ body: (SecretBytes?) throws(TokenRefusal) -> Result
    ) throws(TokenRefusal) -> (Result, pin: SecretBytes?) {
        guard requiresPIN else { return (try body(nil), nil) }
        for attempt in 1...TokenChannel.mostAttempts {
            let left = device.attemptsLeft()
            if left == 0 { throw .blockedPIN }
            guard let pin = try channel.askPIN(isRepeated: attempt > 1, left: left) else {
                throw attempt > 1 ? .wrongPIN(left: left) : .noPIN
            }
            do throws(TokenRefusal) {
                return (try body(pin), pin)
            } catch .wrongPIN {
                continue
            }
        }
        throw .wrongPIN(left: device.attemptsLeft())
    }
}
