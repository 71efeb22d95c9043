/// The files of the pages on which people create passkeys and sign in with them.
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
