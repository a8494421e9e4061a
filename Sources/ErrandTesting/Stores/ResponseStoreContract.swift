public import ErrandCore
import ErrandSystem

/// The contract of `ResponseStore` as a list of checks, for tests of your own stores.
///
/// The checks need no test library: each throws a ``Violation`` that describes what the store did
/// and what the contract requires. With Swift Testing, for example:
///
///     @Test(arguments: ResponseStoreContract.checks)
///     func storeFulfilsItsContract(check: ResponseStoreContract.Check) async throws {
///         try await check.run { MyStore(directory: newTemporaryDirectory()) }
///     }
public enum ResponseStoreContract {
    /// One rule of the contract.
    public struct Check: Sendable, CustomStringConvertible {
        /// The rule as a sentence, for example "A later entry replaces the earlier one".
        public let name: String
        private let body: @Sendable (Subject) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (Subject) async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// Runs the check.
        ///
        /// - Parameter makeStore: Returns a store. For ``ResponseStoreContract/checks`` it is called
        ///   once and returns a store without entries, with room for at least 16 MiB and 2,000
        ///   entries. For ``ResponseStoreContract/sharedChecks`` it is called several times: each
        ///   store is a new object over the same entries, and the first one finds no entries.
        ///   No entry is expired, because a store may remove expired entries.
        /// - Throws: ``Violation`` if the store violates the contract; the errors of `makeStore`,
        ///   and those of the store where the contract allows none.
        public func run(
            on makeStore: @escaping @Sendable () async throws -> any ResponseStore
        ) async throws {
            try await body(Subject(check: name, makeStore: makeStore))
        }

        /// The ``name``.
        public var description: String { name }
    }

    /// The error of a check.
    public struct Violation: Error, Sendable, CustomStringConvertible {
        /// The name of the check.
        public let check: String
        /// What the store did, and what the contract requires.
        public let message: String

        /// The name of the check, and the message.
        public var description: String { "\(check): \(message)" }
    }

    /// The checks of one store.
    public static let checks: [Check] = entryChecks + selectionChecks + bodyChecks

