/// A wrong name for a known parameter.
///
/// The list is fixed, so that reporting a name never reveals other content of a URI.
public struct KeyURIParameterAlias: Hashable, Sendable {
    /// The name in lower case.
    public let name: String
    /// The part that it most likely means.
    public let part: KeyURIPart

    private static let synonyms: [String: KeyURIPart] = [
        "algo": .algorithm, "alg": .algorithm, "hash": .algorithm, "digest": .algorithm,
        "digit": .digits, "length": .digits, "step": .period, "steps": .period,
        "timestep": .period, "interval": .period, "seconds": .period, "count": .counter,
        "offset": .start, "epoch": .start,
    ]
    /// The rest of `&amp;`, which is `&` in HTML.
    private static let entity = "amp;"

    /// Recognises a lowercase name.
    public init?(_ name: String) {
        let part: KeyURIPart?
        if name.hasPrefix(KeyURIParameterAlias.entity) {
            part = KeyURIParameter(String(name.dropFirst(KeyURIParameterAlias.entity.count)))?.part
        } else {
            part = KeyURIParameterAlias.synonyms[name]
        }
        guard let part else { return nil }
        self.name = name
        self.part = part
    }
}
