public import Exports

/// Why a container of an export could not be opened: an archive, a database, a document, a
/// compressed or an encrypted text.
///
/// It never contains names or content. A container's reader does not receive the export's format;
/// ``reading(_:_:)`` adds it.
public enum ContainerError: Error, Hashable, Sendable {
    /// The bytes are not such a container, or break its rules, are truncated, or lack a part.
    case damaged
    /// XML that is not UTF-8, or contains NUL.
    case notUTF8
    /// XML with a document type declaration, which can define entities.
    case documentType
    /// The container is encrypted, and no password was given.
    case passwordNeeded
    /// The password or key is wrong, or the encrypted content is damaged; these are
    /// indistinguishable.
    case wrongPassword
    /// The container is encrypted with public keys only.
    case publicKeyEncryption
    /// The container uses an algorithm that the library does not support.
    case unsupported
    /// The container exceeds a limit.
    case overLimit(ExportLimit, found: UInt64, allowed: UInt64)
    /// There is not enough memory.
    case outOfMemory
}

extension ExportError {
    /// - Parameter format: The format, if it is known.
    init(_ error: ContainerError, in format: ExportFormat?) {
        switch (error, format) {
        case (.outOfMemory, _): self = .outOfMemory
        case (.overLimit(let limit, let found, let allowed), _):
            self = .overLimit(format, limit, found: found, allowed: allowed)
        case (_, nil): self = .unknownFormat
        case (.damaged, let format?), (.notUTF8, let format?), (.documentType, let format?):
            self = .damaged(format)
        case (.passwordNeeded, let format?): self = .passwordNeeded(format)
        case (.wrongPassword, let format?): self = .wrongPassword(format)
        case (.publicKeyEncryption, let format?): self = .unreadable(format, .publicKeyEncryption)
        case (.unsupported, let format?): self = .unreadable(format, .unsupportedAlgorithm)
        }
    }
}

/// Opens a container, and reports the container's error as an error of the format.
///
/// - Parameter format: The format, if it is known; evaluated after an error only.
func reading<Value>(
    _ format: @autoclosure () -> ExportFormat?, _ open: () throws(ContainerError) -> Value
) throws(ExportError) -> Value {
    do { return try open() } catch { throw ExportError(error, in: format()) }
}
