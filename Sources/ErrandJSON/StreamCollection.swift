// Performance annotations: decision 17.

/// Arrays of the standard library, encoded in one loop without containers.
protocol StreamCollection {
    /// Writes an array of scalars under `key` or at `position` in `parent`.
    ///
    /// Returns false if the items are not scalars of a known type.
    static func writeScalars(
        _ value: Self, in parent: StreamEncoder, key: (any CodingKey)?, position: Int
    ) throws -> Bool

    /// Writes the items of `value`; `encoder` encodes the array itself.
    static func write(_ value: Self, to encoder: StreamEncoder) throws
}

extension Array: StreamCollection where Element: Encodable {
    static func writeScalars(
        _ value: [Element], in parent: StreamEncoder, key: (any CodingKey)?, position: Int
    ) throws -> Bool {
        let sink = parent.sink
        @inline(__always)
        func each<T>(_ type: T.Type, _ write: (T, Int) throws -> Void) rethrows {
            // Called only if `T` and `Element` are the same type.
            let items = unsafeBitCast(value, to: [T].self)
            sink.write(UInt8(ascii: "["))
            for index in items.indices {
                if index > 0 { sink.write(UInt8(ascii: ",")) }
                try write(items[index], index)
            }
            sink.write(UInt8(ascii: "]"))
        }
        if Element.self == Double.self {
            try each(Double.self) { item, index in
                try parent.session.write(floating: item, to: sink) {
                    parent.codingPath
                        + [key ?? PlainKey(index: position), PlainKey(index: index)]
                }
            }
        } else if Element.self == Int.self {
            each(Int.self) { item, _ in sink.write(integer: item) }
        } else if Element.self == String.self {
            each(String.self) { item, _ in parent.write(item) }
        } else {
            return false
        }
        return true
    }

    static func write(_ value: [Element], to encoder: StreamEncoder) throws {
        let array = encoder.opened(.array)
        let record = encoder.session.record(of: Element.self)
        let isPlain =
            record.pointee.collection == nil && !record.pointee.isFoundations
            && Element.self != String.self && Element.self != Int.self
            && Element.self != Double.self && Element.self != Bool.self
        // Passing an item from a constant pointer would copy it first. Through `inout` it is not
        // copied; the item is never modified.
        @inline(__always)
        func encode(_ item: inout Element, to encoder: StreamEncoder) throws {
            try item.encode(to: encoder)
        }
        try value.withUnsafeBufferPointer { buffer in
            guard let items = UnsafeMutablePointer(mutating: buffer.baseAddress) else { return }
            for position in 0..<buffer.count {
                _ = array.beginItem()
                guard isPlain else {
                    try array.encode(items[position], key: nil, position: position)
                    continue
                }
                var item = array.spareChild(record, Element.self, key: nil, position: position)
                defer {
                    item.end()
                    StreamEncoder.release(&item, to: record)
                }
                try encode(&items[position], to: item)
                item.close()
            }
        }
    }
}
