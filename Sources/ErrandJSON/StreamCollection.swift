/// Arrays of the standard library, encoded without containers: one loop, the same text.
protocol StreamCollection {
    /// Writes a value of scalars, which stands under `key` or at `position` in `parent`; false if
    /// its items may be of other types.
    static func writeScalars(
        _ value: Self, in parent: StreamEncoder, key: (any CodingKey)?, position: Int
    ) throws -> Bool

    /// Writes `value`'s items; `encoder` is for the array itself.
    static func write(_ value: Self, to encoder: StreamEncoder) throws
}

extension Array: StreamCollection where Element: Encodable {
    static func writeScalars(
        _ value: [Element], in parent: StreamEncoder, key: (any CodingKey)?, position: Int
    ) throws -> Bool {
        let sink = parent.sink
        @inline(__always)
        func each<T>(_ type: T.Type, _ write: (T, Int) throws -> Void) rethrows {
            // Only called where this is the same type by another name.
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
        // NB: an item that is passed on from a constant pointer is copied first, with all that is in
        // it. Through `inout` it is not; nothing writes to it.
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
