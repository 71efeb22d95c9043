internal import CRNP
internal import Exports
internal import Glibc
internal import Synchronization
public import WatchwordCryptography
internal import WatchwordSystem

/// Decrypts an OpenPGP message that is encrypted with a password, with or without ASCII armour.
///
/// The content must be protected against changes (RFC 4880, section 5.13); its signatures are not
/// verified. It may grow to 1 MiB, or to 100 times the message's length beyond that. The library
/// has no keys.
///
/// - Parameter limit: The maximum length of the content in bytes.
public func decryptOpenPGP(
    _ message: SecretBytes, password: SecretBytes, limit: Int
) throws(ContainerError) -> SecretBytes {
    let allowed = min(limit, max(1 << 20, message.count * 100))
    return try message.withBytes { message throws(ContainerError) in
        try unsafe message.withUnsafeBytes { message throws(ContainerError) in
            guard let start = message.baseAddress, unsafe !message.isEmpty else {
                throw .damaged
            }
            let bytes = unsafe UnsafeBufferPointer(
                start: start.assumingMemoryBound(to: UInt8.self), count: message.count)
            return try library.withLock { library throws(ContainerError) in
                let decryption = try unsafe OpenPGPDecryption(
                    reading: bytes, limit: allowed, library.handle)
                return try decryption.run(password: password)
            }
        }
    }
}

/// Loads what RNP would otherwise load when it decrypts its first message: its cryptographic
/// library's locked memory, algorithms and source of randomness.
///
/// A process calls this before it is confined. RNP prints its errors; from now on, they are
/// discarded.
///
/// - Returns: Whether a trial message could be decrypted.
func prepareOpenPGPReading() throws -> Bool {
    StandardStream.discardLibraryMessages()
    let password = SecretBytes(copying: Array("trial".utf8).span)
    let message = try Base64.decodeSecret(Array(trialMessage.utf8).span)
    return try decryptOpenPGP(message, password: password, limit: 5) == password
}

/// Made with GnuPG 2.2: AES-256, compressed with zlib; its content and password are "trial".
private let trialMessage = """
    jA0ECQMIFeX6VCQwCj1g0kABbRvA9Ks2yEyxFuqAGULbBPYfTnbwXyOhGJlQLa1xdiF/1pkFwD6Aj/QSQfkqQ66ta9Pu1y\
    IH/KwLKgwCH5Di
    """

/// The library's context, which is created once, because its random number generator reads a file
/// when it starts.
private let library = Mutex(OpenPGPLibrary())

// `@unchecked Sendable`: the mutex lends it to one thread at a time.
@safe private final class OpenPGPLibrary: @unchecked Sendable {
    /// `nil` if the context could not be created.
    let handle: rnp_ffi_t?

    init() {
        var made: rnp_ffi_t?
        let result = unsafe rnp_ffi_create(&made, "GPG", "GPG")
        unsafe handle = result == RNP_SUCCESS ? made : nil
    }

    deinit { unsafe rnp_ffi_destroy(handle) }
}

/// A message that is being decrypted; its resources are freed on deinitialisation.
@safe private final class OpenPGPDecryption {
    private let library: rnp_ffi_t?
    private var input: rnp_input_t?
    private var output: rnp_output_t?
    private var operation: rnp_op_verify_t?
    private let limit: Int

    /// - Parameter message: Must outlive this object.
    init(
        reading message: UnsafeBufferPointer<UInt8>, limit: Int, _ library: rnp_ffi_t?
    ) throws(ContainerError) {
        self.limit = limit
        unsafe self.library = library
        guard unsafe library != nil,
            unsafe rnp_input_from_memory(&input, message.baseAddress, message.count, false)
                == RNP_SUCCESS,
            unsafe rnp_output_to_memory(&output, limit) == RNP_SUCCESS,
            unsafe rnp_op_verify_create(&operation, library, input, output) == RNP_SUCCESS,
            unsafe rnp_op_verify_set_flags(
                operation, UInt32(RNP_VERIFY_IGNORE_SIGS_ON_DECRYPT)) == RNP_SUCCESS
        else { throw .outOfMemory }
    }

    deinit {
        unsafe rnp_op_verify_destroy(operation)
        unsafe rnp_output_destroy(output)
        unsafe rnp_input_destroy(input)
    }

    func run(password: SecretBytes) throws(ContainerError) -> SecretBytes {
        // The library takes the password as a C string.
        guard password.withBytes({ $0.firstIndex(of: 0, from: 0) == nil }) else {
            throw .wrongPassword
        }
        let result = withExtendedLifetime(password) {
            unsafe rnp_ffi_set_pass_provider(
                library, OpenPGPDecryption.providePassword,
                Unmanaged.passUnretained(password).toOpaque())
            let result = unsafe rnp_op_verify_execute(operation)
            unsafe rnp_ffi_set_pass_provider(library, nil, nil)
            return result
        }
        guard result == RNP_SUCCESS else { throw failure(result) }
        guard isProtected else { throw .damaged }
        var start: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard unsafe rnp_output_memory_get_buf(output, &start, &count, false) == RNP_SUCCESS,
            let start = unsafe start
        else { throw .outOfMemory }
        let content = unsafe UnsafeMutableBufferPointer(start: start, count: count)
        // The library does not wipe this copy.
        defer { unsafe explicit_bzero(start, count) }
        return SecretBytes(copying: unsafe UnsafeBufferPointer(content).span)
    }

    /// Whether the content was encrypted and found unchanged.
    private var isProtected: Bool {
        var isValid = false
        return unsafe rnp_op_verify_get_protection_info(operation, nil, nil, &isValid)
            == RNP_SUCCESS && isValid
    }

    private func failure(_ result: rnp_result_t) -> ContainerError {
        var passwords = 0
        var recipients = 0
        unsafe rnp_op_verify_get_symenc_count(operation, &passwords)
        unsafe rnp_op_verify_get_recipient_count(operation, &recipients)
        switch Int(result) {
        case RNP_ERROR_OUT_OF_MEMORY: return .outOfMemory
        // The only output is the memory, which has a limit.
        case RNP_ERROR_WRITE:
            return .overLimit(
                .documentSize, found: UInt64(limit) + 1, allowed: UInt64(limit))
        case _ where passwords > 0: return .wrongPassword
        case _ where recipients > 0: return .publicKeyEncryption
        default: return .damaged
        }
    }

    private static let providePassword: rnp_password_cb = { _, password, _, _, buffer, capacity in
        guard let password = unsafe password, let buffer = unsafe buffer else { return false }
        let secret = unsafe Unmanaged<SecretBytes>.fromOpaque(password).takeUnretainedValue()
        guard secret.count < capacity else { return false }
        secret.withBytes { bytes in
            for index in bytes.indices { unsafe buffer[index] = CChar(bitPattern: bytes[index]) }
        }
        unsafe buffer[secret.count] = 0
        return true
    }
}
