import ErrandCore
import ErrandSystem
import Synchronization

extension ResponseStoreContract {
    /// Bodies that are read and written in parts.
    static let bodyChecks: [Check] = [
        Check("An entry that does not exist cannot be opened") { subject in
            let opened = try await subject.makeStore().open(Fixture.key("a"))
            try subject.expect(opened == nil, "open(_:) returned an entry")
        },
        Check("A stored body is read in parts") { subject in
            let store = try await subject.makeStore()
            for count in [0, 1, 70_000, 3 << 20] {
                var entry = Fixture.entry("", tag: 4, identity: "me", expiresAt: 4_000_000_000)
                entry.body = Fixture.bytes(count)
                try await store.store(entry, for: Fixture.key("a"))
                try await subject.expect(store, opens: entry, entry.body, for: Fixture.key("a"))
            }
        },
        Check("A body that is written in parts is read whole and in parts") { subject in
            let store = try await subject.makeStore()
            for count in [0, 1, 70_000, 1 << 20, (1 << 20) + 1, 5_000_000] {
                let body = Fixture.bytes(count, seed: UInt32(count))
                var entry = Fixture.entry("", tag: 4, identity: "me", expiresAt: 4_000_000_000)
                // The body of the entry is ignored.
                entry.body = Data("ignored".utf8)
                try await store.store(entry, body: .init(body), for: Fixture.key("a"))
                entry.body = body
                try await subject.expect(store, opens: entry, body, for: Fixture.key("a"))
                try await subject.expect(store, returns: entry, for: Fixture.key("a"))
                let infos = try await store.entries()
                try subject.expect(infos.count == 1, "\(infos.count) entries for one key")
                try subject.expect(
                    infos.first?.size == entry.size,
                    "a size of \(infos.first?.size ?? 0) instead of \(entry.size) bytes")
            }
        },
        Check("The previous entry is returned until the last part is written") { subject in
            let store = try await subject.makeStore()
            let key = Fixture.key("a")
            try await store.store(Fixture.entry("previous"), for: key)
            let bytes = Fixture.bytes(5_000_000)
            let seen = Mutex<[Data?]>([])
            let body = StoredResponse.ChunkedBody(count: bytes.count) {
                range throws(RequestError) in
                let found = try await store.entry(for: key)?.body
                seen.withLock { $0.append(found) }
                return bytes[range]
            }
            try await store.store(Fixture.entry(""), body: body, for: key)
            let others = seen.withLock { $0 }.filter { $0 != Data("previous".utf8) }
            try subject.expect(others.isEmpty, "\(others.count) reads did not return it")
            var expected = Fixture.entry("")
            expected.body = bytes
            try await subject.expect(store, returns: expected, for: key)
        },
        Check("A body that fails leaves the previous entry, and its error is thrown") { subject in
            let store = try await subject.makeStore()
            let key = Fixture.key("a")
            let fault = RequestError(.storeFailed, stage: .cache, "The body of the check failed.")
            for previous in [nil, Fixture.entry("previous")] {
                if let previous { try await store.store(previous, for: key) }
                let body = StoredResponse.ChunkedBody(count: 4 << 20) {
                    range throws(RequestError) in
                    guard range.upperBound < 3 << 20 else { throw fault }
                    return Data(count: range.count)
                }
                let error = await Fixture.failure { () async throws(RequestError) in
                    try await store.store(Fixture.entry(""), body: body, for: key)
                }
                try subject.expect(
                    error?.message == fault.message,
                    "another error: \(error.map { "\($0)" } ?? "none")")
                try await subject.expect(store, returns: previous, for: key)
                let usage = try await store.usage()
                try subject.expect(
                    usage.entries == (previous == nil ? 0 : 1), "\(usage.entries) entries")
            }
        },
        Check("An opened body that is replaced or removed is intact or fails") { subject in
            let store = try await subject.makeStore()
            let key = Fixture.key("a")
            for removes in [true, false] {
                let bytes = Fixture.bytes(3 << 20)
                try await store.store(Fixture.entry(""), body: .init(bytes), for: key)
                guard let opened = try await store.open(key) else {
                    return try subject.expect(false, "open(_:) returned nil")
                }
                _ = try await opened.body.bytes(in: 0..<1000)
                if removes {
                    try await store.remove(key)
                } else {
                    let other = Fixture.bytes(3 << 20, seed: 2)
                    try await store.store(Fixture.entry(""), body: .init(other), for: key)
                }
                for start in stride(from: 0, to: 3 << 20, by: 500_000) {
                    let range = start..<min(start + 1000, 3 << 20)
                    let read = Mutex<Data?>(nil)
                    let error = await Fixture.failure { () async throws(RequestError) in
                        let found = try await opened.body.bytes(in: range)
                        read.withLock { $0 = found }
                    }
                    let isIntact = read.withLock { $0 } == bytes[range]
                    try subject.expect(
                        error == nil ? isIntact : error?.code == .storeFailed,
                        error.map { "another error: \($0)" } ?? "bytes of another entry")
                }
            }
        },
        Check("Concurrent writers and readers of a large body see complete bodies") { subject in
            let store = try await subject.makeStore()
            let key = Fixture.key("a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for round in 0..<4 {
                            let body = Data(repeating: UInt8(worker), count: 2_000_000 + round)
                            try await store.store(Fixture.entry(""), body: .init(body), for: key)
                            let read = try await store.entry(for: key)?.body ?? Data()
                            try subject.expect(
                                read.count >= 2_000_000 && Fixture.isUniform(read),
                                "a body of \(read.count) bytes is a mixture of two, or missing")
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        Check("A large body is removed by a selection") { subject in
            let store = try await subject.makeStore()
            let empty = try await store.usage().bytes
            try await store.store(
                Fixture.entry("", tag: 6), body: .init(Fixture.bytes(4 << 20)),
                for: Fixture.key("a"))
            let count = try await store.removeAll(matching: .init(tag: 6))
            try subject.expect(count == 1, "\(count) removed instead of 1")
            try await subject.expect(store, returns: nil, for: Fixture.key("a"))
            let bytes = try await store.usage().bytes
            try subject.expect(
                bytes <= empty + (256 << 10), "\(bytes) bytes in use after the removal")
        },
    ]
}
