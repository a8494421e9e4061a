#if Redis
    import ErrandCore
    import ErrandSystem
    import HTTPTypes

    /// An entry as it is stored on the server.
    ///
    /// A head of 64 bytes, the metadata, the rest of the response's fields, and the body unless it
    /// is in parts. Each section is covered by a checksum, so that the metadata can be read alone.
    struct EntryRecord: Sendable, Equatable {
        /// The size of the head.
        static let headBytes = 64
        /// The bytes that are read for the metadata; more are read if they do not suffice.
        static let metadataBytes = 1024
        /// The maximum size of the metadata, and of the rest of the fields; larger ones are damaged.
        static let maximumFieldBytes = 8 << 20
        private static let magic: [UInt8] = Array("ERRC".utf8)
        private static let version: UInt8 = 1

        var info: StoredEntryInfo
        var entry: StoredResponse
        /// The random name of this write, which is part of the keys of its body.
        var write: String
        /// The number of parts of the body; 0 if the body is in the record.
        var parts: Int
        /// The number of bytes of the body.
        var bodyCount: Int

        enum Reading: Sendable, Equatable {
            case record(EntryRecord)
            /// The entry of another key.
            case otherKey
            case damaged
        }

        /// The record of an entry; with parts, the body of the entry is not written.
        static func encode(
            _ entry: StoredResponse, for key: CacheKey, write: String, parts: Int, bodyCount: Int
        ) -> Data {
            let body = parts == 0 ? entry.body : Data()
            var sections = RecordWriter()
            sections.put(key.canonical)
            sections.put(write)
            sections.put(entry.url)
            sections.put(entry.storedAt)
            sections.put(parts)
            sections.put(bodyCount)
            sections.put(entry.size - entry.body.count + bodyCount)
            sections.put(entry.tag)
            sections.put(entry.identity)
            sections.put(entry.expiresAt.map { $0.timeIntervalSinceReferenceDate.bitPattern })
            let infoCount = sections.bytes.count
            sections.put(entry.status)
            sections.put(entry.cacheVersion)
            sections.put(entry.appVersion)
            sections.put(entry.headers.count)
            for field in entry.headers {
                sections.put(field.name.rawName)
                sections.put(field.value)
            }
            var head = RecordWriter()
            head.bytes = magic + [version, 0, 0, 0]
            head.put(infoCount)
            head.put(sections.bytes.count - infoCount)
            head.put(body.count)
            let (info, rest) = sections.bytes.withUnsafeBytes { all in
                (
                    sum([UnsafeRawBufferPointer(rebasing: all[..<infoCount])]),
                    body.withUnsafeBytes {
                        sum([UnsafeRawBufferPointer(rebasing: all[infoCount...]), $0])
                    }
                )
            }
            head.put(info)
            head.put(rest)
            var record = Data(capacity: headBytes + sections.bytes.count + body.count)
            record.append(contentsOf: head.bytes)
            record.append(contentsOf: repeatElement(0, count: headBytes - head.bytes.count))
            record.append(contentsOf: sections.bytes)
            record.append(body)
            return record
        }

        private static func sum(_ sections: [UnsafeRawBufferPointer]) -> UInt64 {
            var sum = Checksum()
            for section in sections { sum.combine(section) }
            return UInt64(bitPattern: sum.value)
        }

        /// The sizes and sums in the head; `nil` if it is damaged or of another version.
        private struct Head {
            var info: Int
            var rest: Int
            var body: Int
            var infoSum: UInt64
            var restSum: UInt64

            init?(_ bytes: UnsafeRawBufferPointer) {
                guard bytes.count >= headBytes, bytes.prefix(4).elementsEqual(magic),
                    bytes[4] == version
                else { return nil }
                var reader = RecordReader(UnsafeRawBufferPointer(rebasing: bytes[8..<headBytes]))
                guard let info = reader.int(), let rest = reader.int(), let body = reader.int(),
                    let infoSum = reader.word(), let restSum = reader.word(),
                    (0..<EntryRecord.maximumFieldBytes).contains(info),
                    (0..<EntryRecord.maximumFieldBytes).contains(rest),
                    (0..<(1 << 40)).contains(body)
                else { return nil }
                (self.info, self.rest, self.body) = (info, rest, body)
                (self.infoSum, self.restSum) = (infoSum, restSum)
            }
        }

        /// Reads a whole record.
        static func decode(_ data: Data, for key: CacheKey) -> Reading {
            data.withUnsafeBytes { bytes in
                guard let head = Head(bytes),
                    bytes.count == headBytes + head.info + head.rest + head.body
                else { return .damaged }
                let info = UnsafeRawBufferPointer(
                    rebasing: bytes[headBytes..<(headBytes + head.info)])
                guard sum([info]) == head.infoSum else { return .damaged }
                var reader = RecordReader(info)
                guard reader.text(equals: key.canonical) else { return .otherKey }
                let bodyStart = headBytes + head.info + head.rest
                let rest = UnsafeRawBufferPointer(
                    rebasing: bytes[(headBytes + head.info)..<bodyStart])
                let body = UnsafeRawBufferPointer(rebasing: bytes[bodyStart...])
                guard sum([rest, body]) == head.restSum,
                    var record = EntryRecord(key: key, &reader), record.readRest(rest)
                else { return .damaged }
                if record.parts == 0 {
                    guard record.bodyCount == body.count else { return .damaged }
                    if let start = body.baseAddress {
                        record.entry.body = Data(bytes: start, count: body.count)
                    }
                }
                return .record(record)
            }
        }

        /// The number of bytes of a record that contain its metadata; `nil` if the head is damaged.
        static func metadataCount(_ data: Data) -> Int? {
            data.withUnsafeBytes { Head($0).map { headBytes + $0.info } }
        }

        /// Reads the metadata from the beginning of a record; `nil` if it is damaged.
        static func metadata(_ data: Data) -> StoredEntryInfo? {
            data.withUnsafeBytes { bytes in
                guard let head = Head(bytes), bytes.count >= headBytes + head.info else {
                    return nil
                }
                let info = UnsafeRawBufferPointer(
                    rebasing: bytes[headBytes..<(headBytes + head.info)])
                guard sum([info]) == head.infoSum else { return nil }
                var reader = RecordReader(info)
                guard let text = reader.text() else { return nil }
                return EntryRecord(key: CacheKey(canonical: text), &reader)?.info
            }
        }
    }

    extension EntryRecord {
        /// Reads the metadata after the key.
        fileprivate init?(key: CacheKey, _ reader: inout RecordReader) {
            guard let write = reader.text(), let url = reader.text(),
                let storedAt = reader.word(), let parts = reader.int(),
                let bodyCount = reader.int(), let size = reader.int(), let tag = reader.int(),
                let identity = reader.optionalText(), let expiresAt = reader.optionalWord(),
                (0...(1 << 24)).contains(parts), (0..<(1 << 40)).contains(bodyCount),
                parts <= bodyCount, (0..<(1 << 41)).contains(size)
            else { return nil }
            let stored = Date(timeIntervalSinceReferenceDate: Double(bitPattern: storedAt))
            let expiry = expiresAt.map {
                Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))
            }
            self.write = write
            self.parts = parts
            self.bodyCount = bodyCount
            info = StoredEntryInfo(
                key: key, url: url, storedAt: stored, size: size, tag: tag, identity: identity,
                expiresAt: expiry)
            entry = StoredResponse(
                status: 0, headers: [:], body: Data(), url: url, storedAt: stored,
                identity: identity, tag: tag, expiresAt: expiry)
        }

        fileprivate mutating func readRest(_ bytes: UnsafeRawBufferPointer) -> Bool {
            var reader = RecordReader(bytes)
            guard let status = reader.int(), let version = reader.int(),
                let appVersion = reader.optionalText(), let count = reader.int(),
                // `HTTPFields` traps at 65,535 fields.
                (0..<60_000).contains(count)
            else { return false }
            entry.status = status
            entry.cacheVersion = version
            entry.appVersion = appVersion
            for _ in 0..<count {
                guard let text = reader.text(), let name = HTTPField.Name(text),
                    let value = reader.text()
                else { return false }
                entry.headers.append(HTTPField(name: name, value: value))
            }
            return true
        }
    }

    /// A part of a large body: its checksum and its bytes.
    enum BodyPart {
        static func encode(_ bytes: Data, write: String, number: Int) -> Data {
            var writer = RecordWriter()
            writer.put(sum(bytes, write, number))
            return Data(writer.bytes) + bytes
        }

        /// The bytes of a part; `nil` if it is damaged.
        static func decode(_ data: Data, write: String, number: Int) -> Data? {
            guard data.count >= 8 else { return nil }
            let bytes = data.dropFirst(8)
            let stored = data.withUnsafeBytes { RecordReader($0).peek() }
            return stored == sum(bytes, write, number) ? bytes : nil
        }

        private static func sum(_ bytes: Data, _ write: String, _ number: Int) -> UInt64 {
            var sum = Checksum()
            sum.combine(number)
            sum.combine(write)
            bytes.withUnsafeBytes { sum.combine($0) }
            return UInt64(bitPattern: sum.value)
        }
    }
#endif
