import WatchwordCryptography
import WatchwordSystem

/// Reads a file that an option names.
enum InputBytes {
    /// The bytes of the file or pipe at `path`, at most `limit`.
    static func of(_ path: String, limit: Int) throws(ServerFailure) -> SecretBytes {
        do throws(InputFileError) {
            let file = try InputFile(path, acceptingPipes: true)
            if let size = file.size, size > limit { throw InputFileError.tooLarge(limit: limit) }
            let bytes: SecretBytes
            do throws(SystemCallFailure) {
                bytes = try SecretBytes(capacity: limit + 1) { output throws(SystemCallFailure) in
                    try file.descriptor.readToEnd(into: &output)
                }
            } catch { throw InputFileError(error) }
            guard bytes.count <= limit else { throw InputFileError.tooLarge(limit: limit) }
            return bytes
        } catch {
            throw .input(path, error)
        }
    }
}
