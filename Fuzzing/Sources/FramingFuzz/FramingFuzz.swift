import HTTPTypes
import TestSupport

@testable import ErrandCurl

/// The bytes that a server sends. The kind is 0 for frames, 1 for header blocks, 2 for a session.
extension SplitInput {
    /// Ends the process if a result violates a rule.
    fileprivate func check() {
        switch kind {
        case 0: checkFrames()
        case 1: checkBlocks()
        default: checkSession()
        }
    }

    private func checkFrames() {
        let expected = NaiveFramer.read(stream)
        for segments in [[stream], segments, stream.map { [$0] }] {
            let found = FrameTexts.read(segments)
            require(found == expected, "The frames differ.", found, expected)
        }
    }

    /// Each segment is a block of one connection.
    private func checkBlocks() {
        var decoder = HeaderDecoder()
        // This one knows the blocks of the caches only.
        var sections = HeaderDecoder()
        var naive = NaiveHPACK()
        // The second round finds literals and blocks in the caches.
        for block in segments + segments {
            var fields: [NaiveHPACK.Field]? = []
            let isValid = block.withUnsafeBytes { bytes in
                do throws(SessionFault) {
                    _ = try decoder.decode(bytes, limit: 1 << 24) { entry in
                        fields?.append(NaiveHPACK.Field(entry.bytes.name, entry.bytes.value))
                    }
                    return true
                } catch {
                    require(error.code == .compressionError, "A limit is reached.", error)
                    return false
                }
            }
            if !isValid { fields = nil }
            let expected = naive.decode(block)
            require(fields == expected, "The fields differ.", fields as Any, expected as Any)
            guard isValid else { return }
            let section = block.withUnsafeBytes { try? sections.section(in: $0, limit: 1 << 24) }
            check(section, expected ?? [])
            for table in [decoder, sections] {
                let entries = table.entries.map { NaiveHPACK.Field($0.bytes.name, $0.bytes.value) }
                require(entries == naive.table, "The tables differ.", entries, naive.table)
                require(table.size == naive.size, "The sizes differ.", table.size, naive.size)
            }
        }
    }

    /// A head without a fault has the fields of the block.
    private func check(_ section: FieldSection?, _ fields: [NaiveHPACK.Field]) {
        guard let section else { return require(false, "A block has no section.", fields) }
        guard section.fault == nil else { return }
        let names = section.head.fields.map { $0.name.canonicalName }
        let expected = fields.map { String(decoding: $0.name, as: UTF8.self) }.filter {
            $0.first != ":" && (section.hasStatus || $0 != "content-length")
        }
        require(names == expected, "The heads differ.", names, expected)
        let values = section.head.fields.map { $0.withUnsafeBytesOfValue { Array($0) } }
        let known = fields.filter {
            let name = String(decoding: $0.name, as: UTF8.self)
            return name.first != ":" && (section.hasStatus || name != "content-length")
        }
        require(values == known.map(\.value), "The values differ.", values, known)
    }

    private func checkSession() {
        let whole = run([stream])
        for segments in [segments, stream.map { [$0] }] {
            let split = run(segments)
            require(split == whole, "The result differs in splits.", split, whole)
        }
    }

    /// The events and the frames of a session with open streams.
    private func run(_ segments: [[UInt8]]) -> [String] {
        let client = TestSession()
        client.open()
        client.open("HEAD")
        let upload = client.open(body: true)
        client.open("CONNECT", connect: true)
        client.send(100, on: upload)
        _ = client.written()
        var events: [String] = []
        for segment in segments { events += client.receive(segment) }
        let ends = events.filter { $0.hasPrefix("failed") }.count
        require(
            ends <= 1 && (ends == 0 || events.last?.hasPrefix("failed") == true),
            "Something follows the end.", events)
        // Content arrives in other parts.
        let isPart: (String) -> Bool = { $0.hasPrefix("content ") && $0.hasSuffix(" receiving") }
        let ended = events.filter { !isPart($0) }.map { event in
            guard event.hasPrefix("content ") else { return event }
            let words = event.split(separator: " ")
            return "content \(words[1]) \(words[words.count - 1])"
        }
        return ended + client.written()
    }

    private func require(_ isTrue: Bool, _ rule: String, _ results: Any...) {
        if isTrue { return }
        var lines = ["\(rule) Kind: \(kind), segments: \(segments)"]
        lines += results.map { "\($0)" }
        fatalError(lines.joined(separator: "\n"))
    }
}

/// Checks one input; libFuzzer's main function calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    SplitInput(UnsafeBufferPointer(start: start, count: count))?.check()
    return 0
}
