public import Cryptography
public import HardwareTokens
internal import POSIX

/// The part of `watchword-token` that talks to a TPM.
public enum TPMProgram {
    /// Seals a secret, and verifies that it can be unsealed.
    public static func seal(
        _ secret: SecretBytes, pin: SecretBytes?, isBoundToPCR7: Bool, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenRefusal) -> TokenResult {
        let tpm = try confinedConnection(to: address, over: channel)
        let root = try tpm.storageRoot()
        let object = try tpm.seal(secret, pin: pin, isBoundToPCR7: isBoundToPCR7, under: root)
        let loaded = try tpm.load(object, under: root)
        guard try tpm.unseal(loaded, pin: pin, under: root) == secret else { throw .badAnswer }
        return .sealed(object)
    }

    /// Unseals a secret, asking for the PIN if it needs one.
    ///
    /// Everything that can fail without the PIN fails before the person is asked.
    public static func unseal(
        _ object: TPMObject, in address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenRefusal) -> TokenResult {
        let tpm = try confinedConnection(to: address, over: channel)
        let root = try tpm.storageRoot()
        let loaded = try tpm.load(object, under: root)
        if object.isBoundToPCR7 { try tpm.expectUnchangedPCR7(for: loaded, under: root) }
        guard object.requiresPIN else {
            return .secret(try tpm.unseal(loaded, pin: nil, under: root))
        }
        if let left = tpm.attemptsLeft(), left == 0 {
            throw .lockedOut(seconds: tpm.secondsPerAttempt())
        }
        for attempt in 1...TokenChannel.mostAttempts {
            let left = tpm.attemptsLeft()
            guard let pin = try channel.askPIN(isRepeated: attempt > 1, left: left) else {
                throw attempt > 1 ? .wrongPIN(left: left) : .noPIN
            }
            do throws(TokenRefusal) {
                return .secret(try tpm.unseal(loaded, pin: pin, under: root))
            } catch .wrongPIN {
                continue
            }
        }
        throw .wrongPIN(left: tpm.attemptsLeft())
    }

    /// Makes a key pair.
    public static func makeKey(
        authorization: SecretBytes, in address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenRefusal) -> TokenResult {
        let tpm = try confinedConnection(to: address, over: channel)
        let (parent, handle) = try tpm.parentOfNewKeys()
        let (key, point) = try tpm.makeKey(authorization, under: parent, handle)
        return .madeKey(key, point: point)
    }

    /// Signs a message with a key that this TPM has made.
    public static func sign(
        _ message: [UInt8], with key: TPMKey, authorization: SecretBytes, in address: TPMAddress,
        over channel: borrowing TokenChannel
    ) throws(TokenRefusal) -> TokenResult {
        let tpm = try confinedConnection(to: address, over: channel)
        let parent = try tpm.parent(of: key)
        let loaded = try tpm.load(key, under: parent)
        return .signature(try tpm.sign(message, with: loaded, authorization, under: parent))
    }

    /// Opens the TPM, which loads a library, and then gives up everything else, before the first
    /// message.
    private static func confinedConnection(
        to address: TPMAddress, over channel: borrowing TokenChannel
    ) throws(TokenRefusal) -> TPMConnection {
        do { try prepareConfinedCryptography() } catch {
            throw .failed(call: "OPENSSL_init_crypto", code: 0)
        }
        let tpm = try TPMConnection(address)
        try channel.confine(isEmulated: address.devicePath == nil)
        return tpm
    }
}
