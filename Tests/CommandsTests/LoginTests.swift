import Foundation
import TestSupport
import Testing

/// A folder with a vault, and a test server to run the program against.
private struct Harness {
    let folder: TemporaryFolder
    let server: LoginServer

    init(_ faults: [String] = [], certificate: String = "good") throws {
        folder = try TemporaryFolder()
        server = try LoginServer(faults, certificate: certificate)
        try folder.write(Array("pass\n".utf8), to: "pass.txt")
        for (name, bytes) in try LoginServer.enrolmentFiles() {
            try folder.write(bytes, to: name)
        }
        let made = try run("watchword init --no-recovery-key --scrypt-log-n 10")
        try #require(made.status == 0)
    }

    /// Runs the program with this folder's vault and passphrase.
    func run(_ command: String) throws -> ForeignProgram.Outcome {
        try Transcript.run(
            "export WATCHWORD_VAULT=v; \(command) --passphrase-file pass.txt", in: folder)
    }

    @discardableResult
    func enrol(_ name: String = "Mill:ivan", _ more: String = "") throws -> ForeignProgram.Outcome {
        try run("watchword \(server.enrolment("\(name) \(more)"))")
    }

    func present() throws -> ForeignProgram.Outcome { try run("watchword login present mill") }
}

extension ForeignProgram.Outcome {
    fileprivate var words: String { String(decoding: errors, as: UTF8.self) }
}

