public import Devices
public import WatchwordCryptography

/// The part of `watchword-token` that talks to a TPM.
public enum TPMProgram {
    /// Seals a secret, and verifies that it can be unsealed.
    public static func seal(
        _ secret: SecretBytes, pin: SecretBytes?, isBoundToPCR7: Bool, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let root = try tpm.storageRoot()
        let object = try tpm.seal(secret, pin: pin, isBoundToPCR7: isBoundToPCR7, under: root)
        let loaded = try tpm.load(object, under: root)
        guard try tpm.unseal(loaded, pin: pin, under: root) == secret else {
            throw .badDeviceResponse
        }
        return .sealed(object)
    }

    /// Unseals a secret, asking for the PIN if it needs one.
    ///
    /// Everything that can fail without the PIN fails before the person is asked.
    public static func unseal(
        _ object: TPMObject, in address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let root = try tpm.storageRoot()
        let loaded = try tpm.load(object, under: root)
        if object.isBoundToPCR7 { try tpm.expectUnchangedPCR7(for: loaded, under: root) }
        guard object.requiresPIN else {
            return .secret(try tpm.unseal(loaded, pin: nil, under: root))
        }
        return try withPIN(for: tpm, over: channel) { pin throws(TokenFailure) in
            .secret(try tpm.unseal(loaded, pin: pin, under: root))
        }
    }

    /// Uses an object that needs a PIN, and asks for the PIN again after a wrong PIN.
    ///
    /// - Parameter spares: whether to leave a quarter of the attempts to other objects.
    private static func withPIN(
        for tpm: TPMConnection, sparing spares: Bool = false, over channel: borrowing TokenChannel,
        _ use: (SecretBytes) throws(TokenFailure) -> TokenResponse
    ) throws(TokenFailure) -> TokenResponse {
        for attempt in 1...TokenChannel.mostAttempts {
            let left = tpm.attemptsLeft(sparing: spares)
            guard left != 0 else {
                throw attempt > 1
                    ? .wrongPIN(left: left) : .lockedOut(seconds: tpm.secondsPerAttempt())
            }
            guard let pin = channel.askPIN(isRepeated: attempt > 1, left: left) else {
                throw attempt > 1 ? .wrongPIN(left: left) : .noPIN
            }
            do throws(TokenFailure) {
                return try use(pin)
            } catch {
                switch error {
                case .wrongPIN: continue
                case .lockedOut: throw .lockedOut(seconds: tpm.secondsPerAttempt())
                default: throw error
                }
            }
        }
        throw .wrongPIN(left: tpm.attemptsLeft(sparing: spares))
    }

    /// Makes a key pair.
    public static func makeKey(
        authorization: SecretBytes, pin: SecretBytes?, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let (parent, handle) = try tpm.parentOfNewKeys()
        let (key, point) = try tpm.makeKey(
            value(authorization, pin), requiresPIN: pin != nil, under: parent, handle)
        return .madeKey(key, point: point)
    }

    /// What the TPM requires of a key's user: the authorization value, or a MAC of the PIN under
    /// it.
    private static func value(_ authorization: SecretBytes, _ pin: SecretBytes?) -> SecretBytes {
        guard let pin else { return authorization }
        return HMACKey(authorization).secretCode(of: pin)
    }

    /// Signs a message with a key that this TPM has made, asking for the PIN if it has one.
    public static func sign(
        _ message: [UInt8], with key: TPMKey, authorization: SecretBytes, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let parent = try tpm.parent(of: key)
        let loaded = try tpm.load(key, under: parent)
        guard key.requiresPIN else {
            return .signature(try tpm.sign(message, with: loaded, authorization, under: parent))
        }
        // Somebody who has the key and guesses the PIN does not lock out the users whose vaults the
        // TPM opens.
        return try withPIN(for: tpm, sparing: true, over: channel) { pin throws(TokenFailure) in
            .signature(
                try tpm.sign(message, with: loaded, value(authorization, pin), under: parent))
        }
    }

    /// Lets the TPM attest a key that it has made, for a message.
    public static func attest(
        _ key: TPMKey, for message: [UInt8], authorization: SecretBytes, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let (kind, certificate) = try tpm.endorsement()
        let certificates = [certificate] + tpm.issuerCertificates()
        // A TPM may have room for three keys only, so this key does not stay loaded.
        let endorsementKey = try tpm.endorsementKey(kind).publicArea
        let parent = try tpm.parent(of: key)
        let loaded = try tpm.load(key, under: parent)
        let attestationKey = try tpm.attestationKey()
        func attested(_ value: SecretBytes) throws(TokenFailure) -> TokenResponse {
            let (certification, signature) = try tpm.certify(
                loaded, by: attestationKey.handle, for: message, value, under: parent)
            let attestation = KeyAttestation(
                certificates: certificates, endorsementKey: endorsementKey,
                attestationKey: attestationKey.publicArea, deviceKey: key.structure,
                certification: certification, signature: signature)
            guard let attestation else { throw .badDeviceResponse }
            return .attested(attestation)
        }
        guard key.requiresPIN else { return try attested(authorization) }
        return try withPIN(for: tpm, sparing: true, over: channel) { pin throws(TokenFailure) in
            try attested(value(authorization, pin))
        }
    }

    /// Reveals a secret that a server protected for this TPM.
    public static func activate(
        _ activation: KeyActivation, in address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TokenResponse {
        let tpm = try confinedConnection(to: address, over: channel)
        let attestationKey = try tpm.attestationKey()
        let endorsementKey = try tpm.endorsementKey(tpm.endorsement().0)
        return .secret(
            try tpm.activate(activation, for: attestationKey.handle, endorsementKey.handle))
    }

    /// Opens the TPM, which loads a library, and then gives up everything else, before the first
    /// message.
    private static func confinedConnection(
        to address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenFailure) -> TPMConnection {
        try TokenFailure.prepareCryptography()
        let tpm = try TPMConnection(address)
        try channel.confine(emulator: address.emulatorPorts)
        return tpm
    }
}
