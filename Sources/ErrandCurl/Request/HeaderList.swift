#if os(Linux)
    import CLibcurl
    import HTTPTypes

    /// Lines in the form libcurl reads: one block of text and one chain of nodes, both used again by the next
    /// request, so that no line costs an allocation.
    final class HeaderList {
        private let text = TextBuffer(capacity: 1024)
        // Unchecked: one thread uses a list, and nothing here calls back.
        @exclusivity(unchecked) private var offsets: [Int] = []
        @exclusivity(unchecked) private var nodes: UnsafeMutablePointer<curl_slist>
        @exclusivity(unchecked) private var capacity = 16

        init() { nodes = .allocate(capacity: capacity) }

        deinit { nodes.deallocate() }

        /// Begins anew.
        func removeAll() {
            text.removeAll()
            offsets.removeAll(keepingCapacity: true)
        }

        /// Adds a field; an empty value goes out empty.
        func append(_ field: HTTPField) {
            offsets.append(text.count)
            text.append(field.name.rawName)
            field.withUnsafeBytesOfValue { value in
                if value.isEmpty {
                    // libcurl's way to write it: a colon would leave the field out.
                    text.append(UInt8(ascii: ";"))
                } else {
                    text.append(UInt8(ascii: ":"))
                    text.append(UInt8(ascii: " "))
                    text.append(UnsafeRawBufferPointer(value))
                }
            }
            text.append(0)
        }

        /// Adds a line as libcurl reads it: `Name: value`, or `Name:` to leave out one of its own.
        func append(line: String) {
            offsets.append(text.count)
            text.append(line)
            text.append(0)
        }

        /// The chain, valid until the list changes; `nil` when there are no lines.
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
