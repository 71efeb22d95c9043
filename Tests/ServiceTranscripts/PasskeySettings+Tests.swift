package import Cryptography
package import Verification
package import VerificationService

extension PasskeySettings {
    /// The passkeys of `mill.example`.
    package static func forTests(
        topOrigins: [String] = [], algorithms: [SignatureAlgorithm] = [.es256, .rs256],
        trust: AttestationTrust = .none, floor: PolicyFloor = .none
    ) throws -> PasskeySettings {
        let origins = ["https://mill.example", "https://login.mill.example:8443"]
        return PasskeySettings(
            relyingParty: try RelyingParty(
                ids: ["mill.example"], name: "Paper Mill", origins: origins,
                topOrigins: topOrigins, algorithms: algorithms, trust: trust),
            origins: origins, floor: floor)
    }
}
