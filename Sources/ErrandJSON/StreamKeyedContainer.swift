/// The members of an object being written.
struct StreamKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let encoder: StreamEncoder

    init(_ encoder: StreamEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    private var session: EncodingSession { encoder.session }
    private var sink: ByteSink { encoder.sink }

    /// Writes a member; what a failed one has left behind is taken back.
    @inline(__always)
    private func member(_ key: Key, _ write: () throws -> Void) throws {
        let mark = encoder.beginMember(key)
        do {
            try write()
        } catch {
            encoder.takeBack(to: mark)
            throw error
        }
    }

    private func path(_ key: Key) -> [any CodingKey] { codingPath + [key] }

    func encodeNil(forKey key: Key) throws {
        _ = encoder.beginMember(key)
        sink.write("null")
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        _ = encoder.beginMember(key)
        encoder.write(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        _ = encoder.beginMember(key)
        encoder.write(value)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try member(key) { try session.write(floating: value, to: sink) { path(key) } }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try member(key) { try session.write(floating: value, to: sink) { path(key) } }
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try member(key) { try encoder.encode(value, key: key, position: 0) }
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger, _ key: Key) {
        _ = encoder.beginMember(key)
        sink.write(integer: value)
    }

    func encode(_ value: Int, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: Int128, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { integer(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { integer(value, key) }

    // MARK: - Nested containers

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        _ = encoder.beginMember(key)
        return encoder.laterEncoder(key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        _ = encoder.beginMember(key)
        return encoder.laterEncoder(key: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        let key = PlainKey("super")
        _ = encoder.beginMember(key)
        return encoder.laterEncoder(key: key)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        _ = encoder.beginMember(key)
        return encoder.laterEncoder(key: key)
    }
}
