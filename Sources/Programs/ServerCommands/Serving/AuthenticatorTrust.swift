import CommandLineInterface
import JSONReading
internal import PasskeyVerification
import Verification
import WatchwordCoding
import WatchwordCryptography

/// The authenticators whose makers are trusted, and the names of their models.
///
/// The file of `--authenticators` is a JSON list of objects: `aaguid` (a UUID) and `name`, and
/// optionally `roots`, the path of a PEM file with trust anchors for this model only.
struct AuthenticatorTrust {
    let trust: AttestationTrust
    let names: [[UInt8]: String]

    init(_ arguments: ServerArguments, anchors: TrustAnchors?) throws(ServerFailure) {
        guard let path = arguments[.authenticators] else {
            trust = AttestationTrust(anchors: anchors, models: nil)
            names = [:]
            return
        }
        var models: [AttestationTrust.Model] = []
        var names: [[UInt8]: String] = [:]
        for (number, element) in try Self.elements(of: path).enumerated() {
            let known = ["aaguid", "name", "roots"]
            guard let members = element.members, members.allSatisfy({ known.contains($0.0) }),
                let id = element["aaguid"]?.string.flatMap(Self.model), names[id] == nil,
                let name = element["name"]?.string, !name.isEmpty, name.utf8.count <= 255,
                element["roots"] == nil || element["roots"]?.string != nil
            else { throw .trustFile(path, .element(number + 1)) }
            names[id] = name
            let roots = try element["roots"]?.string.map { file throws(ServerFailure) in
                try PublicKeyOptions.anchors(at: Self.path(of: file, beside: path))
            }
            models.append(AttestationTrust.Model(id: id, anchors: roots))
        }
        trust = AttestationTrust(anchors: anchors, models: models)
        self.names = names
    }

    private static func elements(of path: String) throws(ServerFailure) -> [JSONValue] {
        let text = try ServingSettings.read(path)
        do throws(JSONReadingError) {
            let limits = JSONLimits(bytes: 256 << 10, depth: 4)
            if let elements = try readJSON(text, limits: limits).elements { return elements }
        } catch {}
        throw .trustFile(path, .notAList)
    }

    /// A path in the file is relative to the file's folder.
    private static func path(of file: String, beside list: String) -> String {
        guard !file.hasPrefix("/"), let slash = list.lastIndex(of: "/") else { return file }
        return list[...slash] + file
    }

    /// The 16 bytes of a UUID.
    private static func model(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = parts.joined().map { $0.isASCII ? $0.hexDigitValue : nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// What is wrong with a file about trusted makers.
enum TrustFileError: Hashable, Sendable {
    /// It has no certificate in PEM, or a malformed one.
    case noCertificates
    /// It is not a JSON list.
    case notAList
    /// This element of the list, beginning with 1, is malformed or occurs twice.
    case element(Int)
}
