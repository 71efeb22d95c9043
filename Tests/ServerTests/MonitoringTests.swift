import Foundation
import TestSupport
import Testing

private let promtool = ForeignProgram("promtool")

/// The metrics, and the alert rules and the dashboard that use them.
struct MonitoringTests {
    private static let folder = PackageFolder.root.appending(
        path: "Sources/Programs/ServerCommands")

    private func file(_ name: String) -> String {
        Self.folder.appending(path: "Monitoring/\(name)").path(percentEncoded: false)
    }

    private func text(of name: String) throws -> String {
        try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    }

    private func metrics(of server: ServerProcess) async throws -> String {
        try await Asker(server.operationsPort).ask("GET", "/metrics")?.text ?? ""
    }

    /// The names of the metrics in Prometheus' text.
    private func families(in text: String) -> Set<String> {
        Set(text.matches(of: /TYPE (\w+) [a-z]+\n/).map { String($0.1) })
    }

    @Test("the alert rules, the dashboard and Operations.md name the metrics that the server has")
    func names() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        _ = try await Asker(server.port).ask("GET", "/v1/events")
        let text = try await metrics(of: server)
        let families = families(in: text)
        for name in ["alerts.yaml", "alerts-test.yaml", "dashboard.json"] {
            let used = try self.text(of: "Monitoring/\(name)").matches(of: /watchword_\w+/)
                .map { String($0.0.replacing(/_(bucket|sum|count)$/, with: "")) }
            #expect(!used.isEmpty && families.isSuperset(of: used), "\(name)")
        }
        let page = try self.text(of: "Operations.md")
        for family in families { #expect(page.contains("| `\(family)` |"), "\(family)") }
        // Every rule that can fire is tested.
        let tests = try self.text(of: "Monitoring/alerts-test.yaml")
        for rule in try self.text(of: "Monitoring/alerts.yaml").matches(of: /- alert: (\w+)/) {
            #expect(tests.contains("alertname: \(rule.1)\n"), "\(rule.1)")
        }
        try await server.stop()
    }

    @Test(
        "promtool accepts the metrics, and the alert rules fire when they should",
        .enabled(if: promtool != nil, "prometheus is not installed"))
    func rules() async throws {
        let promtool = try #require(promtool)
        let server = try await ServerProcess(ServerProcess.State())
        _ = try await Asker(server.port).ask("GET", "/v1/events")
        let checked = try promtool.run(
            ["check", "metrics"], input: Array(try await metrics(of: server).utf8))
        #expect(checked.status == 0 && checked.output + checked.errors == [])
        try await server.stop()
        #expect(try promtool.run(["check", "rules", file("alerts.yaml")]).status == 0)
        let tested = try promtool.run(["test", "rules", file("alerts-test.yaml")])
        #expect(tested.status == 0, "\(tested.text)")
    }

    @Test("the dashboard's panels do not overlap, and have unique ids")
    func dashboard() throws {
        let parsed = try JSONSerialization.jsonObject(
            with: Data(text(of: "Monitoring/dashboard.json").utf8))
        let panels = try #require((parsed as? [String: Any])?["panels"] as? [[String: Any]])
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        var taken: Set<[Int]> = []
        for panel in panels {
            let place = try #require(panel["gridPos"] as? [String: Int])
            let (x, y) = (place["x"] ?? -1, place["y"] ?? -1)
            let (width, height) = (place["w"] ?? 0, place["h"] ?? 0)
            #expect(x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= 24)
            for column in x..<x + width {
                for line in y..<y + height { #expect(taken.insert([column, line]).inserted) }
            }
        }
    }

    @Test("the metrics show the time of the last complete backup, and whether the server is ready")
    func backups() async throws {
        let state = try ServerProcess.State()
        let server = try await ServerProcess(state)
        func value(_ name: String) async throws -> Int? {
            try await metrics(of: server).split(separator: "\n")
                .first { $0.hasPrefix(name + " ") }.flatMap { Int($0.dropFirst(name.count + 1)) }
        }
        let name = "watchword_backup_timestamp_seconds"
        #expect(try await value(name) == 0)
        #expect(try await value("watchword_ready") == 1)
        // If the first record fails, too, the metric's time becomes old.
        #expect(try await value("watchword_checkpoint_timestamp_seconds") != nil)
        // A failed copy is not recorded.
        #expect(try await state.run("backup", state.folder.file("none/copy")).status != 0)
        #expect(try await value(name) == 0)
        // A file's time can lag slightly behind the clock.
        let before = Int(Date.now.timeIntervalSince1970) - 1
        #expect(try await state.run("backup", state.folder.file("copy")).status == 0)
        let after = Int(Date.now.timeIntervalSince1970)
        #expect((before...after).contains(try await value(name) ?? -1))
        try FileManager.default.moveItem(atPath: state.database, toPath: state.database + ".away")
        // While the housekeeper uses the writing connection, a different connection may still be
        // able to read.
        while try await value("watchword_ready") != 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        try FileManager.default.moveItem(atPath: state.database + ".away", toPath: state.database)
        #expect(try await server.stop() == 0)
    }
}
