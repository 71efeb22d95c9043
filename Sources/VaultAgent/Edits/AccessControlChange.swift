package import SecretVault

/// Changes of an entry's access control; `nil` keeps a value.
package struct AccessControlChange: Hashable, Sendable {
    package let presence: AccessControl.Presence?
    package let onFailure: AccessControl.OnFailure?

    package init(presence: AccessControl.Presence?, onFailure: AccessControl.OnFailure?) {
        self.presence = presence
        self.onFailure = onFailure
    }

    var isEmpty: Bool { presence == nil && onFailure == nil }

    /// `other` with the changes.
    package func applied(to other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence ?? other.presence, onFailure: onFailure ?? other.onFailure)
    }
}
