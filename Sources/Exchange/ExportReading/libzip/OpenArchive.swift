internal import CZip
internal import WatchwordCryptography
internal import WatchwordSystem

/// An archive that libzip has opened; closed on deinitialisation.
///
/// The bytes must outlive it.
@safe struct OpenArchive: ~Copyable {
    let handle: OpaquePointer

    init(reading bytes: UnsafeRawBufferPointer) throws(ContainerError) {
        var problem = unsafe zip_error_t()
        unsafe zip_error_init(&problem)
        defer { unsafe zip_error_fini(&problem) }
        guard
            let source = unsafe zip_source_buffer_create(
                bytes.baseAddress, UInt64(bytes.count), 0, &problem)
        else { throw .outOfMemory }
        guard let opened = unsafe zip_open_from_source(source, ZIP_RDONLY, &problem) else {
            unsafe zip_source_free(source)
            let code = unsafe zip_error_code_zip(&problem)
            throw ContainerError(code, isEncrypted: false)
        }
        unsafe handle = opened
    }

    // The archive was opened read-only; there is nothing to save.
    deinit { unsafe zip_discard(handle) }

    func members(atMost limit: Int) throws(ContainerError) -> [ZipMember] {
        let count = unsafe zip_get_num_entries(handle, 0)
        guard count >= 0 else { throw .damaged }
        guard count <= limit else { throw .tooManyMembers(Int(count)) }
        var members: [ZipMember] = []
        for index in 0..<UInt64(count) {
            var facts = unsafe zip_stat_t()
            unsafe zip_stat_init(&facts)
            let wanted =
                UInt64(ZIP_STAT_SIZE) | UInt64(ZIP_STAT_COMP_SIZE)
                | UInt64(ZIP_STAT_ENCRYPTION_METHOD)
            guard unsafe zip_stat_index(handle, index, 0, &facts) == 0,
                unsafe facts.valid & wanted == wanted,
                let name = unsafe zip_get_name(handle, index, ZIP_FL_ENC_RAW)
            else { throw .damaged }
            members.append(
                unsafe ZipMember(
                    name: String(cString: name), length: facts.size,
                    compressedLength: facts.comp_size,
                    encryption: ZipMember.Encryption(facts.encryption_method), index: index))
        }
        return members
    }
}

/// A member that is being read; closed on deinitialisation.
@safe struct OpenMember: ~Copyable {
    private let handle: OpaquePointer
    private let isEncrypted: Bool

    /// - Parameter password: `nil` if the member is not encrypted.
    init(
        _ member: ZipMember, of archive: borrowing OpenArchive, password: SecretBytes?
    ) throws(ContainerError) {
        isEncrypted = password != nil
        var opened: OpaquePointer?
        if let password {
            // The library takes the password as a C string.
            guard password.withBytes({ $0.firstIndex(of: 0, from: 0) == nil }) else {
                throw .wrongPassword
            }
            let terminated = SecretBytes(joining: [password, SecretBytes([0])])
            unsafe opened = terminated.withBytes { text in
                unsafe text.withUnsafeBytes { text in
                    unsafe zip_fopen_index_encrypted(
                        archive.handle, member.index, 0,
                        text.baseAddress?.assumingMemoryBound(to: CChar.self))
                }
            }
        } else {
            unsafe opened = zip_fopen_index(archive.handle, member.index, 0)
        }
        guard let ready = unsafe opened else {
            let code = unsafe zip_error_code_zip(zip_get_error(archive.handle))
            throw ContainerError(code, isEncrypted: isEncrypted)
        }
        unsafe handle = ready
    }

    deinit { unsafe zip_fclose(handle) }

    /// Reads exactly `length` bytes and then the end, where the library checks the checksum.
    func readWhole(_ length: Int) throws(ContainerError) -> SecretBytes {
        let content = try SecretBytes(capacity: length) { output throws(ContainerError) in
            try unsafe output.withUnsafeMutableBufferPointer {
                buffer, filled throws(ContainerError) in
                while filled < length {
                    let room = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled...])
                    let count = try unsafe read(into: room.baseAddress, room.count)
                    guard count > 0 else { throw damage }
                    filled += count
                }
            }
        }
        var excess: UInt8 = 0
        guard try unsafe read(into: &excess, 1) == 0 else { throw damage }
        return content
    }

    /// Closes the member; a failure means that its content is not to be trusted.
    consuming func close() throws(ContainerError) {
        let code = unsafe zip_fclose(handle)
        let isEncrypted = isEncrypted
        discard self
        guard code == 0 else { throw ContainerError(code, isEncrypted: isEncrypted) }
    }

    /// The error for content that contradicts the directory.
    private var damage: ContainerError { isEncrypted ? .wrongPassword : .damaged }

    private borrowing func read(
        into memory: UnsafeMutableRawPointer?, _ count: Int
    ) throws(ContainerError) -> Int {
        let read = unsafe zip_fread(handle, memory, UInt64(count))
        guard read >= 0 else {
            let code = unsafe zip_error_code_zip(zip_file_get_error(handle))
            throw ContainerError(code, isEncrypted: isEncrypted)
        }
        return Int(read)
    }
}

extension ZipMember.Encryption {
    fileprivate init(_ method: UInt16) {
        switch Int32(method) {
        case ZIP_EM_NONE: self = .none
        case ZIP_EM_TRAD_PKWARE, ZIP_EM_AES_128, ZIP_EM_AES_192, ZIP_EM_AES_256:
            self = .supported
        default: self = .unknown
        }
    }
}

extension ContainerError {
    /// - Parameter isEncrypted: Whether a wrong password can be the cause. ZipCrypto accepts about
    ///   1 in 100 at first; the content or its checksum is then wrong.
    fileprivate init(_ code: Int32, isEncrypted: Bool) {
        self =
            switch code {
            case ZIP_ER_MEMORY: .outOfMemory
            case ZIP_ER_COMPNOTSUPP, ZIP_ER_ENCRNOTSUPP, ZIP_ER_OPNOTSUPP, ZIP_ER_MULTIDISK:
                .unsupported
            case ZIP_ER_NOPASSWD: .passwordNeeded
            case ZIP_ER_WRONGPASSWD: .wrongPassword
            default: isEncrypted ? .wrongPassword : .damaged
            }
    }
}
