internal import COpenSSL

/// Authenticated encryption with AES-256-GCM (NIST SP 800-38D) and a fresh random nonce per box.
///
/// A box consists of the nonce (12 bytes), the ciphertext and the tag (16 bytes). Do not seal more
/// than 2^32 boxes with one key, the standard's limit for random nonces. A box does not hide the
/// length of its content. It opens only with the associated data that it was sealed with.
public struct SealingKey: Sendable {
    /// The length of a key in bytes.
    public static let keyCount = 32
    /// The number of bytes by which a box is longer than its content.
    public static let overhead = nonceCount + tagCount
    private static let nonceCount = 12
    private static let tagCount = 16

    private let key: SecretBytes

    /// Uses a 32-byte key, which must come from ``Randomness``, HKDF or scrypt.
    public init(_ key: SecretBytes) {
        precondition(key.count == Self.keyCount, "a key has 32 bytes")
        self.key = key
    }

    /// Seals a secret, and authenticates `associatedData` together with it.
    public func seal(_ plaintext: SecretBytes, associatedData: Span<UInt8>) -> [UInt8] {
        plaintext.withBytes { plaintext in
            seal(plaintext, associatedData: associatedData)
        }
    }

    /// Seals the bytes that `plaintext` refers to.
    public func seal(_ plaintext: Span<UInt8>, associatedData: Span<UInt8>) -> [UInt8] {
        let nonce = Randomness.bytes(count: Self.nonceCount)
        return seal(plaintext, associatedData: associatedData, nonce: nonce)
    }

    /// Seals with a given nonce, for test vectors.
    ///
    /// A nonce must never be used twice with one key.
    func seal(_ plaintext: Span<UInt8>, associatedData: Span<UInt8>, nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceCount, "a nonce has 12 bytes")
        let context = CipherContext()
        var box = nonce + [UInt8](repeating: 0, count: plaintext.count + Self.tagCount)
        let isSealed = key.withBytes { key in
            var output = box.mutableSpan
            return context.seal(
                key: key, associatedData: associatedData, plaintext: plaintext, box: &output)
        }
        require(isSealed, .seal)
        return box
    }

    /// Opens a box.
    ///
    /// - Throws: ``CryptographyError/notAuthentic`` if this key did not seal the box with this
    ///   associated data, whatever the reason.
    public func open(
        _ box: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(CryptographyError) -> SecretBytes {
        guard box.count >= Self.overhead else { throw .ciphertextLength }
        return try open(
            box.extracting(Self.nonceCount...), nonce: box.extracting(..<Self.nonceCount),
            associatedData: associatedData)
    }

    /// Opens a ciphertext followed by its tag, as other programs store it.
    ///
    /// - Parameter nonce: The nonce, of any length but zero.
    /// - Throws: ``CryptographyError/notAuthentic`` if this key did not seal it with this nonce and
    ///   associated data, whatever the reason.
    public func open(
        _ sealed: Span<UInt8>, nonce: Span<UInt8>, associatedData: Span<UInt8>
    ) throws(CryptographyError) -> SecretBytes {
        guard sealed.count >= Self.tagCount else { throw .ciphertextLength }
        let context = CipherContext()
        let count = sealed.count - Self.tagCount
        return try unsafe SecretBytes(count: count) { output throws(CryptographyError) in
            let isOpen = key.withBytes { key in
                unsafe context.open(
                    key: key, nonce: nonce, associatedData: associatedData, sealed: sealed,
                    plaintext: output)
            }
            guard isOpen else { throw .notAuthentic }
        }
    }
}

