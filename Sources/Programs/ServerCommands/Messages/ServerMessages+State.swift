import SQLStore
import Verification
import VerificationService
import WatchwordCryptography
import WatchwordSystem

// Errors of the database and the key file.
extension ServerMessages {
    static let incompleteList =
        "parts of the database cannot be read, so the list may be incomplete; check the events that you exported"

    /// The next steps after `serve` created the database and the key file.
    static let created =
        "the database and the key file were created: create the first client (watchword-server client add "
        + "NAME --scope verify,enrol), and copy the key file to a safe place, apart from the backups of "
        + "the database, which are useless without it"

    /// What to do after `serve` created a database for existing keys.
    static let createdDatabase =
        "the key file existed, but no database, so an empty one was created: if users were enrolled before, "
        + "stop the server, move the new database away, and restore a backup (watchword-server restore)"

    static func sentence(for error: KeyFile.Fault) -> String {
        switch error {
        case .content(let error): sentence(for: error)
        case .copied:
            "the server got a copy of the file when it started, and would not notice a change; stop the "
                + "server first, and change the keys as \(operations) describes (Keys from systemd)"
        }
    }

    private static func sentence(for fault: KeyRing.Fault) -> String {
        switch fault {
        case .malformed: "not a key file, or incomplete"
        case .newer:
            "the key file was created by a newer version of watchword-server; update watchword-server"
        case .unknownVersion: "the key file has no such key"
        case .isCurrent: "the current key cannot be retired"
        case .full:
            "the key file already has the maximum number of keys; run watchword-server keys retire"
        case .lost:
            "the key file is missing, and the database is useless without it; put it back, or "
                + "specify it with --keys"
        case .unreadable(let error), .notWritten(let error): sentence(for: error)
        case .exposed:
            "other users can change files in its directory; run chmod go-w on the directory"
        }
    }

