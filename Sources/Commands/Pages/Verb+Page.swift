import Arguments

extension Verb {
    /// The help page of this verb.
    var page: Page {
        switch self {
        case .initialize: .initialize
        case .add: .add
        case .importing: .importing
        case .code: .code
        case .watch: .watch
        case .list: .list
        case .show: .show
        case .edit: .edit
        case .rename: .rename
        case .remove: .remove
        case .export: .export
        case .passphrase: .passphrase
        case .rekey: .rekey
        case .slotList: .slotList
        case .slotAdd: .slotAdd
        case .slotRemove: .slotRemove
        case .check: .check
        case .loginEnrol: .loginEnrol
        case .loginPresent: .loginPresent
        case .loginStatus: .loginStatus
        case .loginWipe: .loginWipe
        case .totp: .totp
        case .hotp: .hotp
        case .verify: .verify
        case .qrRead: .qrRead
        case .qrWrite: .qrWrite
        case .completions: .completions
        case .manual: .manual
        }
    }
}
