public import Foundation

/// A file of known answers in `Vectors/`: where they come from, and one case for each.
///
/// A key that no case type knows is refused, so that nothing in a file goes untested in silence.
public struct VectorFile<Case: Codable & Sendable>: Sendable {
    /// Where the answers come from.
    public let source: String
    /// The answers.
    public let cases: [Case]

    /// Reads `path`, counted from `Vectors/`.
    public init(_ path: String) throws {
        try self.init(
            bytes: Data(contentsOf: PackageFolder.root.appending(path: "Vectors/\(path)")))
    }

    /// Reads a file's bytes.
    public init(bytes: Data) throws {
        let file = try JSONDecoder().decode(File.self, from: bytes)
        let raw = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] ?? [:]
        guard Set(raw.keys) == ["source", "cases"] else { throw VectorFileError.unknownKey }
        let rawCases = raw["cases"] as? [[String: Any]] ?? []
        for (known, found) in zip(file.cases, rawCases) {
            let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(known))
            let keys = Set((encoded as? [String: Any] ?? [:]).keys)
            guard keys.isSuperset(of: found.filter { !($0.value is NSNull) }.keys) else {
                throw VectorFileError.unknownKey
            }
        }
        guard !file.cases.isEmpty else { throw VectorFileError.noCases }
        source = file.source
        cases = file.cases
    }

    private struct File: Decodable {
        let source: String
        let cases: [Case]
    }
}

/// Why a file is no vector file.
public enum VectorFileError: Error, Equatable {
    /// A key that the case type lacks.
    case unknownKey
    /// A file without a case proves nothing.
    case noCases
}
