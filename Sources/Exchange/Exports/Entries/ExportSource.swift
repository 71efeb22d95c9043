public import WatchwordCryptography

/// A file that may be another app's export, and what is needed to read it.
public struct ExportSource: Sendable {
    /// The content.
    public let file: SecretBytes
    /// The file's name without its folder; empty if it has none.
    ///
    /// It is needed only to find the file in a manifest; formats are recognised by their content.
    public let name: String
    /// The manifest beside the file, which Steam Desktop Authenticator needs to decrypt it.
    public let manifest: SecretBytes?
    /// The key file of a KeePass database.
    public let keyFile: SecretBytes?

    /// Creates a source.
    public init(
        _ file: SecretBytes, name: String = "", manifest: SecretBytes? = nil,
        keyFile: SecretBytes? = nil
    ) {
        self.file = file
        self.name = name
        self.manifest = manifest
        self.keyFile = keyFile
    }
}
