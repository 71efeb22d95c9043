internal import WatchwordCoding

/// The names of groups, folders or categories, by their identifiers.
struct GroupNames {
    private var names: [String: String] = [:]

    /// Reads a list of objects; those without an identifier or a name are left out.
    init(_ list: JSONValue?, id: String, name: String) {
        for group in list?.elements ?? [] {
            guard let id = group[id].flatMap(Self.key), let name = group[name]?.string else {
                continue
            }
            names[id] = name
        }
    }

    /// The names of the groups that exist.
    func names(of ids: [String]) -> [String] { ids.compactMap { names[$0] } }

    /// The names of the groups that exist; an identifier is a text or a number.
    func names(of ids: [JSONValue]) -> [String] {
        ids.compactMap { Self.key($0) }.compactMap { names[$0] }
    }

    private static func key(_ id: JSONValue) -> String? {
        if case .number(let number) = id { return String(number) }
        return id.string
    }
}
