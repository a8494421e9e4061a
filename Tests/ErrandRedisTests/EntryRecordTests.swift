#if Redis && os(Linux)
    import ErrandCore
    import Foundation
    import HTTPTypes
    import Testing

    @testable import ErrandRedis

    @Suite struct EntryRecordTests {
        private static var full: StoredResponse {
            var headers = HTTPFields()
            headers.append(HTTPField(name: .setCookie, value: "a=1"))
            headers.append(HTTPField(name: .setCookie, value: "b=2; Path=/"))
            return StoredResponse(
                status: 203, headers: headers, body: bytes(100), url: "http://test/ä?q=1",
                storedAt: Date(timeIntervalSinceReferenceDate: 1e8 / 3), cacheVersion: -7,
                appVersion: "1.2 \u{1F980}", identity: "", tag: .min,
                expiresAt: Date(timeIntervalSinceReferenceDate: 7.5))
        }

        private func encoded(_ entry: StoredResponse, parts: Int = 0, count: Int? = nil) -> Data {
            EntryRecord.encode(
                entry, for: key("a"), write: "w", parts: parts, bodyCount: count ?? entry.body.count
            )
        }

        @Test func recordIsReadAsWritten() throws {
            for entry in [
                Self.full,
                StoredResponse(
                    status: 204, headers: [:], body: Data(), url: "", storedAt: .distantPast,
                    cacheVersion: .max),
            ] {
                let data = encoded(entry)
                let record = EntryRecord(
                    info: StoredEntryInfo(key: key("a"), entry: entry), entry: entry, write: "w",
                    parts: 0, bodyCount: entry.body.count)
                #expect(EntryRecord.decode(data, for: key("a")) == .record(record))
                #expect(EntryRecord.metadata(data) == record.info)
                let count = try #require(EntryRecord.metadataCount(data))
                #expect(EntryRecord.metadata(data.prefix(count)) == record.info)
                #expect(EntryRecord.metadata(data.prefix(count - 1)) == nil)
            }
        }

        @Test func bodyInPartsIsNotInTheRecord() {
            let data = encoded(Self.full, parts: 3, count: 1000)
            guard case .record(let record) = EntryRecord.decode(data, for: key("a")) else {
                Issue.record("damaged")
                return
            }
            #expect(record.parts == 3 && record.bodyCount == 1000 && record.entry.body.isEmpty)
            #expect(record.info.size == Self.full.size + 900)
        }

        @Test func recordOfAnotherKeyIsNotReturned() {
            #expect(EntryRecord.decode(encoded(Self.full), for: key("b")) == .otherKey)
        }

        @Test func everyChangedByteIsDetected() {
            let data = encoded(Self.full)
            for index in data.indices where !(5..<8).contains(index) {
                var changed = data
                changed[index] ^= 0x10
                let reading = EntryRecord.decode(changed, for: key("a"))
                // The last bytes of the head are reserved.
                let isReserved = (48..<64).contains(index)
                #expect((reading == .damaged) != isReserved, "byte \(index)")
            }
        }

        @Test func everyTruncationIsDetected() {
            let data = encoded(Self.full)
            for count in 0..<data.count {
                #expect(EntryRecord.decode(data.prefix(count), for: key("a")) == .damaged)
            }
            #expect(EntryRecord.decode(data + [0], for: key("a")) == .damaged)
        }

        @Test func randomBytesAreNoRecord() {
            var generator = SystemRandomNumberGenerator()
            for count in 0..<300 {
                var data = Data(
                    (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
                if count > 8 { data.replaceSubrange(0..<5, with: Array("ERRC".utf8) + [1]) }
                #expect(EntryRecord.decode(data, for: key("a")) == .damaged)
                #expect(EntryRecord.metadata(data) == nil)
            }
        }

        @Test func changedOrMovedPartIsDetected() {
            let part = BodyPart.encode(bytes(1000), write: "w", number: 3)
            #expect(BodyPart.decode(part, write: "w", number: 3) == bytes(1000))
            #expect(BodyPart.decode(part, write: "w", number: 2) == nil)
            #expect(BodyPart.decode(part, write: "v", number: 3) == nil)
            #expect(BodyPart.decode(part.dropLast(), write: "w", number: 3) == nil)
            #expect(BodyPart.decode(Data([1, 2, 3]), write: "w", number: 3) == nil)
            for index in stride(from: 0, to: part.count, by: 7) {
                var changed = part
                changed[index] ^= 1
                #expect(BodyPart.decode(changed, write: "w", number: 3) == nil)
            }
        }

        @Test func patternOfThePrefixMatchesItLiterally() {
            let keys = StoreKeys(prefix: "a*b[c]?\\^-")
            #expect(keys.pattern(for: "e:*") == "a\\*b\\[c\\]\\?\\\\\\^\\-v1:e:*")
            let id = EntryID(key("1"))
            #expect(keys.id(ofEntry: keys.entry(id)) == id)
            #expect(keys.id(ofEntry: "x" + keys.entry(id)) == nil)
            #expect(keys.id(ofEntry: keys.lease(id)) == nil)
            #expect(EntryID(text: "0123456789abcdef0123456789ABCDEF") == nil)
            #expect(EntryID.hex(0x0123_4567_89ab_cdef) == "0123456789abcdef")
        }

        @Test func commandIsAnArrayOfByteStrings() {
            let command = RedisCommand("SET", .text("ü"), .data(Data([0, 13, 10])), .number(-5))
            let expected =
                Array("*4\r\n$3\r\nSET\r\n$2\r\nü\r\n$3\r\n".utf8) + [0, 13, 10]
                + Array("\r\n$2\r\n-5\r\n".utf8)
            #expect(command.bytes == expected)
        }

        @Test func lifetimeFollowsTheExpiry() {
            var settings = RedisResponseStore.Configuration()
            settings.graceTime = .seconds(10)
            settings.defaultLifetime = .seconds(100)
            let now = Date(timeIntervalSinceReferenceDate: 0)
            #expect(settings.lifetime(of: nil, now: now) == 100_000)
            #expect(settings.lifetime(of: now + 5, now: now) == 15_000)
            #expect(settings.lifetime(of: now - 5, now: now) == 10_000)
            settings.graceTime = .zero
            #expect(settings.lifetime(of: now - 5, now: now) == 1000)
            #expect(settings.lifetime(of: .distantFuture, now: now) == 315_360_000_000)
        }
    }
#endif
