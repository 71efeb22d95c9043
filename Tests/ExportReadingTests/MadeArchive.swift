import CZip

/// A zip archive that libzip writes for a test.
enum MadeArchive {
    struct Failure: Error {}

    struct Member {
        var name: String
        var content: [UInt8]
        var isCompressed = true
        /// The target of a symbolic link is the content.
        var isLink = false
        var encryption = Int32(0)
        var password = ""
    }

    static func file(_ members: [Member]) throws -> [UInt8] {
        var problem = unsafe zip_error_t()
        guard let target = unsafe zip_source_buffer_create(nil, 0, 0, &problem) else {
            throw Failure()
        }
        // The archive takes one reference; this reference reads the result.
        unsafe zip_source_keep(target)
        defer { unsafe zip_source_free(target) }
        guard let archive = unsafe zip_open_from_source(target, ZIP_CREATE, &problem) else {
            throw Failure()
        }
        var contents: [UnsafeMutableBufferPointer<UInt8>] = unsafe []
        defer { unsafe contents.forEach { unsafe $0.deallocate() } }
        for member in members {
            let content = UnsafeMutableBufferPointer<UInt8>.allocate(
                capacity: max(1, member.content.count))
            _ = unsafe content.update(fromContentsOf: member.content)
            unsafe contents.append(content)
            guard
                let source = unsafe zip_source_buffer(
                    archive, content.baseAddress, UInt64(member.content.count), 0)
            else { throw Failure() }
            let index = unsafe zip_file_add(archive, member.name, source, 0)
            guard index >= 0 else { throw Failure() }
            unsafe zip_set_file_compression(
                archive, UInt64(index), member.isCompressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 9)
            if member.encryption != 0 {
                unsafe zip_file_set_encryption(
                    archive, UInt64(index), UInt16(member.encryption), member.password)
            }
            if member.isLink {
                unsafe zip_file_set_external_attributes(
                    archive, UInt64(index), 0, UInt8(ZIP_OPSYS_UNIX), 0o120777 << 16)
            }
        }
        guard unsafe zip_close(archive) == 0 else { throw Failure() }
        return try unsafe bytes(of: target)
    }

    private static func bytes(of source: OpaquePointer) throws -> [UInt8] {
        guard unsafe zip_source_open(source) == 0 else { throw Failure() }
        defer { unsafe zip_source_close(source) }
        var facts = unsafe zip_stat_t()
        guard unsafe zip_source_stat(source, &facts) == 0 else { throw Failure() }
        var bytes = unsafe [UInt8](repeating: 0, count: Int(facts.size))
        guard unsafe zip_source_read(source, &bytes, UInt64(bytes.count)) == bytes.count else {
            throw Failure()
        }
        return bytes
    }
}
