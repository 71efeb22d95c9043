/// Changes to an entry's access control; `nil` leaves a value unchanged.
package struct AccessControlChange: Hashable, Sendable {
    package let presence: AccessControl.Presence?
    package let onFailure: AccessControl.OnFailure?
    package let reuse: ReuseTime?

    package init(
        presence: AccessControl.Presence?, onFailure: AccessControl.OnFailure?,
        reuse: ReuseTime? = nil
    ) {
        self.presence = presence
        self.onFailure = onFailure
        self.reuse = reuse
    }

    package var isEmpty: Bool { presence == nil && onFailure == nil && reuse == nil }

    /// Returns `other` with the changes applied.
    package func applied(to other: AccessControl) -> AccessControl {
        AccessControl(
            presence: presence ?? other.presence, onFailure: onFailure ?? other.onFailure,
            reuse: reuse ?? other.reuse)
    }
}
