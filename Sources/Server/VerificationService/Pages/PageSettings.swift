/// The settings of the pages on which people create passkeys and sign in with them.
package struct PageSettings: Hashable, Sendable {
    /// The addresses to which the pages may return; a link names one by its position.
    package let returnAddresses: [ReturnAddress]
    /// The other origins that may use this relying party's passkeys (WebAuthn Level 3, section
    /// 5.11).
    package let relatedOrigins: [String]

    package init(returnAddresses: [ReturnAddress] = [], relatedOrigins: [String] = []) {
        self.returnAddresses = returnAddresses
        self.relatedOrigins = relatedOrigins
    }
}

/// An address of an application to which the pages may return.
package struct ReturnAddress: Hashable, Sendable {
    /// The address, without a fragment: the pages add one.
    package let text: String

    /// Whether the address is an origin: a scheme, a host and perhaps a port.
    package let isOrigin: Bool

    /// Accepts `https`, and `http` for `localhost`.
    ///
    /// Refuses user names, fragments, and characters that a URI cannot contain. Quotation marks are
    /// refused too, so that the address can stand in an HTML attribute.
    package init?(_ text: String) {
        let parts = text.split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty, !parts[2].isEmpty,
            parts[2].utf8.allSatisfy(\.isInAuthority), text.utf8.allSatisfy(\.isInReturnAddress)
        else { return nil }
        let isLocal = parts[2] == "localhost" || parts[2].hasPrefix("localhost:")
        guard parts[0] == "https:" || parts[0] == "http:" && isLocal else { return nil }
        self.text = text
        isOrigin = parts.count == 3
    }

    /// The address in an HTML attribute.
    var attribute: String { text.replacing("&", with: "&amp;") }
}

extension UInt8 {
    /// Whether a host or a port may contain the byte.
    fileprivate var isInAuthority: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-.:[]".utf8.contains(self)
        }
    }

    /// Whether a return address may contain the byte.
    fileprivate var isInReturnAddress: Bool {
        isInAuthority || "_~/?!$&()*+;=%".utf8.contains(self)
    }
}
