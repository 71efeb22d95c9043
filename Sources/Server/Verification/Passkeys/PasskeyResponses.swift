/// What a browser returns after it created a passkey.
public struct RegistrationResponse: Sendable {
    /// The passkey's id: 1 to 1,023 bytes.
    public let credentialID: [UInt8]
    /// What the browser states; `nil` if its JSON is malformed.
    public let clientData: ClientData?
    /// The attestation object.
    public let attestationObject: [UInt8]
    /// How the browser reaches the authenticator, in its own words.
    public let transports: [String]

    /// Creates the value from the members of the browser's JSON.
    public init(
        credentialID: [UInt8], clientData: ClientData?, attestationObject: [UInt8],
        transports: [String]
    ) {
        self.credentialID = credentialID
        self.clientData = clientData
        self.attestationObject = attestationObject
        self.transports = transports
    }
}

/// What a browser returns after a passkey signed.
public struct AssertionResponse: Sendable {
    /// The passkey's id: 1 to 1,023 bytes.
    public let credentialID: [UInt8]
    /// What the browser states; `nil` if its JSON is malformed.
    public let clientData: ClientData?
    /// The authenticator data.
    public let authenticatorData: [UInt8]
    /// The signature.
    public let signature: [UInt8]
    /// The user handle that the authenticator stored; `nil` if it stored none.
    public let userHandle: [UInt8]?

    /// Creates the value from the members of the browser's JSON.
    public init(
        credentialID: [UInt8], clientData: ClientData?, authenticatorData: [UInt8],
        signature: [UInt8], userHandle: [UInt8]?
    ) {
        self.credentialID = credentialID
        self.clientData = clientData
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }
}
