#if os(Linux)
    import CLibcurl

    /// A list of lines for libcurl: one block of text and one chain of nodes.
    final class CurlList {
        private let text = TextBuffer(capacity: 256)
        private var offsets: [Int] = []
        private var nodes: UnsafeMutablePointer<curl_slist>
        private var capacity = 4

        init() { nodes = .allocate(capacity: capacity) }

        deinit { nodes.deallocate() }

        /// Adds a line.
        func append(_ line: String) {
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
