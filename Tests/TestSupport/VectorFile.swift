public import Foundation

/// A file of known answers in `Vectors/`, with their source and one case for each.
///
/// A key that the case type does not have is refused, so that no part of a file goes untested.
public struct VectorFile<Case: Codable & Sendable>: Sendable {
    /// The source of the answers.
    public let source: String
    /// The known answers, at least one.
    public let cases: [Case]

    /// Reads `path`, relative to `Vectors/`.
    public init(_ path: String) throws {
        try self.init(
            bytes: Data(contentsOf: PackageFolder.root.appending(path: "Vectors/\(path)")))
    }

    /// Parses the contents of a file.
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

/// Why a file is not a valid vector file.
public enum VectorFileError: Error, Equatable {
    /// The file contains a key that the case type does not have.
    case unknownKey
    /// The file contains no cases.
    case noCases
}
