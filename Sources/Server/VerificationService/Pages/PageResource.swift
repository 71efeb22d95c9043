internal import WatchwordCoding
internal import WatchwordCryptography

/// A page or file that the server offers to browsers in addition to the API.
///
/// The raw value is the path.
enum PageResource: String, CaseIterable, Hashable, Sendable {
    case enrolment = "/ui/enrol"
    case signIn = "/ui/sign-in"
    case script = "/ui/page.js"
    case style = "/ui/page.css"
    /// The origins that share the relying party's passkeys (WebAuthn Level 3, section 5.11).
    case relatedOrigins = "/.well-known/webauthn"

    /// Finds the resource with this path.
    init?(segments: [[UInt8]]) {
        let resource = Self.allCases.first { resource in
            resource.rawValue.utf8.dropFirst().split(separator: UInt8(ascii: "/"))
                .elementsEqual(segments) { $0.elementsEqual($1) }
        }
        guard let resource else { return nil }
        self = resource
    }

    /// The additional header fields of these resources.
    var headers: [HTTPField] {
        [
            HTTPField("Content-Type", contentType),
            HTTPField("Content-Security-Policy", Self.contentSecurityPolicy),
            HTTPField(
                "Permissions-Policy",
                "publickey-credentials-create=(self), publickey-credentials-get=(self)"),
            HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
    }

    private var contentType: String {
        switch self {
        case .enrolment, .signIn: "text/html; charset=utf-8"
        case .script: "text/javascript; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .relatedOrigins: "application/json"
        }
    }

    /// Scripts, styles and requests must have the same origin; text never becomes markup or script.
    private static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'"

    /// The content for a request with this query.
    func content(
        query: [(name: String, value: String)], settings: PageSettings
    ) throws(Refusal) -> [UInt8] {
        switch self {
        case .enrolment, .signIn:
            let page = self == .enrolment ? BrowserPage.enrolment : .signIn
            guard let address = try Self.returnAddress(query, settings) else { return page.content }
            let text = String(decoding: page.content, as: UTF8.self)
            return Array(
                text.replacing(
                    #"<meta name="return-to" content="">"#,
                    with: #"<meta name="return-to" content="\#(address.attribute)">"#,
                    maxReplacements: 1
                ).utf8)
        case .script, .style, .relatedOrigins:
            guard query.isEmpty else { throw Refusal(.malformedQuery) }
            if self == .script { return BrowserPage.script.content }
            if self == .style { return BrowserPage.style.content }
            let origins = settings.relatedOrigins.map(JSONValue.text)
            return JSONValue.object([("origins", .list(origins))]).rendered()
                .withBytes { [UInt8](copying: $0) }
        }
    }

    /// The address to which the page returns, if the query specifies one.
    ///
    /// `return` is a position in the list, so that a link cannot specify any other address. `state`
    /// is for the application; the server ignores it.
    private static func returnAddress(
        _ query: [(name: String, value: String)], _ settings: PageSettings
    ) throws(Refusal) -> ReturnAddress? {
        guard query.count == Set(query.map(\.name)).count,
            query.allSatisfy({ ["return", "state"].contains($0.name) })
        else { throw Refusal(.malformedQuery) }
        guard let text = query.first(where: { $0.name == "return" })?.value else { return nil }
        guard let index = Int(text), String(index) == text,
            settings.returnAddresses.indices.contains(index)
        else { throw Refusal(.malformedQuery) }
        return settings.returnAddresses[index]
    }
}

/// The files of the pages on which people create passkeys and sign in with passkeys.
package enum BrowserPage: CaseIterable, Sendable {
    case enrolment, signIn, script, style

    /// The content, as UTF-8.
    package var content: [UInt8] {
        switch self {
        case .enrolment: PackageResources.enrol_html
        case .signIn: PackageResources.sign_in_html
        case .script: PackageResources.page_js
        case .style: PackageResources.page_css
        }
    }
}

extension Service {
    /// Responds to a browser's request for a page, or for a file of the pages.
    func respond(
        to request: HTTPRequest, _ resource: PageResource, _ target: RequestTarget,
        _ exchange: Exchange
    ) throws(Refusal) -> HTTPResponse {
        let methods = [Method.get, .head, .options]
        guard let method = Method(rawValue: request.method), methods.contains(method) else {
            throw limited(Refusal(.methodNotAllowed(methods)), exchange)
        }
        if method == .options { return end(exchange, allowing: methods) }
        if let seconds = limiter.take(exchange.address, now: dependencies.instant()) {
            throw Refusal(.tooManyRequests(retryAfter: seconds))
        }
        guard request.body.count == 0 else { throw Refusal(.malformedBody(at: nil)) }
        guard let pages = settings.pages else { throw Refusal(.unknownRoute) }
        let content = try resource.content(query: target.parameters, settings: pages)
        return end(exchange, content, headers: resource.headers)
    }
}

/// The settings of the pages on which people create passkeys and sign in with passkeys.
package struct PageSettings: Hashable, Sendable {
    /// The addresses to which the pages may return; a link specifies one by its position.
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
    /// The address, without a fragment, because the pages add one.
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

    /// The address, escaped for an HTML attribute.
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
