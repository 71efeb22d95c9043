import CommandLineInterface
internal import PasskeyVerification
import Verification
import VerificationService
import WatchwordCryptography

/// The validated options of `serve` about passkeys and device keys.
struct PublicKeyOptions: Sendable {
    let passkeys: PasskeySettings?
    let pages: PageSettings?
    let audiences: [String]
    let tpmRoots: TrustAnchors?

    init(_ arguments: ServerArguments) throws(ServerFailure) {
        do throws(UsageError) {
            pages = try Self.pages(arguments)
            audiences =
                try ServingSettings.list(
                    arguments, .audience,
                    expected: "addresses of this server, such as https://login.example"
                ) { DeviceKeys.isAudience($0) ? $0 : nil } ?? []
        } catch { throw .usage(error) }
        tpmRoots = try Self.anchors(arguments, .tpmRoots)
        passkeys = try Self.passkeys(arguments, relatedOrigins: pages?.relatedOrigins ?? [])
        if passkeys == nil {
            for option in Self.aboutPasskeys where arguments.has(option) {
                throw .usage(.needs(option.name, with: Option.relyingParty.name))
            }
        }
    }

    /// The options that have no effect without a relying party.
    private static let aboutPasskeys: [Option] = [
        .relyingPartyName, .origin, .topOrigin, .attestationRoots, .authenticators,
        .passkeyAlgorithms, .passkeyFloor, .relatedOrigin, .pages,
    ]

    private static func pages(_ arguments: ServerArguments) throws(UsageError) -> PageSettings? {
        let addresses = try ServingSettings.list(
            arguments, .returnTo,
            expected: "addresses without a fragment, such as https://shop.example/back",
            ReturnAddress.init)
        let origins = try ServingSettings.list(
            arguments, .relatedOrigin, expected: expectedOrigins
        ) { RelyingParty.isWebOrigin($0) ? $0 : nil }
        guard arguments.has(.pages) else {
            if addresses != nil { throw .needs("return-to", with: "pages") }
            if origins != nil { throw .needs("related-origin", with: "pages") }
            return nil
        }
        return PageSettings(returnAddresses: addresses ?? [], relatedOrigins: origins ?? [])
    }

    private static let expectedOrigins =
        "origins as browsers write them, such as https://shop.example or https://shop.example:8443"

    private static func passkeys(
        _ arguments: ServerArguments, relatedOrigins: [String]
    ) throws(ServerFailure) -> PasskeySettings? {
        let trust = try AuthenticatorTrust(
            arguments, anchors: anchors(arguments, .attestationRoots))
        do throws(UsageError) {
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
                throw .needs("pages", with: "origin")
            }
            if arguments.has(.pages) { try checkLinks(arguments, pageOrigins[0], ids[0]) }
            do throws(RelyingPartyError) {
                return PasskeySettings(
                    relyingParty: try RelyingParty(
                        ids: ids, name: arguments[.relyingPartyName] ?? ids[0], origins: origins,
                        relatedOrigins: relatedOrigins, topOrigins: topOrigins ?? [],
                        algorithms: algorithms ?? [.es256, .rs256], trust: trust.trust),
                    origins: pageOrigins, authenticators: trust.names, floor: floor ?? .none)
            } catch {
                // Each value has been checked.
                throw .badValue("rp-id", expected: "host names in lower case")
            }
        } catch { throw .usage(error) }
    }

    /// Checks that the pages to which links lead can create passkeys.
    private static func checkLinks(
        _ arguments: ServerArguments, _ origin: String, _ id: String
    ) throws(UsageError) {
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
    ) throws(ServerFailure) -> TrustAnchors? {
        guard let path = arguments[option] else { return nil }
        return try anchors(at: path)
    }

    static func anchors(at path: String) throws(ServerFailure) -> TrustAnchors {
        let pem = try ServingSettings.read(path)
        do {
            return try TrustAnchors(
                pem.withBytes { bytes in try TrustAnchors.certificates(pem: bytes) })
        } catch {
            throw .trustFile(path, .noCertificates)
        }
    }
}
