internal import PasskeyVerification
package import VerificationService
package import WatchwordCryptography

extension PasskeySettings {
    /// The passkeys of `mill.example`, or of other domains.
    ///
    /// - Parameter apps: names of Android apps.
    package static func forTests(
        ids: [String] = ["mill.example"], apps: [String] = [], topOrigins: [String] = [],
        algorithms: [SignatureAlgorithm] = [.es256, .rs256], floor: PolicyFloor = .none
    ) throws -> PasskeySettings {
        let origins = ids.map { "https://\($0)" } + ["https://login.\(ids[0]):8443"]
        return PasskeySettings(
            relyingParty: try RelyingParty(
                ids: ids, name: "Paper Mill", origins: origins + apps,
                topOrigins: topOrigins, algorithms: algorithms, trust: .none),
            origins: origins, floor: floor)
    }
}