    /// The checks of several stores over the same entries, for stores outside the memory of the
    /// process.
    public static let sharedChecks: [Check] = [
        Check("A new store returns the entries of an earlier one") { subject in
            let entry = Fixture.entry("x", tag: 2, identity: "me")
            try await subject.makeStore().store(entry, for: Fixture.key("a"))
            let store = try await subject.makeStore()
            try await subject.expect(store, returns: entry, for: Fixture.key("a"))
            let usage = try await store.usage()
            try subject.expect(
                usage.entries == 1, "usage() reports \(usage.entries) entries, not 1")
        },
        Check("A store returns the writes and removals of another store") { subject in
            let one = try await subject.makeStore()
            let other = try await subject.makeStore()
            let key = Fixture.key("a")
            for text in ["1", "2"] {
                try await one.store(Fixture.entry(text), for: key)
                // Twice, because a store may cache what it has read.
                for _ in 0..<2 {
                    try await subject.expect(other, returns: Fixture.entry(text), for: key)
                }
            }
            try await other.remove(key)
            try await subject.expect(one, returns: nil, for: key)
            try await one.store(Fixture.entry("3", tag: 3), for: key)
            _ = try await other.entry(for: key)
            let count = try await one.removeAll(matching: .init(tag: 3))
            try subject.expect(count == 1, "removeAll(matching:) returned \(count), not 1")
            try await subject.expect(other, returns: nil, for: key)
        },
        Check("A new store reads a large body of an earlier one in parts") { subject in
            let body = Fixture.bytes(5 << 20)
            let writer = try await subject.makeStore()
            try await writer.store(
                Fixture.entry(""), body: StoredResponse.ChunkedBody(body), for: Fixture.key("a"))
            let store = try await subject.makeStore()
            try await subject.expect(store, opens: Fixture.entry(""), body, for: Fixture.key("a"))
        },
        Check("Concurrent writers of one key leave one complete entry") { subject in
            let stores = [try await subject.makeStore(), try await subject.makeStore()]
            let key = Fixture.key("a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, store) in stores.enumerated() {
                    group.addTask {
                        for round in 0..<6 {
                            let body = Data(repeating: UInt8(number), count: (3 << 20) + round)
                            try await store.store(
                                Fixture.entry(""), body: .init(body), for: key)
                            let read = try await store.entry(for: key)?.body ?? Data()
                            try subject.expect(
                                read.count >= 3 << 20 && Fixture.isUniform(read),
                                "an entry of \(read.count) bytes is a mixture of two, or missing")
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}

extension ResponseStoreContract {
    /// The store that a check tests.
    struct Subject: Sendable {
        let check: String
        let makeStore: @Sendable () async throws -> any ResponseStore

        func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(Violation) {
            guard !condition else { return }
            throw Violation(check: check, message: message())
        }

        /// Expects that a store returns this entry; `nil` expects that it has none.
        func expect(
            _ store: any ResponseStore, returns expected: StoredResponse?, for key: CacheKey
        ) async throws {
            let found = try await store.entry(for: key)
            switch (found, expected) {
            case (nil, nil): return
            case (nil, let expected?): try expect(false, "no entry instead of \(expected)")
            case (let found?, nil): try expect(false, "\(found) instead of no entry")
            case (let found?, let expected?):
                try expect(found.status == expected.status, "another status: \(found.status)")
                try expect(found.headers == expected.headers, "other headers: \(found.headers)")
                try expect(
                    found.body == expected.body,
                    "another body of \(found.body.count) bytes instead of \(expected.body.count)")
                try expect(found.url == expected.url, "another URL: \(found.url)")
                try expect(found.storedAt == expected.storedAt, "another time: \(found.storedAt)")
                try expect(
                    found.expiresAt == expected.expiresAt,
                    "another expiry: \(String(describing: found.expiresAt))")
                try expect(found == expected, "\(found) differs from \(expected)")
            }
        }

        /// Expects that a store opens an entry with this body, read in parts of several sizes.
        func expect(
            _ store: any ResponseStore, opens expected: StoredResponse, _ body: Data,
            for key: CacheKey
        ) async throws {
            guard let opened = try await store.open(key) else {
                return try expect(false, "open(_:) returned nil instead of \(expected)")
            }
            var entry = expected
            entry.body = Data()
            try expect(opened.entry == entry, "\(opened.entry) differs from \(entry)")
            try expect(
                opened.body.count == body.count,
                "the body has \(opened.body.count) bytes instead of \(body.count)")
            var offset = 0
            var step = 1
            while offset < body.count {
                let range = offset..<min(offset + step, body.count)
                let bytes = try await opened.body.bytes(in: range)
                try expect(
                    bytes == body.dropFirst(offset).prefix(range.count),
                    "the bytes \(range) of the body differ from those that were stored")
                offset = range.upperBound
                step = min(step * 7 + 3, 700_000)
            }
            let end = try await opened.body.bytes(in: body.count..<(body.count + 10))
            try expect(end.isEmpty, "\(end.count) bytes after the end of the body")
        }
    }

    /// Values for checks.
    enum Fixture {
        static func key(_ name: String) -> CacheKey {
            CacheKey(canonical: "GET\nhttp://test/\(name)\n\n\n\n")
        }

        static func entry(
            _ text: String, url: String = "http://test/", tag: Int = 0, identity: String? = nil,
            storedAt: Double = 1_700_000_000.125, expiresAt: Double? = nil
        ) -> StoredResponse {
            StoredResponse(
                status: 200, headers: [.contentType: "text/plain"], body: Data(text.utf8), url: url,
                storedAt: Date(timeIntervalSince1970: storedAt), identity: identity, tag: tag,
                expiresAt: expiresAt.map { Date(timeIntervalSince1970: $0) })
        }

        /// The error of an operation; `nil` if it succeeds.
        static func failure(
            of operation: () async throws(RequestError) -> Void
        ) async -> RequestError? {
            do throws(RequestError) {
                try await operation()
                return nil
            } catch { return error }
        }

        /// Bytes without a short period, so that exchanged parts are found.
        static func bytes(_ count: Int, seed: UInt32 = 1) -> Data {
            var state = seed
            var words = [UInt32](repeating: 0, count: count / 4 + 1)
            for index in words.indices {
                state = state &* 1_664_525 &+ 1_013_904_223
                words[index] = state
            }
            return words.withUnsafeBytes { Data($0.prefix(count)) }
        }

        /// Whether all bytes are the same.
        ///
        /// The comparison of two values takes the time of `memcmp`; a look at each byte takes seconds in a debug build.
        static func isUniform(_ bytes: Data) -> Bool {
            bytes == Data(repeating: bytes.first ?? 0, count: bytes.count)
        }
    }
}
