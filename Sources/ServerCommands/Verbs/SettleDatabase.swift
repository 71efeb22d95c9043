import Arguments
import PostgreSQLStore
import Verification

/// Makes a PostgreSQL database that was put back one that can be served.
enum SettleDatabase {
    static func run(
        _ arguments: ServerArguments, _ places: ServerPlaces, _ address: PostgreSQLAddress
    ) throws(ServerFailure) {
        let clock = try RestoringClock(arguments)
        let keys = try KeyFile.opening(places, making: false)
        let ended = try EndedList.named(by: arguments)
        let report: SettlementReport
        let end: ChainEnd
        do throws(PostgreSQLStoreError) {
            (report, end) = try PostgreSQLStore.settle(
                address, key: keys.ring().auditKey, keepingClients: arguments.has(.keepClients),
                ended: ended ?? [], now: clock.now, trustingClock: clock.isTrusted)
        } catch {
            throw .postgreSQL(places.database.shown, error)
        }
        // What was kept of the lost state would refuse this one.
        do throws(EndsFileError) { try EndsFile(path: places.endsFile).replace(with: end) } catch {
            throw .endsFile(places.endsFile, error)
        }
        try ServerPrinter.line(
            "\(report.kept) credentials go on, \(report.ended) ended and have to be enrolled anew, "
                + "\(report.clientsRevoked) API keys were revoked.")
        guard report.kept > 0, ended == nil else { return }
        try ServerPrinter.line(
            """
            Those that go on accept time-based codes again, also where one was revoked or disabled after the
            state that was put back. Before you serve, end these again: if the lost database can still be
            read, `watchword-server audit ended --store URL-OF-IT >ended.txt` lists them; otherwise take
            them from the events that you kept (kind “revoked” or “disabled”). Then restore once more with
            --ended ended.txt; or serve, and DELETE /v1/credentials/ID for each.
            """)
    }
}
