import Exports

// What an export's format cannot hold.
extension Messages {
    /// “1 wiped entry”, “2 wiped entries”.
    static func entries(_ count: Int, _ adjective: String = "") -> String {
        let kind = adjective.isEmpty ? "" : adjective + " "
        return "\(count) \(kind)\(count == 1 ? "entry" : "entries")"
    }

    static func sentence(forLeavingOut count: Int, _ reason: EntryOmission) -> String {
        let are = count == 1 ? "was" : "were"
        return switch reason {
        case .plainSecret: "\(count) plain \(count == 1 ? "secret" : "secrets") \(are) left out"
        case .yandex: "\(entries(count, "Yandex")) \(are) left out"
        case .yandexSecret:
            "\(entries(count, "Yandex")) \(are) left out (secret is not one that the app accepts)"
        case .motp: "\(entries(count, "Mobile-OTP")) \(are) left out"
        case .motpSecret:
            "\(entries(count, "Mobile-OTP")) \(are) left out (secret is not lower-case hexadecimal)"
        case .digits: "\(entries(count)) \(are) left out (unsupported number of digits)"
        case .period: "\(entries(count)) \(are) left out (unsupported period)"
        case .start: "\(entries(count)) \(are) left out (the first period does not start at 0)"
        case .steam: "\(entries(count, "Steam")) \(are) left out (unsupported parameters)"
        case .counter: "\(entries(count)) \(are) left out (unsupported counter)"
        case .tooLong: "\(entries(count)) \(are) left out (too long for a QR code)"
        }
    }

    static func sentence(forLosing property: LostProperty, entries count: Int) -> String {
        let one = count == 1
        let lose = entries(count) + (one ? " loses its " : " lose their ")
        return switch property {
        case .tags: lose + "tags"
        case .furtherTags: lose + "tags except the first"
        case .note: lose + (one ? "note" : "notes")
        case .icon: lose + (one ? "icon name" : "icon names")
        case .favourite: lose + (one ? "favourite mark" : "favourite marks")
        case .otherParameters: lose + "further URI parameters"
        case .accessControl: lose + "access control"
        }
    }

    static func slug(for reason: EntryOmission) -> String {
        switch reason {
        case .plainSecret: "plain-secret"
        case .yandex: "yandex"
        case .yandexSecret: "yandex-secret"
        case .motp: "motp"
        case .motpSecret: "motp-secret"
        case .digits: "digits"
        case .period: "period"
        case .start: "t0"
        case .steam: "steam"
        case .counter: "counter"
        case .tooLong: "too-long"
        }
    }

    static func slug(for property: LostProperty) -> String {
        switch property {
        case .tags: "tags"
        case .furtherTags: "further-tags"
        case .note: "note"
        case .icon: "icon"
        case .favourite: "favourite"
        case .otherParameters: "other-parameters"
        case .accessControl: "access-control"
        }
    }
}
