// Performance annotations: decision 17.

import ErrandTransport

/// A reusable buffer of text for C functions.
final class TextBuffer {
    // Unchecked: one thread uses a buffer, and none of these methods calls other code.
    private(set) var bytes: UnsafeMutablePointer<CChar>
    @exclusivity(unchecked) private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        bytes = .allocate(capacity: self.capacity)
    }

    deinit { bytes.deallocate() }

    /// Removes the text.
    func removeAll() { count = 0 }

    func append(_ text: String) {
        // `withUTF8` would need a copy.
        let isAppended: Void? = text.utf8.withContiguousStorageIfAvailable {
            append(UnsafeRawBufferPointer($0))
        }
        if isAppended == nil { for byte in text.utf8 { append(byte) } }
    }

    func append(_ text: UnsafeRawBufferPointer) {
        guard let start = text.baseAddress else { return }
        reserve(text.count)
        UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: text.count)
        count += text.count
    }

    func append(_ byte: UInt8) {
        reserve(1)
        bytes[count] = CChar(bitPattern: byte)
        count += 1
    }

    /// Appends the digits of a number, without its sign.
    func append(decimal value: Int64) {
        let number = value.magnitude
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(UInt8(truncatingIfNeeded: number / divisor % 10) + UInt8(ascii: "0"))
            divisor /= 10
        }
    }

    /// Appends path and query of a URL; an empty path becomes `/`.
    func appendTarget(of url: URI) {
        if url.path.isEmpty {
            append(UInt8(ascii: "/"))
        } else {
            append(url.path)
        }
        if let query = url.query {
            append(UInt8(ascii: "?"))
            append(query)
        }
    }

    /// Appends bytes that a closure writes; the closure gets room for exactly this many bytes and
    /// returns the number that it has written.
    func append(upTo length: Int, write: (UnsafeMutableRawBufferPointer) -> Int) {
        reserve(length)
        count += write(UnsafeMutableRawBufferPointer(start: bytes + count, count: length))
    }

    /// Removes the text after this number of bytes.
    func truncate(to length: Int) { count = min(count, length) }

    /// The text, valid until it changes.
    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    private func reserve(_ extra: Int) {
        guard count + extra > capacity else { return }
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutablePointer<CChar>.allocate(capacity: larger)
        moved.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = moved
        capacity = larger
    }
}

#if os(Linux)
    import CLibcurl
    import HTTPTypes

    /// A list of lines for libcurl: one block of text and one chain of nodes.
    ///
    /// Both are reused by the next request, so no line needs an allocation.
    final class HeaderList {
        private let text = TextBuffer(capacity: 1024)
        // Unchecked: one thread uses a list, and none of these methods calls other code.
        @exclusivity(unchecked) private var offsets: [Int] = []
        private var nodes: UnsafeMutablePointer<curl_slist>
        private var capacity = 16

        init() { nodes = .allocate(capacity: capacity) }

        deinit { nodes.deallocate() }

        /// Removes all lines.
        func removeAll() {
            text.removeAll()
            offsets.removeAll(keepingCapacity: true)
        }

        /// Adds a field, also with an empty value.
        func append(_ field: HTTPField) {
            offsets.append(text.count)
            text.append(field.name.rawName)
            field.withUnsafeBytesOfValue { value in
                if value.isEmpty {
                    // libcurl sends a field with a semicolon and an empty value, and omits one with
                    // a colon.
                    text.append(UInt8(ascii: ";"))
                } else {
                    text.append(UInt8(ascii: ":"))
                    text.append(UInt8(ascii: " "))
                    text.append(UnsafeRawBufferPointer(value))
                }
            }
            text.append(0)
        }

        /// Adds a line in libcurl's syntax: `Name: value`, or `Name:` to omit one of libcurl's own
        /// headers.
        func append(line: String) {
            offsets.append(text.count)
            text.append(line)
            text.append(0)
        }

        /// Returns the chain, valid until the list changes; `nil` if the list is empty.
        func chain() -> UnsafeMutablePointer<curl_slist>? {
            guard !offsets.isEmpty else { return nil }
            if offsets.count > capacity {
                nodes.deallocate()
                capacity = offsets.count * 2
                nodes = .allocate(capacity: capacity)
            }
            for (index, offset) in offsets.enumerated() {
                let next = index + 1 < offsets.count ? nodes + index + 1 : nil
                (nodes + index).initialize(to: curl_slist(data: text.bytes + offset, next: next))
            }
            return nodes
        }
    }
#endif
