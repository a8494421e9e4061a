// Performance annotations: decision 17.

/// A keyed container that writes the members of an object.
//
// It retains its encoder only if no other object does, like `TapeKeyedContainer`.
struct StreamKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let reference: Unmanaged<StreamEncoder>
    private let owner: StreamEncoder?
    private let sink: ByteSink
    /// The cache of the key type's texts; nil if the type has none.
    private let keys: UnsafeMutablePointer<KnownKey>?

    /// Creates a container that does not retain `encoder`, which must outlive it.
    init(of encoder: StreamEncoder) { self.init(encoder, owner: nil) }

    /// Creates a container that retains its encoder.
    init(holding encoder: StreamEncoder) { self.init(encoder, owner: encoder) }

    private init(_ encoder: StreamEncoder, owner: StreamEncoder?) {
        reference = Unmanaged.passUnretained(encoder)
        self.owner = owner
        sink = encoder.sink
        keys = encoder.session.knownKeys(of: Key.self, areConverted: encoder.convertsKeys)
    }

    @inline(__always)
    private func with<R>(_ body: (StreamEncoder) throws -> R) rethrows -> R {
        try reference._withUnsafeGuaranteedRef(body)
    }

    var codingPath: [any CodingKey] { with { $0.codingPath } }

    /// Writes a key and returns the member's offset.
    @inline(__always)
    private func begin(_ key: Key, _ encoder: StreamEncoder) -> Int {
        if let keys, let index = KnownKey.index(key) {
            return encoder.beginMember(key, known: keys + index)
        }
        return encoder.beginMember(key, known: nil)
    }

    /// Writes a member; after an error it is removed again.
    @inline(__always)
    private func member(_ key: Key, _ write: (StreamEncoder) throws -> Void) throws {
        try with { encoder in
            let mark = begin(key, encoder)
            do {
                try write(encoder)
            } catch {
                encoder.takeBack(to: mark)
                throw error
            }
        }
    }

    func encodeNil(forKey key: Key) throws {
        with { _ = begin(key, $0) }
        sink.write("null")
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        with { encoder in
            _ = begin(key, encoder)
            encoder.write(value)
        }
    }

    func encode(_ value: String, forKey key: Key) throws {
        with { encoder in
            _ = begin(key, encoder)
            encoder.write(value)
        }
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try member(key) { encoder in
            try encoder.session.write(floating: value, to: sink) { encoder.codingPath + [key] }
        }
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try member(key) { encoder in
            try encoder.session.write(floating: value, to: sink) { encoder.codingPath + [key] }
        }
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try member(key) { try $0.encode(value, key: key, position: 0) }
    }

    @inline(__always)
    private func integer(_ value: some FixedWidthInteger, _ key: Key) {
        with { _ = begin(key, $0) }
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

    private func later(_ key: some CodingKey) -> StreamEncoder {
        with { encoder in
            _ = encoder.beginMember(key, known: nil)
            return encoder.laterEncoder(key: key)
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        later(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        later(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { later(PlainKey("super")) }

    func superEncoder(forKey key: Key) -> any Encoder { later(key) }
}
