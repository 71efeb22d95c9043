package import PasskeyVerification
internal import Verification

/// The settings of passkeys.
package struct PasskeySettings: Sendable {
    /// The sites, and what is accepted from them.
    package let relyingParty: RelyingParty
    /// The origins of this server's own pages; links name the first one.
    package let origins: [String]
    /// The names of authenticators by their models (AAGUIDs).
    package let authenticators: [[UInt8]: String]
    /// How weak a policy an application may choose.
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
