/// Decoders and keyed containers are used again for the next value of the same type: an object
/// that is decoded then allocates nothing, and looks up no metadata, for either.
///
/// That is sound because `release` sees whether somebody has kept one of the two. The container
/// does not hold the decoder; it is the decoder that holds the container.
extension DecodingSession {
    /// Decodes the outermost value.
    func decode<T: Decodable>(_ type: T.Type, at index: Int) throws -> T {
        let record = record(of: type)
        var top: TapeDecoder
        if let spare = record.pointee.spare.take() {
            spare.restart(at: index, below: nil, key: nil, position: 0)
            top = spare
        } else {
            top = TapeDecoder(self, index)
            top.isReused = !record.pointee.keepsContainers
        }
        defer { TapeDecoder.release(&top, to: record) }
        return try top.decodeSelf(type)
    }
}

extension TapeDecoder {
    /// A decoder for a value of the record's type below this one; hand it back with `release`.
    @inline(__always)
    func spareChild(
        _ record: DecodingSession.Records.Record, _ index: Int, key: (any CodingKey)?,
        position: Int
    ) throws -> TapeDecoder {
        guard depth < session.maximumDepth else { throw tooDeep() }
        if let spare = record.pointee.spare.take() {
            spare.restart(at: index, below: self, key: key, position: position)
            return spare
        }
        return newChild(record, index, key: key, position: position)
    }

    @inline(never)
    private func newChild(
        _ record: DecodingSession.Records.Record, _ index: Int, key: (any CodingKey)?,
        position: Int
    ) -> TapeDecoder {
        let child = TapeDecoder(self, index, key: key, position: position)
        guard !record.pointee.keepsContainers else { return child }
        child.isReused = true
        child.hold(parent: false)
        return child
    }

    /// Takes back a decoder whose value is decoded; `child` must be the caller's only copy.
    @inline(__always)
    func release(_ child: inout TapeDecoder, to record: DecodingSession.Records.Record) {
        TapeDecoder.release(&child, to: record)
    }

    @inline(__always)
    fileprivate static func release(
        _ child: inout TapeDecoder, to record: DecodingSession.Records.Record
    ) {
        guard child.isReused else { return }
        if isKnownUniquelyReferenced(&child), child.isContainerFree {
            record.pointee.spare = child
        } else {
            child.leave(record)
        }
    }

    /// Whether nobody else has the container that was given out.
    @inline(__always)
    var isContainerFree: Bool { container == nil || isKnownUniquelyReferenced(&container) }

    /// Gives the decoder up to whoever has kept it or its container.
    @inline(never)
    func leave(_ record: DecodingSession.Records.Record) {
        hold(parent: true)
        isReused = false
        if !isContainerFree {
            // Nothing tells when the container goes, so the decoder stays for good. That happens
            // once for a type and session at work: its later values get containers that hold their decoders.
            record.pointee.noteKeptContainer()
            _ = Unmanaged.passRetained(self)
        }
        container = nil
        containerKey = nil
        makeContainer = nil
    }

    /// A container of this object, the one given out for an earlier value if there is one.
    @inline(__always)
    func keyedContainer<Key: CodingKey>(
        _ type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard words[index] >> 60 == Word.Kind.object.rawValue else {
            throw session.mismatch([String: Any].self, at: index, codingPath)
        }
        prepareKeys()
        if containerKey == ObjectIdentifier(type), let makeContainer {
            return makeContainer(as: KeyedDecodingContainer<Key>.self)
        }
        return newContainer(type)
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedDecodingContainer<Key> {
        // NB: the standard library's container is one reference to a class of its own, which tells
        // whether a copy was kept. Were it more one day, it would not be used again.
        let isReference =
            MemoryLayout<KeyedDecodingContainer<PlainKey>>.size == MemoryLayout<AnyObject>.size
        guard isReused, container == nil, isReference else {
            return KeyedDecodingContainer(TapeKeyedContainer<Key>(holding: self))
        }
        let made = KeyedDecodingContainer(TapeKeyedContainer<Key>(of: self))
        let object = unsafeBitCast(made, to: AnyObject.self)
        container = object
        makeContainer = ContainerMaker(object)
        containerKey = ObjectIdentifier(type)
        return made
    }
}