    /// The sentence for a file of the server itself.
    static func sentence(for error: FileError) -> String {
        switch error {
        case .missing: "no such file"
        case .folder: "this is a directory, not a file"
        case .symbolicLink: "this is a symbolic link; specify the file itself"
        case .notAFile: "this is not a regular file"
        case .otherOwner: "the file belongs to another user"
        case .openToOthers: "other users can access the file; run chmod 600 on it"
        case .tooLarge(let limit): "the file exceeds \(limit) bytes"
        case .busy: "a different watchword-server is changing the file; try again"
        case .inTheWay(let name):
            "“\(name)” beside it was not created by watchword-server; move it away"
        case .changed: "a different program has just replaced the file; try again"
        case .noFolder, .forbidden, .exists, .namesFolder, .notReplaceable, .pipe, .protected,
            .empty, .utf16, .nameNotUTF8, .tooDeep:
            sentence(forInput: error)
        case .notConfirmed(let failure), .system(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: SQLStoreError, in database: DatabaseURL) -> String {
        switch error {
        case .exposed:
            "other users can change files in its directory; run chmod go-w on the directory"
        case .notPrivate(let error): sentence(for: error)
        case .foreignFile: "not a watchword-server database"
        case .unreachable(let message):
            message.split(whereSeparator: \.isNewline)
                .map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ").visibleOnTerminal
        case .notUTF8: "the database does not use UTF-8; create one with ENCODING 'UTF8'"
        case .empty: "the database contains no watchword-server tables"
        case .newer:
            (database.isFile ? "the database was" : "the tables were")
                + " created by a newer version of watchword-server; update watchword-server"
        case .changedSchema(let object) where database.isFile:
            "“\(object.visibleOnTerminal)” in its schema was added, changed or removed by another program, and "
                + "could change what the server decides; find out who can write to the file, and use "
                + "watchword-server restore with a backup from before the change"
        case .changedSchema(let object):
            "its schema watchword has a \(object.visibleOnTerminal) that watchword-server did not create, and "
                + "that acts on its statements; find out who added it, and remove it"
        case .isBackup: "this is a copy; create a database from it with watchword-server restore"
        case .rolledBack where database.isFile:
            "the database was replaced by an older state, in which spent codes would be valid again; use "
                + "watchword-server restore"
        case .rolledBack:
            "the database was replaced by an older state, in which spent codes would be valid again; run "
                + "watchword-server restore without FILE"
        case .clockBehind(let newest):
            "this machine's clock is behind the newest event, \(newest.text); set the clock and try again, or use "
                + "--clock-is-right, which refuses all codes up to that time"
        case .damagedCheckpoint:
            "the checkpoints in the .mark file beside it are not authentic; check that the key file belongs to "
                + "this database"
        case .forgedCheckpoint:
            "a checkpoint is not authentic; check that the key file belongs to this database"
        case .exists: "the file already exists; choose a different name, or move it away"
        case .busy: "a second watchword-server uses the database; stop that server, or try again"
        case .system(let failure): sentence(for: failure)
        case .store(let failure): sentence(for: failure)
        }
    }

    static func sentence(for error: CheckpointFile.Fault) -> String {
        switch error {
        case .unreadable(let error): sentence(for: error)
        case .malformed: "the file was not written by watchword-server"
        case .system(let failure): sentence(for: failure)
        case .busy: "a different watchword-server is writing the file; try again"
        }
    }

    static func sentence(for error: SettingsFile.Fault) -> String {
        switch error {
        case .notUTF8: "the file is not UTF-8"
        case .malformed(let line):
            "line \(line) is neither a comment nor NAME=value; a value may be in double quotes, and "
                + "may not contain quotation marks, backslashes or control characters; a comment may not "
                + "end with a backslash"
        case .notReplaced(let error): sentence(for: error)
        }
    }

    static func sentence(for error: VerifierError) -> String {
        switch error {
        case .store(let failure): sentence(for: failure)
        case .cryptography(let failure):
            "OpenSSL failed (\(failure.call.rawValue)); check the available memory"
        case .keyMissing(let id):
            "key \(id.number) is missing from the key file; install a key file that contains it"
        case .damagedRow: "a row of the database was changed; run watchword-server audit verify"
        case .contended, .overloaded: "too many concurrent requests; try again"
        case .answerTooLong: "the response is too long to be stored"
        case .answered: "the request was already answered"
        case .tooManyDenials: "too many requests were denied in this minute; try again later"
        case .tooManyChallenges: "too many sign-ins have been started; try again later"
        case .keyRing(let fault): sentence(for: fault)
        // The service answers requests with these failures, and the commands state their own
        // reasons, so a sentence is needed only if a check is missing elsewhere.
        case .malformedCode: "a code is malformed"
        case .enrolment: "the enrolment does not conform to the standards"
        case .attestation: "the TPM's attestation of the device key is refused"
        case .outOfRange: "a value of the policy is out of range"
        }
    }

    private static func sentence(for failure: StoreFailure) -> String {
        let code = failure.code.isEmpty ? "" : " (\(failure.code))"
        return switch failure.kind {
        case .unavailable: "the database is unavailable\(code)"
        case .busy: "the database was locked for too long\(code)"
        case .full: "the disk of the database is full\(code)"
        case .readOnly: "the database is read-only\(code)"
        case .damaged:
            "the database is damaged, or the key file belongs to a different database\(code)"
        case .newer: "the database was created by a newer version of watchword-server\(code)"
        }
    }

    /// Describes a finding in an event chain.
    static func sentence(for finding: AuditTrail.Finding) -> String {
        switch finding {
        case .forgedRecord(let node): "node \(name(node)): the checkpoint in its row is forged"
        case .unknownNode(let node): "node \(name(node)): its events have no checkpoint"
        case .gap(let node, let sequence):
            "node \(name(node)): events are missing, duplicated or moved at \(sequence)"
        case .altered(let node, let sequence):
            "node \(name(node)): event \(sequence) or an earlier event was changed"
        case .truncated(let node, let sequence):
            "node \(name(node)): the events after \(sequence) were cut off"
        case .beyondHead(let node, let sequence):
            "node \(name(node)): event \(sequence) is after the recorded checkpoint"
        case .moved(let node, let sequence):
            "node \(name(node)): event \(sequence) is not at its position, or earlier events are missing"
        case .movedHead(let node):
            "node \(name(node)): the position of its checkpoint does not match its last event"
        case .checkpoint(let node, let sequence):
            "node \(name(node)): the checkpoint at \(sequence) does not match, or its event is missing"
        }
    }

    /// A finding in a row.
    static func sentence(for finding: RowAudit.Finding) -> String {
        switch finding {
        case .damaged("credentials", let key):
            "credential \(CredentialID(bytes: key)?.text ?? hex(key)): its row was changed"
        case .damaged("clients", let key): "\(name(.client(key))): its row was changed"
        case .damaged(let table, let key): "\(table) \(hex(key)): the row was changed"
        case .rolledBack(let owner): "\(name(owner)): its row was replaced by an older version"
        case .unrecorded(let owner): "\(name(owner)): no event matches its row"
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
