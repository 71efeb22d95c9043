package import JSONReading
internal import Verification
public import WatchwordCoding
internal import WatchwordCryptography
internal import WatchwordSystem

/// The browser's response after it created a passkey.
public struct RegistrationResponse: Sendable {
    /// The passkey's id: 1 to 1,023 bytes.
    public let credentialID: [UInt8]
    /// The client data; `nil` if its JSON is malformed.
    public let clientData: ClientData?
    /// The attestation object, encoded in CBOR.
    public let attestationObject: [UInt8]
    /// The transports by which the browser reaches the authenticator, as the browser names them.
    public let transports: [String]

    /// Takes decoded members of the browser's JSON.
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

/// The browser's response after a passkey signed.
public struct AssertionResponse: Sendable {
    /// The passkey's id: 1 to 1,023 bytes.
    public let credentialID: [UInt8]
    /// The client data; `nil` if its JSON is malformed.
    public let clientData: ClientData?
    /// The authenticator data, which the signature covers.
    public let authenticatorData: [UInt8]
    /// The signature, in the form of the key's algorithm.
    public let signature: [UInt8]
    /// The user handle that the authenticator stored; `nil` if it stored none.
    public let userHandle: [UInt8]?

    /// Takes decoded members of the browser's JSON.
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

/// The structure of the object that `PublicKeyCredential.toJSON()` returns (WebAuthn Level 3,
/// section
/// 5.1); unknown members are accepted, because browsers add some.
private enum BrowserResponse {
    /// The size of the longest value: an attestation statement with a chain of certificates.
    static let maximumCount = 48 << 10

    /// The inner object and the credential's id, which the browser sends twice.
    static func read(
        _ value: JSONValue
    ) throws(PasskeyError) -> (id: [UInt8], response: JSONValue) {
        guard value["type"]?.string == "public-key" else { throw .member("type") }
        let id = try value.decoded("rawId", counts: 1...1_023)
        guard let text = value["id"]?.string, let raw = value["rawId"]?.string,
            text.utf8.elementsEqual(raw.utf8)
        else { throw .member("id") }
        guard let response = value["response"], response.members != nil else {
            throw .member("response")
        }
        return (id, response)
    }

    static func clientData(
        _ response: JSONValue
    ) throws(PasskeyError) -> [UInt8] {
        try response.decoded("clientDataJSON", in: "response.", counts: 0...maximumCount)
    }

    /// Reads the text that an application received from its page.
    static func value(_ text: String) throws(PasskeyError) -> JSONValue {
        let bytes = Array(text.utf8)
        return try replacingErrors(
            of: readJSON(bytes.span, limits: .browser, content: .any), with: PasskeyError.json)
    }
}

extension JSONLimits {
    /// The limits for an object from a browser, which may be nested more deeply than a message.
    package static let browser = JSONLimits(bytes: 64 << 10, depth: 16, values: 1_024)
}

extension RegistrationResponse {
    /// Reads the text that `toJSON()` returned after `navigator.credentials.create` (WebAuthn Level
    /// 3, section 5.1).
    ///
    /// The text has at most 64 KiB and 1,024 values. Each binary member is base64url without
    /// padding, of at most 48 KiB; duplicate names and anything after the object are refused.
    /// Unknown members are ignored, because browsers add some. Malformed client data is not an
    /// error: it denies the registration.
    ///
    /// - Throws: ``PasskeyError/json`` or ``PasskeyError/member(_:)``. Both indicate a bug in the
    ///   page, or in the code between the page and the application.
    public init(json text: String) throws(PasskeyError) {
        self = try Self.read(BrowserResponse.value(text)).response()
    }

    /// Reads the JSON that the browser returned after `navigator.credentials.create`.
    ///
    /// Malformed client data is not an error: it denies the registration.
    public static func read(
        _ value: JSONValue
    ) throws(PasskeyError) -> Parsed {
        let (id, response) = try BrowserResponse.read(value)
        let object = try response.decoded(
            "attestationObject", in: "response.", counts: 0...BrowserResponse.maximumCount)
        var transports: [String] = []
        if let member = response["transports"] {
            guard let elements = member.elements else { throw .member("response.transports") }
            for element in elements {
                guard let text = element.string else { throw .member("response.transports") }
                transports.append(text)
            }
        }
        return Parsed(
            credentialID: id, clientData: try BrowserResponse.clientData(response),
            attestationObject: object, transports: transports)
    }

    /// The members of the browser's object; the client data is still JSON.
    public struct Parsed: Hashable, Sendable {
        let credentialID: [UInt8]
        let clientData: [UInt8]
        let attestationObject: [UInt8]
        let transports: [String]

        /// Decodes the client data; malformed client data becomes `nil`.
        public func response() -> RegistrationResponse {
            RegistrationResponse(
                credentialID: credentialID, clientData: ClientData.read(clientData),
                attestationObject: attestationObject, transports: transports)
        }
    }
}

extension AssertionResponse {
    /// Reads the text that `toJSON()` returned after `navigator.credentials.get` (WebAuthn Level 3,
    /// section 5.1).
    ///
    /// The text has at most 64 KiB and 1,024 values. Each binary member is base64url without
    /// padding, of at most 48 KiB; duplicate names and anything after the object are refused.
    /// Unknown members are ignored, because browsers add some. Malformed client data is not an
    /// error: it denies the authentication.
    ///
    /// - Throws: ``PasskeyError/json`` or ``PasskeyError/member(_:)``. Both indicate a bug in the
    ///   page, or in the code between the page and the application.
    public init(json text: String) throws(PasskeyError) {
        self = try Self.read(BrowserResponse.value(text)).response()
    }

    /// Reads the JSON that the browser returned after `navigator.credentials.get`.
    ///
    /// Malformed client data is not an error: it denies the authentication.
    public static func read(
        _ value: JSONValue
    ) throws(PasskeyError) -> Parsed {
        let (id, response) = try BrowserResponse.read(value)
        let counts = 0...BrowserResponse.maximumCount
        var userHandle: [UInt8]?
        // Browsers send null here if there is no user handle.
        if let member = response["userHandle"], !member.isNull {
            userHandle = try response.decoded("userHandle", in: "response.", counts: 0...64)
        }
        return Parsed(
            credentialID: id, clientData: try BrowserResponse.clientData(response),
            authenticatorData: try response.decoded(
                "authenticatorData", in: "response.", counts: counts),
            signature: try response.decoded("signature", in: "response.", counts: counts),
            userHandle: userHandle)
    }

    /// The members of the browser's object; the client data is still JSON.
    public struct Parsed: Hashable, Sendable {
        let credentialID: [UInt8]
        let clientData: [UInt8]
        let authenticatorData: [UInt8]
        let signature: [UInt8]
        let userHandle: [UInt8]?

        /// Decodes the client data; malformed client data becomes `nil`.
        public func response() -> AssertionResponse {
            AssertionResponse(
                credentialID: credentialID, clientData: ClientData.read(clientData),
                authenticatorData: authenticatorData, signature: signature,
                userHandle: userHandle)
        }
    }
}

extension JSONValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}

extension JSONValue {
    /// A base64url text that decodes to a permitted number of bytes.
    func decoded(
        _ name: String, in object: String = "", counts: ClosedRange<Int>
    ) throws(PasskeyError) -> [UInt8] {
        let place = object + name
        guard let text = self[name]?.secretText else { throw .member(place) }
        let bytes = try replacingErrors(
            of: text.withBytes { text throws(CryptographyError) in try Base64URL.decode(text) },
            with: PasskeyError.member(place))
        guard counts.contains(bytes.count) else { throw .member(place) }
        return bytes
    }
}
