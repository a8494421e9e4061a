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
