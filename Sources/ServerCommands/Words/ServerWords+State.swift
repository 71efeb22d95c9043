import Cryptography
import POSIX
import PostgreSQLStore
import SQLiteStore
import Verification
import VerificationService

// The database and the key file.
extension ServerWords {
    static let incompleteList =
        "a part of it can't be read any more, so there may be others; look through the events that you kept"

    static func sentence(for error: KeyFileError) -> String {
        switch error {
        case .lost:
            "the key file is missing, and without it the database is worth nothing: put it back, or "
                + "name it with --keys"
        case .unreadable(let error): sentence(for: error)
        case .content(let error): sentence(for: error)
        case .notReplaced(.system(let failure)), .notReplaced(.notConfirmed(let failure)):
            sentence(for: failure)
        case .notReplaced(.inTheWay(let name)): "“\(name)” beside it is none of ours and in the way"
        case .exposed: "others may change the files in its folder"
        case .system(let failure): sentence(for: failure)
        case .busy: "another watchword-server is changing it; try again"
        }
    }

    private static func sentence(for error: KeyRingError) -> String {
        switch error {
        case .malformed: "this is no key file, or not a whole one"
        case .newer: "a newer version of watchword-server made it"
        case .unknownVersion: "there is no such key in it"
        case .isCurrent: "the current key can't be given up"
        case .full: "it holds as many keys as it can; see watchword-server keys retire"
        case .failed(let failure):
            "OpenSSL could not do its work (\(failure.call.rawValue)); is there memory left?"
        }
    }

    static func sentence(for error: PrivateFileError) -> String {
        switch error {
        case .missing: "there is no such file"
        case .folder: "this is a folder, where a file is needed"
        case .symbolicLink: "this is a symbolic link; name the file itself"
        case .notAFile: "this is no regular file"
        case .otherOwner: "it belongs to another user"
        case .openToOthers: "others may read or write it; chmod 600 it"
        case .tooLarge(let limit): "it holds more than the \(limit) bytes that it can have"
        case .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: SQLiteStoreError) -> String {
        switch error {
        case .exposed: "others may change the files in its folder"
        case .notPrivate(let error): sentence(for: error)
        case .notOurs: "this is no database of watchword-server's"
        case .newer: "a newer version of watchword-server made it"
        case .isBackup: "this is a copy; it can be served after watchword-server restore only"
        case .putBack:
            "an earlier state was put in its place, in which spent codes are good again; use "
                + "watchword-server restore for that"
        case .clockBehind(let time): clockBehind(time)
        case .damagedMark: "the mark beside it is not what watchword-server wrote"
        case .exists: "there is such a file already; name another"
        case .busy: "another watchword-server has it; stop it, or try again"
        case .system(let failure): sentence(for: failure)
        case .store(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: PostgreSQLStoreError) -> String {
        switch error {
        case .unreachable(let message):
            message.split(whereSeparator: \.isNewline)
                .map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ").visibleOnTerminal
        case .notUTF8: "the database does not keep texts in UTF-8; make one with ENCODING 'UTF8'"
        case .newer: "a newer version of watchword-server made its tables"
        case .putBack: "an earlier state was put in its place, in which spent codes are good again"
        case .clockBehind(let time): clockBehind(time)
        case .forgedEnd:
            "an end of its events that was kept is not authentic; is the key file its own?"
        case .empty: "there are no tables of watchword-server's in it"
        case .store(let failure): sentence(for: failure)
        }
    }

    private static func clockBehind(_ newest: UnixTime) -> String {
        "it tells of \(newest.text), and this machine's clock is behind that: set the clock right and try "
            + "again, or give --clock-is-right, which refuses all codes up to then"
    }

    static func sentence(for error: EndsFileError) -> String {
        switch error {
        case .unreadable(let error): sentence(for: error)
        case .malformed: "this is not what watchword-server wrote"
        case .system(let failure): sentence(for: failure)
        case .busy: "another watchword-server is writing it; try again"
        }
    }

    static func sentence(for error: VerifierError) -> String {
        switch error {
        case .store(let failure): sentence(for: failure)
        case .cryptography(let failure):
            "OpenSSL could not do its work (\(failure.call.rawValue)); is there memory left?"
        case .keyMissing(let id): "key \(id.number) is not in the key file, but is needed"
        case .damagedRow: "a row of the database is not as it was written"
        case .contended, .overloaded: "too much is going on; try again"
        case .answerTooLong: "the answer is longer than can be kept"
        case .answered: "this was answered before"
        case .tooManyDenials: "too many requests were denied in this minute; try again"
        }
    }

    private static func sentence(for failure: StoreFailure) -> String {
        let code = failure.code.isEmpty ? "" : " (\(failure.code))"
        return switch failure.trouble {
        case .unavailable: "the database can't be used\(code)"
        case .busy: "the database was locked for too long\(code)"
        case .full: "no room is left for the database\(code)"
        case .readOnly: "the database can't be written\(code)"
        case .damaged: "the database is damaged, or the key file is another's\(code)"
        case .newer: "a newer version of watchword-server made the database\(code)"
        }
    }

    /// What an audit found.
    static func sentence(for finding: AuditTrail.Finding) -> String {
        switch finding {
        case .forgedRecord(let node): "node \(name(node)): the record of its chain is forged"
        case .unknownNode(let node): "node \(name(node)): it has events and no record"
        case .gap(let node, let sequence):
            "node \(name(node)): events are missing, doubled or moved at \(sequence)"
        case .altered(let node, let sequence):
            "node \(name(node)): event \(sequence), or one before it, is not what was written"
        case .cutOff(let node, let sequence):
            "node \(name(node)): events behind \(sequence) are cut off"
        case .behindHead(let node, let sequence):
            "node \(name(node)): event \(sequence) is behind the recorded end"
        case .moved(let node, let sequence):
            "node \(name(node)): event \(sequence) is not at its position, or others before it are gone"
        case .movedHead(let node):
            "node \(name(node)): the recorded position of its end is not that of its last event"
        case .checkpoint(let node, let sequence):
            "node \(name(node)): the checkpoint at \(sequence) does not fit, or its event is missing"
        }
    }

    /// What an audit found in a row.
    static func sentence(for finding: RowAudit.Finding) -> String {
        switch finding {
        case .damaged("credentials", let key):
            "credential \(CredentialID(bytes: key)?.text ?? hex(key)): its row was changed"
        case .damaged("clients", let key): "\(name(.client(key))): its row was changed"
        case .damaged(let table, let key): "\(table) \(hex(key)): the row was changed"
        case .putBack(let owner): "\(name(owner)): an older version of its row was put back"
        case .unrecorded(let owner): "\(name(owner)): no event tells of its row as it is"
        case .missing(let owner): "\(name(owner)): its row is missing"
        }
    }

    private static func name(_ owner: RowMark.Owner) -> String {
        switch owner {
        case .credential(let id): "credential \(id.text)"
        case .client(let id): "client \(ClientID(bytes: id)?.text ?? hex(id))"
        }
    }

    private static func name(_ node: [UInt8]) -> String { hex(Array(node.prefix(4))) }

    private static func hex(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "with an empty key" }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
