#if os(Linux)
    import CLibcurl
    import HTTPTypes

    /// The request's header lines in the form libcurl reads: one block of text and one chain of nodes, both used
    /// again by the next request, so that no line costs an allocation.
    final class HeaderList {
        private var text: UnsafeMutablePointer<CChar>
        private var capacity: Int
        private var count = 0
        private var offsets: [Int] = []
        private var nodes: UnsafeMutablePointer<curl_slist>
        private var nodeCapacity: Int

        init() {
            capacity = 1024
            text = .allocate(capacity: capacity)
            nodeCapacity = 16
            nodes = .allocate(capacity: nodeCapacity)
        }

        deinit {
            text.deallocate()
            nodes.deallocate()
        }

        /// Begins anew.
        func removeAll() {
            count = 0
            offsets.removeAll(keepingCapacity: true)
        }

        /// Adds a field; an empty value goes out empty.
        func append(_ field: HTTPField) {
            offsets.append(count)
            append(field.name.rawName)
            field.withUnsafeBytesOfValue { value in
                if value.isEmpty {
                    append(0x3B)
                } else {
                    append(0x3A)
                    append(0x20)
                    append(UnsafeRawBufferPointer(value))
                }
            }
            append(0)
        }

        /// Adds a line as libcurl reads it: `Name: value`, or `Name:` to leave out one of its own.
        func append(line: StaticString) {
            offsets.append(count)
            append(UnsafeRawBufferPointer(start: line.utf8Start, count: line.utf8CodeUnitCount))
            append(0)
        }

        /// Adds a line of text.
        func append(line: String) {
            offsets.append(count)
            append(line)
            append(0)
        }

        /// The chain, valid until the list changes; `nil` when there are no lines.
        func chain() -> UnsafeMutablePointer<curl_slist>? {
            guard !offsets.isEmpty else { return nil }
            if offsets.count > nodeCapacity {
                nodes.deallocate()
                nodeCapacity = offsets.count * 2
                nodes = .allocate(capacity: nodeCapacity)
            }
            for (index, offset) in offsets.enumerated() {
                let next = index + 1 < offsets.count ? nodes + index + 1 : nil
                (nodes + index).initialize(to: curl_slist(data: text + offset, next: next))
            }
            return nodes
        }

        private func append(_ string: String) {
            var string = string
            string.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }

        private func append(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            reserve(bytes.count)
            UnsafeMutableRawPointer(text + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
        }

        private func append(_ byte: UInt8) {
            reserve(1)
            text[count] = CChar(bitPattern: byte)
            count += 1
        }

        private func reserve(_ extra: Int) {
            guard count + extra > capacity else { return }
            let larger = max(capacity * 2, count + extra)
            let moved = UnsafeMutablePointer<CChar>.allocate(capacity: larger)
            moved.update(from: text, count: count)
            text.deallocate()
            text = moved
            capacity = larger
        }
    }
#endif
