internal import WatchwordCryptography
internal import Exports
internal import WatchwordCoding

/// Ente's encrypted JSON, which contains a list of key URIs.
enum EnteFormat {
    static func read(
        _ document: JSONValue, password: SecretBytes?
    ) throws(ExportError) -> ExportRows {
        guard let password else { throw .passwordNeeded(.ente) }
        return try URIListFormat.read(
            try EnteContainer.open(document, password: password), format: .ente)
    }
}