@Suite struct LoginTests {
    @Test("a device enrols over TLS, signs in with rotation, shows its status, and is wiped")
    func wholeLife() throws {
        let harness = try Harness()
        let enrolled = try harness.enrol()
        #expect(enrolled.status == 0)
        let address = harness.server.address
        #expect(
            enrolled.words.hasPrefix(
                "Enrolled Mill:ivan at \(address). It now opens only on this device, with "))
        #expect(enrolled.words.contains("(format 4)"))
        var tickets: Set<String> = []
        for _ in 0..<3 {
            let signedIn = try harness.present()
            #expect(signedIn.status == 0 && signedIn.text.hasPrefix("wwl_"))
            #expect(signedIn.words == "")
            tickets.insert(signedIn.text)
        }
        #expect(tickets.count == 3)
        let told = try harness.run("watchword --json login present mill").text
        for word in ["\"login\":\"wwl_", "\"expires_at\":\"2026-", "\"verification\":\"vf_"] {
            #expect(told.contains(word))
        }
        let status = try harness.run("watchword --json login status mill").text
        #expect(status.contains("\"generation\":3") && status.contains("\"state\":\"ready\""))
        #expect(
            status.contains("\"server\":\"\(harness.server.address)\"") && !status.contains("wws_"))
        #expect(
            try harness.run("watchword login status mill").text.contains("state         ready\n"))
        #expect(try harness.run("watchword login wipe mill --yes").status == 0)
        #expect(try harness.run("watchword list").text == "")
        let kept = try names(in: harness.folder.file(".watchword/by-name/v"))
        #expect(kept.contains("generation") && !kept.contains("previous"))
    }

    @Test("an export leaves an enrolled secret out, and names a bound one before it writes")
    func exported() throws {
        let harness = try Harness()
        try harness.folder.write(Array("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n".utf8), to: "key.txt")
        try harness.enrol()
        #expect(try harness.run("watchword add Mail:eve --secret-file key.txt").status == 0)
        let skipped = "watchword: warning: Mill:ivan was skipped: "
        let bound = try harness.run("watchword export -o first.txt")
        #expect(bound.status == 1)
        #expect(bound.words.hasPrefix(skipped + "it opens only on this device\n"), "\(bound.words)")
        #expect(bound.words.contains("Exported 1 entry to first.txt."))
        let facts = try harness.run("watchword --json export -o second.txt")
        #expect(facts.status == 1)
        #expect(
            facts.text.contains(#""left_out":[{"entry":"Mill:ivan","reason":"bound"}]"#),
            "\(facts.text)")
        #expect(try harness.run("watchword edit mill --no-this-device").status == 0)
        let unbound = try harness.run("watchword export -o third.txt")
        #expect(unbound.status == 0)
        #expect(
            unbound.words.contains(
                skipped + "to the server, a copy of an enrolled secret looks like theft"))
    }

    @Test(
        "enrolment with a wrong certificate fails before anything is sent",
        arguments: ["expired", "other-host"])
    func wrongCertificate(name: String) throws {
        let harness = try Harness(certificate: name)
        let refused = try harness.enrol()
        #expect(refused.status == 6)
        #expect(
            refused.words.contains("the certificate of \(harness.server.address) ")
                && refused.words.contains("nothing was sent"))
        #expect(try harness.server.requests().isEmpty)
        #expect(try harness.run("watchword list").text == "")
    }

    @Test("a server with a private CA is not trusted without --ca-file")
    func withoutAuthority() throws {
        let harness = try Harness()
        let refused = try harness.run(
            "watchword login enrol a --server \(harness.server.address) --ticket-file ticket.txt")
        #expect(refused.status == 6 && refused.words.contains("signed by an unknown authority"))
    }

    static let refusals: [(String, Int32, String)] = [
        ("deny", 5, "rejected the secret"),
        ("status=403", 5, "refused the request (status 403, urn:watchword:problem:test, name)"),
        ("status=429", 6, "try again in 7 s"), ("status=503", 6, "failed (status 503"),
        ("redirect=https://localhost/", 5, "sent a redirect"),
        ("garbage=nothing", 6, "is invalid; check that the address"),
        ("wipe=bad-mood", 5, "without a valid reason"),
    ]

    @Test("an invalid response or a refusal leaves the secret in place", arguments: refusals)
    func ends(fault: String, status: Int32, words: String) throws {
        let harness = try Harness(["none", fault])
        try harness.enrol()
        let refused = try harness.present()
        #expect(refused.status == status && refused.words.contains(words))
        #expect(try harness.present().status == 0)
    }

    @Test("a wipe order with a valid reason is obeyed: status 5, a tombstone, and a message")
    func wiped() throws {
        let harness = try Harness(["none", "wipe=account-closed"])
        try harness.enrol()
        let refused = try harness.present()
        #expect(refused.status == 5 && refused.words.contains("the account is closed"))
        #expect(try harness.present().status == 5)
        let status = try harness.run("watchword --json login status mill").text
        #expect(
            status.contains("\"state\":\"wiped\"")
                && status.contains("\"reason\":\"account-closed\""))
        // A new enrolment replaces the tombstone.
        try harness.folder.write(Array("wwt_second\n".utf8), to: "ticket.txt")
        #expect(try harness.enrol().status == 0)
        #expect(try harness.present().status == 0)
        #expect(try harness.run("watchword list").text.split(separator: "\n").count == 1)
    }

    @Test("a restored older vault sends nothing, and login status reports its secret as stale")
    func stale() throws {
        let harness = try Harness()
        try harness.enrol()
        #expect(try harness.run("cp -p v backup; watchword login present mill").status == 0)
        let sent = try harness.server.requests().count
        let refused = try harness.run("cp -p v newer; cp -p backup v; watchword login present mill")
        #expect(refused.status == 3 && refused.text == "")
        #expect(refused.words.contains("an older vault was restored; nothing was sent"))
        #expect(try harness.server.requests().count == sent)
        let status = try harness.run("watchword --json login status mill").text
        #expect(status.contains("\"state\":\"stale\""))
        let again = try harness.run("cp -p newer v; watchword login present mill")
        #expect(again.status == 0 && again.text.hasPrefix("wwl_"))
    }

    @Test("R-06 after a lost or truncated response, running the command again succeeds")
    func lost() throws {
        for fault in ["lose", "drop", "cut=0", "cut=1", "cut=60", "cut=200"] {
            // The fault occurs twice, because the helper process retries once.
            let harness = try Harness(["none", "none", fault, fault])
            try harness.enrol()
            #expect(try harness.present().status == 0)
            let lost = try harness.present()
            #expect(lost.status == 6 && lost.words.contains("try again"), "\(fault)")
            let status = try harness.run("watchword --json login status mill").text
            #expect(status.contains("unanswered"), "\(fault)")
            let again = try harness.present()
            #expect(again.status == 0 && again.text.hasPrefix("wwl_"), "\(fault)")
            #expect(try harness.present().status == 0, "\(fault)")
        }
    }

    @Test(
        "R-06 a kill at any system call that changes state does not prevent the next login",
        .enabled(if: ForeignProgram.canTrace, "strace is missing or not permitted"))
    func killed() throws {
        let strace = try #require(ForeignProgram("strace"))
        let harness = try Harness()
        try harness.enrol()
        let traced = "openat,write,fsync,renameat,linkat,unlinkat,poll,clone,clone3,vfork"
        let probe = try harness.run(
            "\(strace.path) -o calls -e trace=\(traced) watchword login present mill")
        try #require(probe.status == 0)
        let calls = String(decoding: try harness.folder.bytes(of: "calls"), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("+++") && !$0.hasPrefix("---") }
        // The calls before the login lock belong to unlocking the vault.
        let first = try #require(calls.firstIndex { $0.contains("login.lock") })
        var counts: [Substring: Int] = [:]
        var tried = 0
        var kills = 0
        for (index, call) in calls.enumerated() {
            let name = call.prefix { $0 != "(" }
            counts[name, default: 0] += 1
            guard index >= first, name != "openat" else { continue }
            let fault = "inject=\(name):signal=KILL:when=\(counts[name] ?? 1)"
            let killed = try harness.run(
                "\(strace.path) -o /dev/null -e \(fault) watchword login present mill")
            tried += 1
            kills += killed.status == 0 ? 0 : 1
            let next = try harness.present()
            #expect(next.status == 0 && next.text.hasPrefix("wwl_"), "\(fault): \(next.words)")
        }
        #expect(tried >= 12 && kills >= tried / 2)
    }

    @Test("CA certificates too large for a record are refused before the ticket is used")
    func tooManyAuthorities() throws {
        let harness = try Harness()
        let authority = [UInt8](try TestCertificates.authority())
        for size in [62 << 10 + 1, 65_536, 131_072] {
            let comment = [UInt8](repeating: UInt8(ascii: "#"), count: size - authority.count)
            try harness.folder.write(authority + comment, to: "ca.pem")
            let refused = try harness.enrol()
            #expect(refused.status == 3, "\(size)")
            #expect(refused.words.contains("ca.pem: larger than the limit of 63488 bytes"))
        }
        #expect(try harness.server.requests().isEmpty)
        // The largest accepted file leaves room for the data that a login adds.
        let rest = (62 << 10) - authority.count
        try harness.folder.write(
            authority + [UInt8](repeating: UInt8(ascii: "\n"), count: rest), to: "ca.pem")
        #expect(try harness.enrol().status == 0)
        for _ in 0..<2 { #expect(try harness.present().status == 0) }
    }

    @Test("R-07 two processes can sign in at once without causing a reuse alarm")
    func atOnce() throws {
        let harness = try Harness()
        try harness.enrol()
        let one = "watchword login present mill --passphrase-file pass.txt"
        for _ in 0..<3 {
            // The shell runs both sides of a pipe concurrently.
            let outcome = try harness.run(
                "\(one) >a | \(one) >b; cat a b; watchword login status mill")
            let tickets = outcome.text.split(separator: "\n").filter { $0.hasPrefix("wwl_") }
            #expect(Set(tickets).count == 2)
            #expect(outcome.text.contains("ready"))
        }
    }

    @Test("invalid arguments are refused before any request is sent")
    func arguments() throws {
        let harness = try Harness()
        let base = "watchword login enrol a --ticket-file ticket.txt"
        let cases: [(String, Int32, String)] = [
            (base, 2, "--server"), ("\(base) --server login.example", 2, "https://"),
            ("\(base) --server http://login.example", 2, "only for a server on this machine"),
            ("watchword login enrol a --server https://localhost", 2, "--ticket-file"),
            ("\(base) --server https://localhost --ca-file nowhere", 3, "no such file"),
            ("watchword login present a", 1, "no entry"),
            ("watchword login status a", 1, "no entry"),
        ]
        for (command, status, words) in cases {
            let outcome = try harness.run(command)
            #expect(outcome.status == status, "\(command)")
            #expect(outcome.words.contains(words), "\(command)")
        }
        try harness.folder.write(Array("not a ticket\n".utf8), to: "ticket.txt")
        #expect(try harness.enrol().status == 3)
        #expect(try harness.server.requests().isEmpty)
    }

    @Test("enrolment under the name of an entry of another type fails before the ticket is used")
    func takenName() throws {
        let harness = try Harness()
        try harness.folder.write(Array("GEZDGNBVGY3TQOJQ\n".utf8), to: "key.txt")
        #expect(try harness.run("watchword add Mill:ivan --secret-file key.txt").status == 0)
        let refused = try harness.enrol()
        #expect(refused.status == 1 && refused.words.contains("already"))
        #expect(try harness.server.requests().isEmpty)
        #expect(try harness.present().words.contains("not an enrolled secret"))
    }

    @Test("a different device's enrolment is replaced only after its entry was removed")
    func otherDevice() throws {
        let harness = try Harness()
        try harness.enrol()
        let sent = try harness.server.requests().count
        try harness.folder.write(Array("wwt_second\n".utf8), to: "ticket.txt")
        let there = "export XDG_STATE_HOME=$PWD/other; watchword"
        let options = harness.server.enrolment("Mill:ivan").dropFirst("login enrol".count)
        for command in ["login enrol\(options)", "key enrol\(options)", "login present mill"] {
            let refused = try harness.run("\(there) \(command)")
            #expect(refused.status == 1, "\(command)")
            #expect(
                refused.words.contains("“Mill:ivan” opens only on “")
                    && refused.words.contains("remove the entry (watchword remove) and enrol again"),
                "\(refused.words)")
        }
        #expect(try harness.server.requests().count == sent)
        #expect(try harness.present().status == 0)
        for command in ["remove mill --yes", "login enrol\(options)", "login present mill"] {
            let done = try harness.run("\(there) \(command)")
            #expect(done.status == 0, "\(command): \(done.words)")
        }
    }

    @Test("a new enrolment keeps the entry's access control except as changed by options")
    func keptAccess() throws {
        let harness = try Harness()
        try harness.enrol("Mill:ivan", "--presence per-use --on-failure wipe:7")
        func access() throws -> [Bool] {
            let told = try harness.run("watchword --json list").text
            #expect(told.split(separator: "\n").count == 1)
            return ["\"presence\":\"per-use\"", "\"on_failure\":\"wipe:7\""].map(told.contains)
        }
        func enrolAnew(_ ticket: String, _ more: String = "") throws -> ForeignProgram.Outcome {
            try harness.folder.write(Array("\(ticket)\n".utf8), to: "ticket.txt")
            return try harness.enrol("Mill:ivan", more)
        }
        #expect(try access() == [true, true])
        #expect(try enrolAnew("wwt_second").status == 0)
        #expect(try access() == [true, true])
        #expect(try enrolAnew("wwt_third", "--on-failure wipe:2").status == 0)
        #expect(try access() == [true, false])
        #expect(try enrolAnew("wwt_fourth", "--presence per-unlock").status == 0)
        #expect(try access() == [false, false])
    }

    @Test("a per-use entry requires a check before a new enrolment replaces it")
    func asksBeforeReplacing() throws {
        let harness = try Harness()
        // PAM cannot prompt here, because there is no terminal.
        try harness.enrol("Mill:ivan", "--presence per-use:pam")
        let list = try harness.run("watchword --json list").text
        let sent = try harness.server.requests().count
        try harness.folder.write(Array("wwt_second\n".utf8), to: "ticket.txt")
        for more in ["", "--presence per-unlock"] {
            let refused = try harness.enrol("Mill:ivan", more)
            #expect(refused.status == 4, "\(more)")
            #expect(refused.words.contains("“Mill:ivan” was not opened"), "\(more)")
        }
        let other = try harness.enrol("Mill:ivan", "--presence-check passphrase")
        #expect(other.status == 4 && other.words.contains("accepts no other check"))
        #expect(try harness.run("watchword --json list").text == list)
        #expect(try harness.server.requests().count == sent)
    }

    @Test("watchword itself loads neither libcurl nor jansson")
    func startsLight() throws {
        let ldd = try #require(ForeignProgram("ldd"))
        let libraries = try ldd.run([BuiltProgram.path("watchword")]).text
        #expect(libraries.contains("libcrypto"))
        for library in ["libcurl", "libjansson", "libssl"] {
            #expect(!libraries.contains(library), "\(library)")
        }
        #expect(try ldd.run([BuiltProgram.path("watchword-courier")]).text.contains("libcurl"))
    }
}
