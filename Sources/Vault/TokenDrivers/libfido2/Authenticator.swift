internal import CFIDO2
internal import Devices
internal import WatchwordCryptography

/// An open FIDO2 authenticator.
@safe public final class Authenticator {
    private let device: OpaquePointer

    /// Takes over an open device (`fido_dev_t`).
    public init(owning device: OpaquePointer) {
        unsafe self.device = device
        // Longer than an authenticator waits for a touch; the other process has its own deadline.
        _ = unsafe fido_dev_set_timeout(device, 55_000)
    }

    deinit {
        var device: OpaquePointer? = unsafe device
        _ = unsafe fido_dev_close(device)
        unsafe fido_dev_free(&device)
    }

    /// Prepares the library; call it before any device is opened.
    static func prepare() { fido_init(FIDO_DISABLE_U2F_FALLBACK) }

    /// Throws if the authenticator has no PIN.
    func expectPIN() throws(TokenFailure) {
        guard unsafe fido_dev_has_pin(device) else { throw .noPINSet }
    }

    /// How many more wrong PINs the authenticator accepts; `nil` if it does not report this.
    func attemptsLeft() -> UInt32? {
        var left: Int32 = 0
        guard unsafe fido_dev_get_retry_count(device, &left) == FIDO_OK else { return nil }
        return UInt32(exactly: left)
    }

