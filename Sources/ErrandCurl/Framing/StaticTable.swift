import HTTPTypes

/// The static table of HPACK (RFC 7541 Appendix A).
enum StaticTable {
    /// The number of entries; their indices begin at 1.
    static let count = 61

    private static let lines: [(name: String, value: String)] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
        (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
        (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
        (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
        ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
        ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
        ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
        ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
        ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
        ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
        ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""),
        ("range", ""), ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""),
        ("set-cookie", ""), ("strict-transport-security", ""), ("transfer-encoding", ""),
        ("user-agent", ""), ("vary", ""), ("via", ""), ("www-authenticate", ""),
    ]

    /// The entries; the first one has the index 1.
    static let entries: [HeaderEntry] = lines.map { name, value in
        var (name, value) = (name, value)
        let known = name.withUTF8 { HeaderName(UnsafeRawBufferPointer($0)) }
        return value.withUTF8 { HeaderEntry(known, value: UnsafeRawBufferPointer($0)) }
    }

    // The lowest index of each name, in a direct-mapped table with linear probing.
    private static let places: [UInt8] = {
        var places = [UInt8](repeating: 0, count: 256)
        for (offset, line) in lines.enumerated() {
            var name = line.name
            guard offset == 0 || lines[offset - 1].name != name else { continue }
            var place = name.withUTF8 { FieldCache.hash(of: UnsafeRawBufferPointer($0)) } & 0xFF
            while places[place] != 0 { place = (place + 1) & 0xFF }
            places[place] = UInt8(offset + 1)
        }
        return places
    }()

    /// The lowest index of the entries with a name in lower case; `nil` if there is none.
    static func index(of name: UnsafeRawBufferPointer) -> Int? {
        var place = FieldCache.hash(of: name) & 0xFF
        while case let index = Int(places[place]), index > 0 {
            let known = lines[index - 1].name.utf8
            if known.count == name.count, known.elementsEqual(name) { return index }
            place = (place + 1) & 0xFF
        }
        return nil
    }

    /// The index of the entry with a name and a value, other than the lowest; `nil` if there is none.
    static func index(_ index: Int, value: UnsafeRawBufferPointer) -> Int? {
        var index = index
        let name = lines[index - 1].name
        while index <= count, lines[index - 1].name == name {
            if lines[index - 1].value.utf8.elementsEqual(value) { return index }
            index += 1
        }
        return nil
    }
}
