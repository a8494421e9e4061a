// Performance annotations: decision 17.

import ErrandTransport

/// A reusable buffer of text for C functions.
final class TextBuffer {
    // Unchecked: one thread uses a buffer, and none of these methods calls other code.
    @exclusivity(unchecked) private(set) var bytes: UnsafeMutablePointer<CChar>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        bytes = .allocate(capacity: self.capacity)
    }

    deinit { bytes.deallocate() }

    /// Removes the text.
    func removeAll() { count = 0 }

    /// Removes bytes from the start, which were sent, when they are many; returns how many were not removed.
    ///
    /// The rest is moved when it is not larger than what was sent, so that the cost is linear. An empty buffer releases
    /// storage of more than four times the limit.
    func remove(sent: Int, limit: Int) -> Int {
        let rest = count - sent
        if rest == 0 {
            count = 0
            if capacity > 4 * limit {
                bytes.deallocate()
                capacity = 4 << 10
                bytes = .allocate(capacity: capacity)
            }
            return 0
        }
        guard sent >= max(rest, limit) else { return sent }
        bytes.update(from: bytes + sent, count: rest)
        count = rest
        return 0
    }

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
    func appendTarget(of url: HTTPURL) {
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

    @inline(__always)
    private func reserve(_ extra: Int) {
        if count + extra > capacity { grow(extra) }
    }

    private func grow(_ extra: Int) {
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutablePointer<CChar>.allocate(capacity: larger)
        moved.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = moved
        capacity = larger
    }
}
