// Performance annotations: decision 17.

import ErrandHTTP
import ErrandSystem
import HTTPTypes

/// Encodes header blocks (RFC 7541).
///
/// The heads of a client resemble each other. The encoder therefore compares each field with the
/// one at the same place of the last head first; an equal field is one byte. A value enters the
/// dynamic table when its name is new at its place, or when the value repeats: values that differ in
/// each request, such as trace identifiers, enter it once and then no more.
///
/// Credentials and short secrets are never indexed (RFC 7541 §7.1.3): a peer that controls other
/// fields of the connection could guess them by the sizes of the blocks.
struct HeaderEncoder {
    /// The largest table that the encoder uses, also if the peer offers a larger one.
    static let tableSize = 4096
    /// The length from which on the value of a secret cannot be guessed.
    private static let longSecret = 20

    /// A field of the last head, and how it is written again.
    private final class Place {
        let name: String
        let value: String
        /// Whether equal text has the same bytes: it is ASCII, and the lengths are compared, too.
        let isPlain: Bool
        let strategy: HTTPField.DynamicTableIndexingStrategy
        @exclusivity(unchecked) var state: State

        enum State {
            /// One byte, of the static table.
            case fixed(UInt8)
            /// The number of an entry.
            case inserted(Int)
            /// The value has changed; it is inserted when it repeats.
            case changed
            /// A literal whose bytes do not depend on the table.
            case bytes([UInt8])
            /// Another literal.
            case literal
        }

        init(_ field: HTTPField, _ state: State) {
            name = field.name.canonicalName
            value = field.value
            isPlain = field.withUnsafeBytesOfValue { $0.allSatisfy { $0 < 0x80 } }
            strategy = field.indexingStrategy
            self.state = state
        }

        func holds(_ field: HTTPField) -> Bool {
            guard name == field.name.canonicalName, strategy == field.indexingStrategy, isPlain
            else { return false }
            let text = field.value
            return text.utf8.count == value.utf8.count && text == value
        }
    }

    private final class Entry: HeaderTableEntry {
        let field: HTTPField
        let nameHash: Int
        let hash: Int
        let size: Int

        init(_ field: HTTPField, nameHash: Int, hash: Int, size: Int) {
            (self.field, self.nameHash, self.hash, self.size) = (field, nameHash, hash, size)
        }
    }

    /// The rule for the values of a name.
    private enum Rule {
        /// Index if the value repeats.
        case adaptive
        /// The values differ in most requests.
        case changing
        /// Never index short values.
        case secret
        /// Never index.
        case credential
    }

    private struct Name {
        let name: String
        /// The lowest index in the static table; 0 if there is none.
        let index: Int
        let hash: Int
        let rule: Rule
    }

    private var table = HeaderTable<Entry>(bound: tableSize)
    private var places: [Place] = []
    private var place = 0
    private var usesPlaces = false
    private var names = [Name?](repeating: nil, count: 64)
    /// The last authority and its number in the table.
    private var lastAuthority: (host: String, port: Int?, number: Int) = ("", nil, 0)
    /// The lowest and the last size of the table since the last block; `nil` if it has not changed.
    private var resized: (lowest: Int, last: Int)?

    /// The size of the dynamic table.
    var size: Int { table.size }

    /// Changes the maximum size of the table to the peer's `SETTINGS_HEADER_TABLE_SIZE`.
    mutating func changeTableSize(to size: Int) {
        let size = min(size, Self.tableSize)
        guard size != (resized?.last ?? table.capacity) else { return }
        resized = (min(size, resized?.lowest ?? size), size)
        table.resize(to: size)
    }

    /// Begins a block.
    ///
    /// - Parameter isHead: Whether the fields are those of a head, which resemble those of the last
    ///   one; otherwise they are trailers.
    mutating func begin(isHead: Bool, into output: TextBuffer) {
        place = 0
        usesPlaces = isHead
        // The lowest size says which entries were evicted (RFC 7541 §4.2).
        if let (lowest, last) = resized {
            if lowest < last { Self.write(lowest, prefix: 5, flags: 0x20, into: output) }
            Self.write(last, prefix: 5, flags: 0x20, into: output)
            resized = nil
        }
    }

    // MARK: - Pseudo-header fields

    mutating func append(method: String, into output: TextBuffer) {
        switch method {
        case "GET": output.append(0x82)
        case "POST": output.append(0x83)
        default: Self.write(method, name: 2, into: output)
        }
    }

    mutating func append(scheme: String, into output: TextBuffer) {
        switch scheme {
        case "https": output.append(0x87)
        case "http": output.append(0x86)
        default: Self.write(scheme, name: 6, into: output)
        }
    }

    /// Appends `:authority` from its parts; a port that is left out is `nil`.
    mutating func append(host: String, port: Int?, into output: TextBuffer) {
        if lastAuthority.port == port, lastAuthority.number > table.evicted,
            lastAuthority.host.hasSameBytes(host)
        {
            return write(number: lastAuthority.number, into: output)
        }
        append(authority: Self.authority(host, port), into: output)
        lastAuthority = (host, port, lastAuthority.number)
    }

