import CommandLineInterface
import JSONReading
internal import PasskeyVerification
import Verification
import VerificationService
import WatchwordCoding
import WatchwordCryptography

/// The validated options of `serve` about passkeys and device keys.
struct PublicKeyOptions: Sendable {
    let passkeys: PasskeySettings?
    let pages: PageSettings?
    let audiences: [String]
    let tpmRoots: TrustAnchors?

    init(_ arguments: ServerArguments) throws {
        pages = try Self.pages(arguments)
        audiences =
            try ServingSettings.list(
                arguments, .audience,
                expected: "addresses of this server, in lower case and without a path, such as "
                    + "https://login.example"
            ) { DeviceKeys.isAudience($0) ? $0 : nil } ?? []
        tpmRoots = try Self.anchors(arguments, .tpmRoots)
        passkeys = try Self.passkeys(arguments, relatedOrigins: pages?.relatedOrigins ?? [])
        if passkeys == nil {
            for option in Self.aboutPasskeys where arguments.has(option) {
                throw UsageError.needs(option.name, with: Option.relyingParty.name)
            }
        }
    }

    /// The options that have no effect without a relying party.
    private static let aboutPasskeys: [Option] = [
        .relyingPartyName, .origin, .topOrigin, .attestationRoots, .authenticators,
        .passkeyAlgorithms, .passkeyFloor, .relatedOrigin, .pages,
    ]

    private static func pages(_ arguments: ServerArguments) throws -> PageSettings? {
        let addresses = try ServingSettings.list(
            arguments, .returnTo,
            expected: "addresses without a fragment, such as https://shop.example/back",
            ReturnAddress.init)
        let origins = try ServingSettings.list(
            arguments, .relatedOrigin, expected: expectedOrigins
        ) { RelyingParty.isWebOrigin($0) ? $0 : nil }
        guard arguments.has(.pages) else {
            if addresses != nil { throw UsageError.needs("return-to", with: "pages") }
            if origins != nil { throw UsageError.needs("related-origin", with: "pages") }
            return nil
        }
        return PageSettings(returnAddresses: addresses ?? [], relatedOrigins: origins ?? [])
    }

    private static let expectedOrigins =
        "origins as browsers write them, such as https://shop.example or https://shop.example:8443"

    private static func passkeys(
        _ arguments: ServerArguments, relatedOrigins: [String]
    ) throws -> PasskeySettings? {
        let trust = try AuthenticatorTrust(
            arguments, anchors: anchors(arguments, .attestationRoots))
        let ids = try ServingSettings.list(
            arguments, .relyingParty,
            expected: "host names in lower case, such as mill.example"
        ) { RelyingParty.isID($0) ? $0 : nil }
        guard let ids else { return nil }
        let origins =
            try ServingSettings.list(
                arguments, .origin,
                expected:
                    "\(expectedOrigins), whose hosts are in --rp-id or are subdomains of one"
            ) { RelyingParty.isOrigin($0, of: ids) ? $0 : nil } ?? ["https://\(ids[0])"]
        let topOrigins = try ServingSettings.list(
            arguments, .topOrigin, expected: expectedOrigins
        ) { RelyingParty.isWebOrigin($0) ? $0 : nil }
        let algorithms = try ServingSettings.list(
            arguments, .passkeyAlgorithms,
            expected: "a selection of \(algorithms.map(\.0).joined(separator: ", "))"
        ) { name in Self.algorithms.first { $0.0 == name }?.1 }
        let floor = try arguments.value(
            .passkeyFloor,
            expected: "values of a policy, such as user_verification=required,backup=step-up"
        ) {
            PolicyFloor(
                $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        }
        let pageOrigins = origins.filter(RelyingParty.isWebOrigin)
        guard !pageOrigins.isEmpty || !arguments.has(.pages) else {
            throw UsageError.needs("pages", with: "origin")
        }
        if arguments.has(.pages) { try checkLinks(arguments, pageOrigins[0], ids[0]) }
        do throws(PasskeyError) {
            return PasskeySettings(
                relyingParty: try RelyingParty(
                    ids: ids, name: arguments[.relyingPartyName] ?? ids[0], origins: origins,
                    relatedOrigins: relatedOrigins, topOrigins: topOrigins ?? [],
                    algorithms: algorithms ?? [.es256, .rs256], trust: trust.trust),
                origins: pageOrigins, authenticators: trust.names, floor: floor ?? .none)
        } catch {
            // Each value has been checked already.
            throw UsageError.badValue("rp-id", expected: "host names in lower case")
        }
    }

    /// Checks that the pages to which links lead can create passkeys.
    private static func checkLinks(
        _ arguments: ServerArguments, _ origin: String, _ id: String
    ) throws {
        _ = try arguments.value(
            .origin,
            expected: "a list that begins with an origin of \(id), the first domain in --rp-id, "
                + "because --pages creates passkeys for this domain on the first origin"
        ) { RelyingParty.isOrigin(origin, of: [id]) ? $0 : nil }
    }

    private static let algorithms: [(String, SignatureAlgorithm)] = [
        ("ES256", .es256), ("RS256", .rs256), ("ES384", .es384), ("ES512", .es512),
        ("Ed25519", .ed25519),
    ]

    /// The certificates in a file.
    static func anchors(
        _ arguments: ServerArguments, _ option: Option
    ) throws -> TrustAnchors? {
        guard let path = arguments[option] else { return nil }
        return try anchors(at: path)
    }

    static func anchors(at path: String) throws -> TrustAnchors {
        let pem = try ServingSettings.read(path)
        return try naming(
            TrustAnchors(pem.withBytes { bytes in try TrustAnchors.certificates(pem: bytes) })
        ) { (_: any Error) in .trustFile(path, .noCertificates) }
    }
}

/// The authenticators whose makers are trusted, and the names of their models.
///
/// The file of `--authenticators` is a JSON list of objects: `aaguid` (a UUID) and `name`, and
/// optionally `roots`, the path of a PEM file with trust anchors for this model only.
struct AuthenticatorTrust {
    let trust: AttestationTrust
    let names: [[UInt8]: String]

    init(_ arguments: ServerArguments, anchors: TrustAnchors?) throws {
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
            else { throw ServerFailure.trustFile(path, .element(number + 1)) }
            names[id] = name
            let roots = try element["roots"]?.string.map { file in
                try PublicKeyOptions.anchors(at: Self.path(of: file, beside: path))
            }
            models.append(AttestationTrust.Model(id: id, anchors: roots))
        }
        trust = AttestationTrust(anchors: anchors, models: models)
        self.names = names
    }

    private static func elements(of path: String) throws -> [JSONValue] {
        let text = try ServingSettings.read(path)
        let limits = JSONLimits(bytes: 256 << 10, depth: 4)
        let document = try naming(readJSON(text, limits: limits)) { (_: any Error) in
            .trustFile(path, .notAList)
        }
        guard let elements = document.elements else {
            throw ServerFailure.trustFile(path, .notAList)
        }
        return elements
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

/// The fault of a file about trusted makers.
enum TrustFileError: Hashable, Sendable {
    /// The file has no certificate in PEM, or a malformed one.
    case noCertificates
    /// The file is not a JSON list.
    case notAList
    /// This element of the list is malformed or occurs twice; the first element is 1.
    case element(Int)
}