/// OpenSSL's context for one AES-256-GCM operation.
///
/// OpenSSL's lengths are `Int32`, so longer input is passed in pieces of 2^30 bytes.
@safe struct CipherContext: ~Copyable {
    // Fetched once; otherwise OpenSSL looks it up at each use.
    @safe private struct Cipher: @unchecked Sendable {
        let handle: OpaquePointer?
    }
    private static let cipher = unsafe Cipher(handle: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))

    private static let nonceCount = 12
    private static let tagCount: Int32 = 16
    private static let piece = 1 << 30
    private let context: OpaquePointer

    /// Whether OpenSSL offers the cipher.
    static var isAvailable: Bool { unsafe cipher.handle != nil }

    init() {
        guard Self.isAvailable, let ready = unsafe EVP_CIPHER_CTX_new() else {
            endProcess(after: .cipher)
        }
        unsafe context = ready
    }

    /// Fills `box`, which begins with the nonce, with the ciphertext and the tag.
    func seal(
        key: Span<UInt8>, associatedData: Span<UInt8>, plaintext: Span<UInt8>,
        box: inout MutableSpan<UInt8>
    ) -> Bool {
        unsafe box.withUnsafeMutableBufferPointer { box in
            guard let nonce = box.baseAddress else { return false }
            let ciphertext = unsafe nonce + Self.nonceCount
            return unsafe begin(EVP_EncryptInit_ex, Self.cipher.handle, key: key, nonce: nonce)
                && feed(EVP_EncryptUpdate, associatedData, into: nil)
                && feed(EVP_EncryptUpdate, plaintext, into: ciphertext)
                && end(EVP_EncryptFinal_ex)
                && EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_GET_TAG, Self.tagCount, ciphertext + plaintext.count)
                    == 1
        }
    }

    /// Decrypts a ciphertext followed by its tag into `plaintext`, which is authentic only if the
    /// result is `true`.
    ///
    /// The nonce may have any length but zero.
    func open(
        key: Span<UInt8>, nonce: Span<UInt8>, associatedData: Span<UInt8>, sealed: Span<UInt8>,
        plaintext: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard sealed.count == plaintext.count + Int(Self.tagCount),
            let nonceCount = Int32(exactly: nonce.count)
        else { return false }
        let ciphertext = sealed.extracting(..<plaintext.count)
        let tag = sealed.extracting(plaintext.count...)
        return unsafe nonce.withUnsafeBufferPointer { nonce in
            unsafe tag.withUnsafeBytes { tag in
                guard let nonce = nonce.baseAddress else { return false }
                let expected = unsafe UnsafeMutableRawPointer(mutating: tag.baseAddress)
                // The nonce's length must be set before the nonce itself.
                return unsafe EVP_DecryptInit_ex(context, Self.cipher.handle, nil, nil, nil) == 1
                    && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, nonceCount, nil) == 1
                    && begin(EVP_DecryptInit_ex, nil, key: key, nonce: nonce)
                    && feed(EVP_DecryptUpdate, associatedData, into: nil)
                    && feed(EVP_DecryptUpdate, ciphertext, into: plaintext.baseAddress)
                    && EVP_CIPHER_CTX_ctrl(
                        context, EVP_CTRL_AEAD_SET_TAG, Self.tagCount, expected) == 1
                    && end(EVP_DecryptFinal_ex)
            }
        }
    }

    private typealias Begin = (
        OpaquePointer?, OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?
    ) -> Int32
    private typealias Feed = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?,
        UnsafePointer<UInt8>?, Int32
    ) -> Int32
    private typealias End = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int32>?
    ) -> Int32

    private func begin(
        _ call: Begin, _ cipher: OpaquePointer?, key: Span<UInt8>, nonce: UnsafePointer<UInt8>
    ) -> Bool {
        unsafe key.withUnsafeBufferPointer { key in
            unsafe call(context, cipher, nil, key.baseAddress, nonce) == 1
        }
    }

    /// Passes associated data (without an output) or text.
    private func feed(
        _ call: Feed, _ bytes: Span<UInt8>, into output: UnsafeMutablePointer<UInt8>?
    ) -> Bool {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.piece, bytes.count)
            var written: Int32 = 0
            let done = unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { piece in
                unsafe call(
                    context, output.map { unsafe $0 + start }, &written, piece.baseAddress,
                    Int32(piece.count))
            }
            guard done == 1 else { return false }
            start = end
        }
        return true
    }

    private func end(_ call: End) -> Bool {
        // GCM writes nothing here, but OpenSSL requires an address.
        var rest: UInt8 = 0
        var written: Int32 = 0
        return unsafe call(context, &rest, &written) == 1
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }
}
