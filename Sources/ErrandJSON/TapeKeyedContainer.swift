/// The members of an object, for a type that names its keys.
struct TapeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: TapeDecoder

    init(_ decoder: TapeDecoder) throws {
        guard decoder.words[decoder.index] >> 60 == Word.Kind.object.rawValue else {
            throw decoder.session.mismatch(
                [String: Any].self, at: decoder.index, decoder.codingPath)
        }
        self.decoder = decoder
        decoder.prepareKeys()
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { decoder.memberKeys().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.find(key.stringValue) != nil }

    /// The index of the value under `key`.
    @inline(__always)
    private func place(_ key: Key) throws -> Int {
        guard let place = decoder.find(key.stringValue) else { throw missing(key) }
        return place
    }

    /// The index of the value under `key` if there is one that is not null.
    @inline(__always)
    private func placeIfPresent(_ key: Key) -> Int? {
        guard let place = decoder.find(key.stringValue) else { return nil }
        return decoder.isNull(at: place) ? nil : place
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        decoder.isNull(at: try place(key))
    }

    // MARK: - Any type

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.decode(type, at: try place(key), key: key, position: 0)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.decode(type, at: place, key: key, position: 0)
    }

    // MARK: - Nested containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try TapeDecoder(decoder, try place(key), key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try TapeDecoder(decoder, try place(key), key: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.superDecoder(PlainKey("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { decoder.superDecoder(key) }

    // MARK: - Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try decoder.session.bool(at: try place(key)) { decoder.path(key) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try decoder.session.string(at: try place(key)) { decoder.path(key) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try decoder.session.double(at: try place(key)) { decoder.path(key) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try decoder.session.float(at: try place(key)) { decoder.path(key) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.session.bool(at: place) { decoder.path(key) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.session.string(at: place) { decoder.path(key) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.session.double(at: place) { decoder.path(key) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.session.float(at: place) { decoder.path(key) }
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T {
        try decoder.session.integer(type, at: try place(key)) { decoder.path(key) }
    }

    @inline(__always)
    private func integerIfPresent<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T? {
        guard let place = placeIfPresent(key) else { return nil }
        return try decoder.session.integer(type, at: place) { decoder.path(key) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try integerIfPresent(type, key)
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try integerIfPresent(type, key)
    }
}
