import Verification

extension StoreContract {
    static let credentialRules = [
        Rule("a row is read exactly as it was written, with each column at its limits") { subject in
            var longest = CredentialRow.sample(
                5, subject: String(repeating: "x", count: 255), key: nil)
            longest.createdAt = UnixTime(milliseconds: .min)
            longest.lapsesAt = UnixTime(milliseconds: .max)
            longest.body = []
            var large = CredentialRow.sample(6, subject: "large", key: nil)
            large.body = [UInt8](repeating: 0xff, count: 65_535)
            let rows = [
                CredentialRow.sample(1),
                .sample(
                    2, subject: "b\u{e9}\r\n'\u{1f511}", kind: .secret, state: .pending,
                    key: .max, fingerprint: 7, createdAt: -1_800_000_000, lapsesAt: 600),
                .sample(3, kind: .recovery, state: .revoked, key: nil),
                .sample(4, kind: .hotp, state: .disabled),
                longest, large,
            ]
            for row in rows {
                try expectEqual(try await subject.store.commit([.insertCredential(row)]), .done)
                try expectEqual(try await subject.store.credential(row.id), row)
                try expectEqual(try await subject.second.credential(row.id), row)
            }
            try expectEqual(try await subject.store.credential(.sample(7)), nil)
        },
        Rule("an update replaces every column if the stored version precedes it") { subject in
            let store = subject.store
            _ = try await store.commit([.insertCredential(.sample(1))])
            let next = CredentialRow.sample(
                1, subject: "bob", kind: .hotp, state: .disabled, version: 2, key: 2,
                fingerprint: 1, createdAt: 5, lapsesAt: 6, body: 9)
            for version: UInt64 in [1, 3, 4] {
                let wrong = CredentialRow.sample(1, version: version, body: 1)
                try expectEqual(try await store.commit([.updateCredential(wrong)]), .conflict)
            }
            try expectEqual(try await store.credential(.sample(1)), .sample(1))
            try expectEqual(try await store.commit([.updateCredential(next)]), .done)
            try expectEqual(try await store.commit([.updateCredential(next)]), .conflict)
            try expectEqual(try await store.credential(.sample(1)), next)
            // Changes only the body, as most decisions do.
            let third = next.next(body: [1])
            try expectEqual(try await store.commit([.updateCredential(third)]), .done)
            try expectEqual(try await store.credential(.sample(1)), third)
            let missing = CredentialRow.sample(2, version: 2)
            try expectEqual(try await store.commit([.updateCredential(missing)]), .conflict)
            try expectEqual(try await store.credential(.sample(2)), nil)
        },
        Rule("an id is unique") { subject in
            let store = subject.store
            try expectEqual(try await store.commit([.insertCredential(.sample(1))]), .done)
            let again = CredentialRow.sample(1, subject: "bob")
            try expectEqual(try await store.commit([.insertCredential(again)]), .conflict)
            try expectEqual(try await store.credential(.sample(1)), .sample(1))
        },
        Rule("T-04 a fingerprint is unique, even after its credential has ended") { subject in
            let store = subject.store
            let first = CredentialRow.sample(1, fingerprint: 5)
            try expectEqual(try await store.commit([.insertCredential(first)]), .done)
            let second = CredentialRow.sample(2, subject: "bob", fingerprint: 5)
            try expectEqual(try await store.commit([.insertCredential(second)]), .conflict)
            let ended = CredentialRow.sample(
                1, state: .revoked, version: 2, key: nil, fingerprint: 5)
            try expectEqual(try await store.commit([.updateCredential(ended)]), .done)
            try expectEqual(try await store.commit([.insertCredential(second)]), .conflict)
            try expectEqual(
                try await store.credential(fingerprint: sampleBytes(5, count: 32)), ended)
            try expectEqual(
                try await store.credential(fingerprint: sampleBytes(6, count: 32)), nil)
            // An update cannot take another row's fingerprint. Rows without a fingerprint never
            // conflict.
            try expectEqual(
                try await store.commit([
                    .insertCredential(.sample(3)), .insertCredential(.sample(4)),
                ]), .done)
            let taking = CredentialRow.sample(3, version: 2, fingerprint: 5)
            try expectEqual(try await store.commit([.updateCredential(taking)]), .conflict)
            try expectEqual(try await store.credential(.sample(3)), .sample(3))
        },
        Rule("a fingerprint that one change releases is free for the next change") { subject in
            let store = subject.store
            let first = CredentialRow.sample(1, fingerprint: 5)
            try expectEqual(try await store.commit([.insertCredential(first)]), .done)
            let giving = CredentialRow.sample(1, state: .revoked, version: 2, key: nil)
            let taking = CredentialRow.sample(2, fingerprint: 5)
            try expectEqual(
                try await store.commit([.updateCredential(giving), .insertCredential(taking)]),
                .done)
            let found = try await store.credential(fingerprint: sampleBytes(5, count: 32))
            try expectEqual(found, taking)
        },
    ]
}
