public import SecretVault
public import WatchwordCryptography

/// An earlier enrolment under the name of a new key.
enum Incumbent: Sendable {
    case key(EnrolledKey)
    case secret(EnrolledSecret)

    /// `nil` for anything else, which is replaced.
    init?(_ content: EntryContent) {
        do throws(DeviceLoginError) {
            self = .key(try EnrolledKey(content))
        } catch {
            do throws(DeviceLoginError) {
                self = .secret(try EnrolledSecret(content))
            } catch {
                return nil
            }
        }
    }

    var isKey: Bool {
        if case .key = self { true } else { false }
    }

    /// Whether it signs in.
    var isUsable: Bool {
        switch self {
        case .key(let key): key.credential != nil
        case .secret: true
        }
    }

    /// The stored form of the key that replaces it.
    var next: SecretBytes? {
        switch self {
        case .key(let key): key.next
        case .secret(let secret): secret.next
        }
    }

    /// The stored form while `next` is not registered; `nil` if there is no other key.
    func form(waitingFor next: SecretBytes?) -> SecretBytes {
        switch self {
        case .key(var key):
            key.next = next
            return key.form()
        case .secret(var secret):
            secret.next = next
            return secret.form()
        }
    }
}

// What earlier runs have stored.
extension KeyEnrolment {
    /// A key that the server has not registered yet, as far as this device knows.
    struct Pending {
        /// The entry that holds it.
        let id: RecordID
        let key: EnrolledKey
        /// What the entry is for until then; `nil` if there is nothing else.
        let current: Incumbent?
    }

    /// The key that an earlier run with this ticket has made.
    public static func made(
        for enrolment: Enrolment, with ticket: SecretBytes, in earlier: [RecordID: EntryContent]
    ) -> EnrolledKey? {
        stored(earlier, digest(of: ticket), for: enrolment)?.key
    }

    static func digest(of ticket: SecretBytes) -> [UInt8] {
        ticket.withBytes { text in sha256(text) }
    }

    /// The key that an earlier run with this ticket has stored.
    static func stored(
        _ earlier: [RecordID: EntryContent], _ ticketDigest: [UInt8], for order: Enrolment
    ) -> Pending? {
        pending(in: earlier) {
            $0.server == order.server && $0.ticketDigest == ticketDigest
        }
    }

    /// A key that an earlier run with another ticket made for this server, and for which it received
    /// no response.
    static func unanswered(
        in earlier: [RecordID: EntryContent], for order: Enrolment
    ) -> Pending? {
        pending(in: earlier) { $0.server == order.server && $0.credential == nil }
    }

    /// A key that an earlier run has stored.
    private static func pending(
        in earlier: [RecordID: EntryContent], where isWanted: (EnrolledKey) -> Bool
    ) -> Pending? {
        for (id, content) in earlier {
            guard let incumbent = Incumbent(content) else { continue }
            if case .key(let key) = incumbent, isWanted(key) {
                return Pending(id: id, key: key, current: nil)
            }
            guard let form = incumbent.next else { continue }
            do throws(EnrolledKey.Unreadable) {
                let next = try EnrolledKey(reading: form)
                if isWanted(next) { return Pending(id: id, key: next, current: incumbent) }
            } catch { continue }
        }
        return nil
    }

    /// An earlier enrolment that signs in.
    static func usable(in earlier: [RecordID: EntryContent]) -> (RecordID, Incumbent)? {
        for (id, content) in earlier {
            if let incumbent = Incumbent(content), incumbent.isUsable { return (id, incumbent) }
        }
        return nil
    }
}
