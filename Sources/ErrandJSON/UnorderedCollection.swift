/// Dictionaries and sets, which have a different order in each process.
protocol UnorderedCollection {
    /// Encodes the collection in an order that depends only on its contents.
    func encodeSorted(to encoder: StreamEncoder) throws
}

extension Dictionary: UnorderedCollection where Key == String, Value: Encodable {
    /// Encodes the members sorted by the UTF-8 of their keys.
    func encodeSorted(to encoder: StreamEncoder) throws {
        var members = encoder.container(keyedBy: PlainKey.self)
        for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            if let value = self[key] { try members.encode(value, forKey: PlainKey(key)) }
        }
    }
}

extension Set: UnorderedCollection where Element: Encodable {
    /// Encodes the items sorted by their JSON text.
    func encodeSorted(to encoder: StreamEncoder) throws {
        let array = encoder.opened(.array)
        let sink = array.sink
        let start = sink.count
        var texts: [[UInt8]] = []
        for (position, item) in enumerated() {
            _ = array.beginItem()
            let begin = sink.count
            try array.encode(item, key: nil, position: position)
            texts.append(
                Array(UnsafeBufferPointer(start: sink.base + begin, count: sink.count - begin)))
        }
        texts.sort { $0.lexicographicallyPrecedes($1) }
        let sorted = texts.joined(separator: CollectionOfOne(UInt8(ascii: ",")))
        sink.replaceTail(from: start, with: Array(sorted))
    }
}
