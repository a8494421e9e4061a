// Performance annotations: decision 17.

/// A keyed container that decodes the members of an object.
//
// The standard library copies the container for every key. It therefore retains its decoder only
// if no other object does: `Owner` is `Void` or `TapeDecoder`. Without one a copy counts no
// reference, not even one of nil.
struct TapeKeyedContainer<Key: CodingKey, Owner>: KeyedDecodingContainerProtocol {
    private let reference: Unmanaged<TapeDecoder>
    private let owner: Owner

    /// Creates a container that does not retain `decoder`, which must outlive it.
    init(of decoder: TapeDecoder) where Owner == Void {
        reference = Unmanaged.passUnretained(decoder)
        owner = ()
    }

    /// Creates a container that retains its decoder.
    init(holding decoder: TapeDecoder) where Owner == TapeDecoder {
        reference = Unmanaged.passUnretained(decoder)
        owner = decoder
    }

    @inline(__always)
    private func with<R>(_ body: (TapeDecoder) throws -> R) rethrows -> R {
        try reference._withUnsafeGuaranteedRef(body)
    }

    var codingPath: [any CodingKey] { with { $0.codingPath } }
    var allKeys: [Key] { with { $0.memberKeys() }.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { with { $0.find(key) != nil } }

    func decodeNil(forKey key: Key) throws -> Bool {
        try with { $0.isNull(at: try $0.place(key)) }
    }

    // MARK: - Any type

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try with { try $0.decode(type, at: try $0.place(key), key: key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try with { decoder in
            guard let place = decoder.placeIfPresent(key) else { return nil }
            return try decoder.decode(type, at: place, key: key)
        }
    }

    // MARK: - Nested containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try with { try TapeDecoder($0, try $0.place(key), key: key).container(keyedBy: type) }
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try with { try TapeDecoder($0, try $0.place(key), key: key).unkeyedContainer() }
    }

    func superDecoder() throws -> any Decoder { with { $0.superDecoder(PlainKey("super")) } }

    func superDecoder(forKey key: Key) throws -> any Decoder { with { $0.superDecoder(key) } }

    // MARK: - Scalars

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try with { coder in try coder.session.bool(at: try coder.place(key)) { coder.path(key) } }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try with { coder in try coder.session.string(at: try coder.place(key)) { coder.path(key) } }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try with { coder in try coder.session.double(at: try coder.place(key)) { coder.path(key) } }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try with { coder in try coder.session.float(at: try coder.place(key)) { coder.path(key) } }
    }

    /// Decodes a value; nil if it is missing or null.
    @inline(__always)
    private func ifPresent<T>(
        _ key: Key, _ read: (DecodingSession, Int, DecodingSession.Path) throws -> T
    ) rethrows -> T? {
        try with { decoder in
            guard let place = decoder.placeIfPresent(key) else { return nil }
            return try read(decoder.session, place) { decoder.path(key) }
        }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try ifPresent(key) { try $0.bool(at: $1, $2) }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try ifPresent(key) { try $0.string(at: $1, $2) }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try ifPresent(key) { try $0.double(at: $1, $2) }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try ifPresent(key) { try $0.float(at: $1, $2) }
    }

    @inline(__always)
    private func integer<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T {
        try with { coder in
            try coder.session.integer(type, at: try coder.place(key)) { coder.path(key) }
        }
    }

    @inline(__always)
    private func integerIfPresent<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T? {
        try ifPresent(key) { try $0.integer(type, at: $1, $2) }
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
