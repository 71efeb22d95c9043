/// Names under which a known parameter is written by mistake.
///
/// The list is closed, so that naming one never says what else stands in a URI.
public struct KeyURIMisnomer: Hashable, Sendable {
    /// The name, in small letters.
    public let name: String
    /// What it most likely means.
    public let part: KeyURIPart

    private static let synonyms: [String: KeyURIPart] = [
        "algo": .algorithm, "alg": .algorithm, "hash": .algorithm, "digest": .algorithm,
        "digit": .digits, "length": .digits, "step": .period, "steps": .period,
        "timestep": .period, "interval": .period, "seconds": .period, "count": .counter,
        "offset": .start, "epoch": .start,
    ]
    /// What is left of `&amp;`, as HTML writes `&`.
    private static let entity = "amp;"

    /// Recognises a name in small letters.
    init?(_ name: String) {
        let part: KeyURIPart?
        if name.hasPrefix(KeyURIMisnomer.entity) {
            part = KeyURIParameter(String(name.dropFirst(KeyURIMisnomer.entity.count)))?.part
        } else {
            part = KeyURIMisnomer.synonyms[name]
        }
        guard let part else { return nil }
        self.name = name
        self.part = part
    }
}
