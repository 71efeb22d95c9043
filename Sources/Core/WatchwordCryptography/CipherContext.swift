internal import COpenSSL

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

    /// Decrypts `ciphertext` into `plaintext`, which is authentic only if the result is `true`.
    ///
    /// The nonce may have any length but zero.
    func open(
        key: Span<UInt8>, nonce: Span<UInt8>, associatedData: Span<UInt8>, ciphertext: Span<UInt8>,
        tag: Span<UInt8>, plaintext: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        guard tag.count == Int(Self.tagCount), let nonceCount = Int32(exactly: nonce.count) else {
            return false
        }
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
