// Performance annotations: decision 17.

/// Reuse of decoders and keyed containers for the next value of the same type.
///
/// With reuse, decoding an object allocates neither of the two and looks up no metadata. `release`
/// makes this safe: it checks whether user code has kept the decoder or the container. The decoder
/// holds the container, not the other way round (decision 11).
extension DecodingSession {
    /// Decodes the top-level value.
    func decode<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
        let record = record(of: type)
        var top: TapeDecoder
        if let spare = record.pointee.spare.take() {
            spare.restart(at: index)
            top = spare
        } else {
            top = TapeDecoder(self, index)
            top.isReused = !record.pointee.keepsContainers
        }
        defer { TapeDecoder.release(&top, to: record) }
        return try top.decodeSelf(type)
    }
}

extension TapeDecoder: ReusedCoder {
    typealias CollectionType = any TapeCollection.Type

    func isContainerFree() -> Bool { container == nil || isKnownUniquelyReferenced(&container) }

    /// Returns a child decoder for a value of the record's type.
    ///
    /// Return it with `ReusedCoder.release`.
    @inline(__always)
    func spareChild(
        _ record: Record, _ index: Int, key: some CodingKey
    ) throws -> TapeDecoder {
        guard depth < session.maximumDepth else { throw tooDeep() }
        if let spare = record.pointee.spare.take() {
            spare.restart(at: index, below: self, key: key)
            return spare
        }
        return newChild(record, index, key: key)
    }

    private func newChild(
        _ record: Record, _ index: Int, key: some CodingKey
    ) -> TapeDecoder {
        let child = TapeDecoder(self, index, key: key)
        guard !record.pointee.keepsContainers else { return child }
        child.isReused = true
        child.hold(parent: false)
        return child
    }

    /// The keyed container of this object; the container of an earlier value is reused if there is
    /// one.
    func keyedContainer<Key: CodingKey>(
        _ type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard words[index] >> 60 == Word.Kind.object.rawValue else {
            throw session.mismatch([String: Any].self, at: index, codingPath)
        }
        prepareKeys()
        if containerKey == ObjectIdentifier(type), let container {
            return ContainerMaker.container(container, as: KeyedDecodingContainer<Key>.self)
        }
        return newContainer(type)
    }

    private func newContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        // The standard library's container is currently one reference to a class instance, so its
        // reference count shows whether a copy was kept. If that layout changes, containers are not
        // reused.
        let isReference =
            MemoryLayout<KeyedDecodingContainer<PlainKey>>.size == MemoryLayout<AnyObject>.size
        guard isReused, container == nil, isReference else {
            return KeyedDecodingContainer(TapeKeyedContainer<Key, TapeDecoder>(holding: self))
        }
        let made = KeyedDecodingContainer(TapeKeyedContainer<Key, Void>(of: self))
        give(unsafeBitCast(made, to: AnyObject.self), withKeysOf: type)
        return made
    }
}
