package import PasskeyVerification
internal import Verification
internal import WatchwordCoding

/// The operator's settings for passkeys.
package struct PasskeySettings: Sendable {
    /// The relying party: its sites, and its requirements for passkeys.
    package let relyingParty: RelyingParty
    /// The origins of this server's own pages; links use the first one.
    package let origins: [String]
    /// The names of authenticator models, keyed by AAGUID.
    package let authenticators: [[UInt8]: String]
    /// The weakest policy that an application may choose.
    package let floor: PolicyFloor

    package init(
        relyingParty: RelyingParty, origins: [String], authenticators: [[UInt8]: String] = [:],
        floor: PolicyFloor = .none
    ) {
        self.relyingParty = relyingParty
        self.origins = origins
        self.authenticators = authenticators
        self.floor = floor
    }

    /// The name of an authenticator's model, or the model itself as a UUID.
    func name(of model: [UInt8]) -> String {
        if let name = authenticators[model] { return name }
        let digits = model.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
            .map { digits[$0.clamped(to: 0..<digits.count)].joined() }.joined(separator: "-")
    }
}

/// A member of the object `policy`.
enum PolicyMember: String, CaseIterable, Hashable, Sendable {
    case userVerification = "user_verification"
    case backup, attestation, counter, discoverable

    /// The values, starting with the weakest.
    var values: [String] {
        switch self {
        case .userVerification:
            PasskeyPolicy.UserVerification.allCases.reversed().map(\.rawValue)
        case .backup: PasskeyPolicy.Backup.allCases.map(\.rawValue)
        case .attestation: PasskeyPolicy.Attestation.allCases.map(\.rawValue)
        case .counter: PasskeyPolicy.Counter.allCases.map(\.rawValue)
        case .discoverable: PasskeyPolicy.Discoverable.allCases.reversed().map(\.rawValue)
        }
    }

    /// The value in the default policy.
    fileprivate var standard: String {
        let policy = PasskeyPolicy.standard
        return switch self {
        case .userVerification: policy.userVerification.rawValue
        case .backup: policy.backup.rawValue
        case .attestation: policy.attestation.rawValue
        case .counter: policy.counter.rawValue
        case .discoverable: policy.discoverable.rawValue
        }
    }

    fileprivate func strength(of value: String) -> Int { values.firstIndex(of: value) ?? 0 }
}

/// The weakest policy for passkeys that an application may choose.
package struct PolicyFloor: Hashable, Sendable {
    private let least: [PolicyMember: String]

    /// The floor that permits every policy.
    package static let none = PolicyFloor(least: [:])

    private init(least: [PolicyMember: String]) { self.least = least }

    /// Parses members with values, such as `backup=step-up`; `nil` if one is unknown or occurs
    /// twice.
    package init?(_ texts: [String]) {
        var least: [PolicyMember: String] = [:]
        for text in texts {
            let parts = text.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false
            ).map(String.init)
            guard parts.count == 2, let member = PolicyMember(rawValue: parts[0]),
                member.values.contains(parts[1]), least[member] == nil
            else { return nil }
            least[member] = parts[1]
        }
        self.least = least
    }

    /// The policy of a request.
    ///
    /// A missing member has its default value, or the weakest permitted value if that is stronger.
    ///
    /// - Throws: A ``Refusal`` with ``Problem/weakPolicy`` if a chosen value is weaker than
    ///   permitted.
    func policy(_ chosen: JSONValue?) throws(Refusal) -> PasskeyPolicy {
        var values: [PolicyMember: String] = [:]
        for member in PolicyMember.allCases {
            let least = least[member] ?? member.values[0]
            let value = chosen?[member.rawValue]?.string
            let isStrongEnough =
                member.strength(of: value ?? member.standard) >= member.strength(of: least)
            guard isStrongEnough || value == nil else { throw Refusal(.weakPolicy) }
            values[member] = isStrongEnough ? value ?? member.standard : least
        }
        func choice<Choice: RawRepresentable<String>>(
            _ member: PolicyMember, _ type: Choice.Type
        ) throws(Refusal) -> Choice {
            guard let choice = values[member].flatMap(Choice.init(rawValue:)) else {
                throw Refusal(.invalidField("policy"))
            }
            return choice
        }
        return PasskeyPolicy(
            userVerification: try choice(.userVerification, PasskeyPolicy.UserVerification.self),
            backup: try choice(.backup, PasskeyPolicy.Backup.self),
            attestation: try choice(.attestation, PasskeyPolicy.Attestation.self),
            counter: try choice(.counter, PasskeyPolicy.Counter.self),
            discoverable: try choice(.discoverable, PasskeyPolicy.Discoverable.self))
    }
}