    /// Whether the authenticator recognises the credential; `nil` if it does not reveal this
    /// without a touch or a PIN.
    func knows(_ credential: FIDOCredential) -> Bool? {
        do throws(TokenFailure) {
            let assertion = try Assertion(of: credential)
            try assertion.check("fido_assert_set_up", assertion.skipTouch())
            switch unsafe assertion.get(from: device, pin: nil) {
            case FIDO_OK: return true
            case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: return false
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// The credential's secret; waits for a touch.
    func secret(
        of credential: FIDOCredential, pin: SecretBytes?
    ) throws(TokenFailure) -> SecretBytes {
        let assertion = try Assertion(of: credential)
        try assertion.requestSecret(salt: credential.salt)
        try unsafe assertion.check("fido_dev_get_assert", assertion.get(from: device, pin: pin))
        return try assertion.secret()
    }

    /// Makes a credential that the authenticator does not store; waits for a touch.
    ///
    /// - Returns: its ID.
    func makeCredential(pin: SecretBytes?) throws(TokenFailure) -> [UInt8] {
        guard let credential = unsafe fido_cred_new() else {
            throw .failed(call: "fido_cred_new", code: 0)
        }
        var released: OpaquePointer? = unsafe credential
        defer { unsafe fido_cred_free(&released) }
        let user = FIDOCredential.standardRelyingParty
        let steps: [(String, Int32)] = unsafe [
            ("fido_cred_set_type", fido_cred_set_type(credential, COSE_ES256)),
            (
                "fido_cred_set_clientdata_hash",
                fido_cred_set_clientdata_hash(
                    credential, Assertion.clientData, Assertion.clientData.count)
            ),
            (
                "fido_cred_set_rp",
                fido_cred_set_rp(credential, FIDOCredential.standardRelyingParty, "Watchword")
            ),
            (
                "fido_cred_set_user",
                fido_cred_set_user(credential, [1], 1, user, "Watchword vault", nil)
            ),
            (
                "fido_cred_set_extensions",
                fido_cred_set_extensions(credential, FIDO_EXT_HMAC_SECRET)
            ),
            ("fido_cred_set_rk", fido_cred_set_rk(credential, FIDO_OPT_FALSE)),
        ]
        for (call, code) in steps { try Assertion.check(call, code) }
        try unsafe Assertion.check(
            "fido_dev_make_cred",
            Assertion.lend(pin) { unsafe fido_dev_make_cred(device, credential, $0) })
        guard let id = unsafe fido_cred_id_ptr(credential) else { throw .badDeviceResponse }
        let count = unsafe fido_cred_id_len(credential)
        guard (1...FIDOCredential.largestID).contains(count) else { throw .badDeviceResponse }
        return unsafe Array(UnsafeBufferPointer(start: id, count: count))
    }
}

/// A request for a credential's assertion.
@safe private final class Assertion {
    private let assertion: OpaquePointer

    /// The hash to sign, which the protocol requires.
    ///
    /// The signature is not used: only the right authenticator computes the right secret.
    static let clientData = [UInt8](repeating: 0, count: 32)

    init(of credential: FIDOCredential) throws(TokenFailure) {
        guard let assertion = unsafe fido_assert_new() else {
            throw .failed(call: "fido_assert_new", code: 0)
        }
        unsafe self.assertion = assertion
        try Assertion.check(
            "fido_assert_set_clientdata_hash",
            unsafe fido_assert_set_clientdata_hash(
                assertion, Assertion.clientData, Assertion.clientData.count))
        try Assertion.check(
            "fido_assert_set_rp", unsafe fido_assert_set_rp(assertion, credential.relyingParty))
        try Assertion.check(
            "fido_assert_allow_cred",
            unsafe fido_assert_allow_cred(assertion, credential.id, credential.id.count))
    }

    deinit {
        // The library wipes the secret.
        var assertion: OpaquePointer? = unsafe assertion
        unsafe fido_assert_free(&assertion)
    }

    func skipTouch() -> Int32 { unsafe fido_assert_set_up(assertion, FIDO_OPT_FALSE) }

    func requestSecret(salt: [UInt8]) throws(TokenFailure) {
        try check(
            "fido_assert_set_extensions",
            unsafe fido_assert_set_extensions(assertion, FIDO_EXT_HMAC_SECRET))
        try check(
            "fido_assert_set_hmac_salt",
            unsafe fido_assert_set_hmac_salt(assertion, salt, salt.count))
    }

    func get(from device: OpaquePointer, pin: SecretBytes?) -> Int32 {
        unsafe Assertion.lend(pin) { unsafe fido_dev_get_assert(device, assertion, $0) }
    }

    /// The secret of the assertion, after ``get(from:pin:)``.
    func secret() throws(TokenFailure) -> SecretBytes {
        guard unsafe fido_assert_count(assertion) == 1 else { throw .badDeviceResponse }
        let count = unsafe fido_assert_hmac_secret_len(assertion, 0)
        guard count > 0, let bytes = unsafe fido_assert_hmac_secret_ptr(assertion, 0) else {
            throw .notSupported
        }
        guard count == TokenRequest.secretCount else { throw .badDeviceResponse }
        let lent = unsafe UnsafeBufferPointer(start: bytes, count: count)
        return SecretBytes(copying: unsafe Span(_unsafeElements: lent))
    }

    func check(_ call: String, _ code: Int32) throws(TokenFailure) {
        try Assertion.check(call, code)
    }

    /// Lends the PIN as a C string.
    static func lend(
        _ pin: SecretBytes?, to body: (UnsafePointer<CChar>?) -> Int32
    ) -> Int32 {
        guard let pin else { return body(nil) }
        let text = SecretBytes(capacity: pin.count + 1) { output in
            pin.withBytes { output.append(copying: $0) }
            output.append(0)
        }
        return text.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe body(bytes.assumingMemoryBound(to: CChar.self).baseAddress)
            }
        }
    }

    /// Throws the refusal for a library's code (CTAP 2.1, section 8.2, or negative).
    static func check(_ call: String, _ code: Int32) throws(TokenFailure) {
        switch code {
        case FIDO_OK: return
        case FIDO_ERR_PIN_INVALID: throw .wrongPIN(left: nil)
        case FIDO_ERR_PIN_BLOCKED: throw .blockedPIN
        case FIDO_ERR_PIN_AUTH_BLOCKED: throw .needsReinsertion
        case FIDO_ERR_PIN_NOT_SET: throw .noPINSet
        case FIDO_ERR_PIN_REQUIRED: throw .noPIN
        case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: throw .otherDevice
        case FIDO_ERR_ACTION_TIMEOUT, FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_TIMEOUT:
            throw .notTouched
        case FIDO_ERR_OPERATION_DENIED, FIDO_ERR_KEEPALIVE_CANCEL: throw .declined
        case FIDO_ERR_UNSUPPORTED_EXTENSION, FIDO_ERR_UNSUPPORTED_ALGORITHM: throw .notSupported
        case FIDO_ERR_RX_NOT_CBOR, FIDO_ERR_RX_INVALID_CBOR, FIDO_ERR_INVALID_CBOR,
            FIDO_ERR_CBOR_UNEXPECTED_TYPE:
            throw .badDeviceResponse
        default: throw .failed(call: call, code: UInt32(bitPattern: code))
        }
    }
}
