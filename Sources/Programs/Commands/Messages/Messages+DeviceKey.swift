import Courier
import DeviceLogin
import Devices

// Signing in with a device key.
extension Messages {
    static func sentence(forKey error: DeviceLoginError) -> String {
        switch error {
        case .otherKind, .deviceKey: "not a device key; see watchword key enrol --help"
        case .unregistered:
            "the server has not confirmed the key; run watchword key enrol again, with the same "
                + "ticket or another one"
        case .otherPlace:
            "an earlier run with this ticket made the key elsewhere, or without a PIN; repeat it with "
                + "the same options as before, or request another ticket"
        case .adoptedElsewhere:
            "the server has registered the key of an earlier run, which made it elsewhere, or without "
                + "a PIN; it is in use now, and the ticket was not used; to replace the key, run the "
                + "command again"
        case .unreadable:
            "the key was stored by another version of Watchword; enrol the device again"
        case .denied:
            "the server denied the signature; the key was kept; try again, or enrol the device again"
        case .wipeNotObeyed:
            "the server denied the signature and ordered a wipe without a valid reason; the key "
                + "was kept"
        case .wiped(let reason): sentence(forWiped: reason, "key")
        case .unexpectedResponse: "the server sent an invalid response; the key was kept"
        case .problem(let problem) where problem.type.text == refusedKey:
            "the server refused the key: the address given with --server is not one of its addresses "
                + "(--audience), it requires a stronger presence check, or it does not trust the TPM "
                + "(--tpm-roots)"
        case .problem(let problem) where problem.type.text == refusedTicket:
            "the ticket is unknown, already used or expired; request another one"
        case .otherTPM:
            "the system agent uses only this computer's TPM (device:/dev/tpmrm0); run the command "
                + "without --tpm"
        case .token(.refused(.otherDevice)):
            "the key was made by another TPM, or this one was cleared; enrol the device again"
        case .token(.refused(.badRequest)):
            "the TPM does not accept the stored key; enrol the device again"
        default: sentence(for: error)
        }
    }

    /// Where a device key is.
    static func place(of key: KeyState) -> String {
        let place =
            switch key.custody {
            case .vault: "the vault"
            case .tpm: "the TPM"
            case .attestedTPM: "the TPM, as the server has checked"
            }
        return key.requiresPIN ? "\(place); it requires the PIN" : place
    }

    /// What to add if an enrolment found the key of an earlier run.
    static let adoptedKey =
        "This is the key of an earlier run, which the server has registered, so the ticket was not "
        + "used. To replace the key, run the command again."

    private static let refusedKey = "urn:watchword:problem:refused-key"
    private static let refusedTicket = "urn:watchword:problem:refused-ticket"
}