    static func authority(_ host: String, _ port: Int?) -> String {
        port.map { "\(host):\($0)" } ?? host
    }

    mutating func append(authority: String, into output: TextBuffer) {
        guard let name = HTTPField.Name(parsed: ":authority") else { return }
        let field = HTTPField(name: name, lenientValue: authority.utf8)
        let known = Name(name: name.canonicalName, index: 1, hash: 1, rule: .adaptive)
        let hash = Self.hash(field, known)
        if let number = number(of: field, hash: hash) {
            lastAuthority = (authority, nil, number)
            return write(number: number, into: output)
        }
        insert(field, known, hash: hash, into: output)
        lastAuthority = (authority, nil, table.newest)
    }

    mutating func append(path: UnsafeRawBufferPointer, into output: TextBuffer) {
        if path.count == 1, path[0] == UInt8(ascii: "/") { return output.append(0x84) }
        Self.write(4, prefix: 4, flags: 0, into: output)
        Self.write(path, into: output)
    }

    /// Appends the protocol of an extended CONNECT (RFC 8441 §4).
    mutating func append(protocolName: String, into output: TextBuffer) {
        output.append(0)
        Self.write(text: ":protocol", into: output)
        Self.write(text: protocolName, into: output)
    }

    // MARK: - Fields

    mutating func append(_ field: HTTPField, into output: TextBuffer) {
        let place = place
        self.place += 1
        guard usesPlaces, place < places.count else {
            return encode(field, at: place, into: output)
        }
        let last = places[place]
        guard last.holds(field) else { return encode(field, at: place, into: output) }
        switch last.state {
        case .fixed(let byte): output.append(byte)
        case .inserted(let number) where number > table.evicted:
            write(number: number, into: output)
        case .bytes(let bytes): bytes.withUnsafeBytes { output.append($0) }
        case .changed:
            // The value repeats.
            let name = name(of: field)
            insert(field, name, hash: Self.hash(field, name), into: output)
            last.state = .inserted(table.newest)
        case .inserted, .literal: encode(field, at: place, into: output)
        }
    }

    private mutating func encode(
        _ field: HTTPField, at place: Int, into output: TextBuffer
    ) {
        let name = name(of: field)
        let state = encode(field, name, at: place, into: output)
        guard usesPlaces else { return }
        let new = Place(field, state)
        if place < places.count {
            places[place] = new
        } else if place == places.count, place < 64 {
            places.append(new)
        }
    }

    private mutating func encode(
        _ field: HTTPField, _ name: Name, at place: Int, into output: TextBuffer
    ) -> Place.State {
        if isNever(field, name) { return literal(field, name, flags: 0x10, into: output) }
        if name.index > 0,
            let index = field.withUnsafeBytesOfValue({
                StaticTable.index(name.index, value: UnsafeRawBufferPointer($0))
            })
        {
            output.append(0x80 | UInt8(index))
            return .fixed(0x80 | UInt8(index))
        }
        let hash = Self.hash(field, name)
        if let number = number(of: field, hash: hash) {
            write(number: number, into: output)
            return .inserted(number)
        }
        guard mayInsert(field, name) else { return literal(field, name, flags: 0, into: output) }
        let changes = usesPlaces && place < places.count && places[place].name == name.name
        if changes, field.indexingStrategy != .prefer {
            write(field, name, flags: 0, into: output)
            return .changed
        }
        insert(field, name, hash: hash, into: output)
        return .inserted(table.newest)
    }

    /// Writes a literal that is never inserted.
    private func literal(
        _ field: HTTPField, _ name: Name, flags: UInt8, into output: TextBuffer
    ) -> Place.State {
        let start = output.count
        write(field, name, flags: flags, into: output)
        // The index of another name changes with each insertion.
        guard name.index > 0, usesPlaces else { return .literal }
        return .bytes(Array(output.contents[start...]))
    }

    private func isNever(_ field: HTTPField, _ name: Name) -> Bool {
        if field.indexingStrategy == .disallow || name.rule == .credential { return true }
        guard name.rule == .secret else { return false }
        return field.withUnsafeBytesOfValue { $0.count < Self.longSecret }
    }

    private func mayInsert(_ field: HTTPField, _ name: Name) -> Bool {
        if field.indexingStrategy == .avoid { return false }
        if name.rule == .changing, field.indexingStrategy != .prefer { return false }
        // A large entry would evict nearly all others.
        return Self.size(field) <= table.capacity / 4 * 3
    }

    private mutating func insert(
        _ field: HTTPField, _ name: Name, hash: Int, into output: TextBuffer
    ) {
        write(field, name, flags: 0x40, into: output)
        table.insert(
            Entry(field, nameHash: name.hash, hash: hash, size: Self.size(field)))
    }

    private func number(of field: HTTPField, hash: Int) -> Int? {
        table.lastNumber { $0.hash == hash && $0.field.hasBytes(of: field) }
    }

    // MARK: - Names

    private mutating func name(of field: HTTPField) -> Name {
        var text = field.name.canonicalName
        let hash = text.withUTF8 { FieldCache.hash(of: UnsafeRawBufferPointer($0)) }
        let slot = hash & (names.count - 1)
        if let known = names[slot], known.name == text { return known }
        let index = text.withUTF8 { StaticTable.index(of: UnsafeRawBufferPointer($0)) }
        let name = Name(name: text, index: index ?? 0, hash: hash, rule: Self.rule(of: text))
        names[slot] = name
        return name
    }

    private static func rule(of name: String) -> Rule {
        switch name {
        case "authorization", "proxy-authorization": .credential
        case "content-length", "content-range", "range", "if-match", "if-modified-since",
            "if-none-match", "if-range", "if-unmodified-since", "idempotency-key", "traceparent",
            "tracestate", "x-request-id":
            .changing
        default: SecretName.isSecret(header: name) ? .secret : .adaptive
        }
    }

    // MARK: - Bytes

    private static func size(_ field: HTTPField) -> Int {
        field.name.canonicalName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 32
    }

    private static func hash(_ field: HTTPField, _ name: Name) -> Int {
        field.withUnsafeBytesOfValue { FieldCache.hash(of: UnsafeRawBufferPointer($0)) } << 16
            | name.hash
    }

    private func write(number: Int, into output: TextBuffer) {
        let index = StaticTable.count + 1 + table.newest - number
        Self.write(index, prefix: 7, flags: 0x80, into: output)
    }

    /// Writes a literal with the flags of its kind: 0x40 inserts it into the table, 0x10 forbids that.
    private func write(_ field: HTTPField, _ name: Name, flags: UInt8, into output: TextBuffer) {
        let prefix = flags == 0x40 ? 6 : 4
        var index = name.index
        if index == 0,
            let number = table.lastNumber(where: {
                $0.nameHash == name.hash && $0.field.name.canonicalName == name.name
            })
        {
            index = StaticTable.count + 1 + table.newest - number
        }
        Self.write(index, prefix: prefix, flags: flags, into: output)
        if index == 0 { Self.write(text: name.name, into: output) }
        field.withUnsafeBytesOfValue { Self.write(UnsafeRawBufferPointer($0), into: output) }
    }

    /// Writes a literal that is not inserted into the table, with a name of the static one.
    private static func write(_ value: String, name index: Int, into output: TextBuffer) {
        write(index, prefix: 4, flags: 0, into: output)
        write(text: value, into: output)
    }

    private static func write(text: String, into output: TextBuffer) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0), into: output) }
    }

    /// Writes a string literal, with the Huffman code if it is shorter (RFC 7541 §5.2).
    private static func write(_ text: UnsafeRawBufferPointer, into output: TextBuffer) {
        let start = output.count
        if text.count < 127 {
            // One byte for the length, which is less than that of the text.
            var count = 0
            output.append(upTo: 1 + HuffmanCode.encodedLimit(of: text.count)) { room in
                count = HuffmanCode.encode(text, into: Self.rest(of: room))
                room[0] = 0x80 | UInt8(truncatingIfNeeded: count)
                return 1 + count
            }
            if count < text.count { return }
            output.truncate(to: start)
        } else {
            let encoded = TextBuffer(capacity: HuffmanCode.encodedLimit(of: text.count))
            encoded.append(upTo: HuffmanCode.encodedLimit(of: text.count)) {
                HuffmanCode.encode(text, into: $0)
            }
            if encoded.count < text.count {
                write(encoded.count, prefix: 7, flags: 0x80, into: output)
                return output.append(encoded.contents)
            }
        }
        write(text.count, prefix: 7, flags: 0, into: output)
        output.append(text)
    }

    private static func rest(of room: UnsafeMutableRawBufferPointer)
        -> UnsafeMutableRawBufferPointer
    {
        UnsafeMutableRawBufferPointer(rebasing: room[1...])
    }

    /// Writes an integer with a prefix of this many bits (RFC 7541 §5.1).
    static func write(_ value: Int, prefix: Int, flags: UInt8, into output: TextBuffer) {
        let mask = (1 << prefix) - 1
        if value < mask { return output.append(flags | UInt8(truncatingIfNeeded: value)) }
        output.append(flags | UInt8(truncatingIfNeeded: mask))
        var rest = value - mask
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(truncatingIfNeeded: rest))
    }
}

extension HTTPField {
    /// Whether both have the same name and the same bytes of the value; text is also equal if it is
    /// canonically equivalent.
    fileprivate func hasBytes(of other: HTTPField) -> Bool {
        guard name.canonicalName == other.name.canonicalName else { return false }
        return withUnsafeBytesOfValue { one in
            other.withUnsafeBytesOfValue { isSame($0, one) }
        }
    }
}

extension String {
    fileprivate func hasSameBytes(_ other: String) -> Bool {
        var (one, other) = (self, other)
        return one.withUTF8 { one in other.withUTF8 { isSame($0, one) } }
    }
}

private func isSame(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool
{
    guard one.count == other.count else { return false }
    guard let left = one.baseAddress, let right = other.baseAddress else { return true }
    return memcmp(left, right, one.count) == 0
}
