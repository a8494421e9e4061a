import ErrandTransport
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandCurl

/// Generated and mutated responses give the same result in any split, and the result of a second
/// parser.
struct ResponseParserFuzzTests {
    /// Generates responses, most of them valid.
    private struct Generator {
        var random: SeededGenerator

        private mutating func one(_ values: [String]) -> String {
            values.randomElement(using: &random) ?? ""
        }

        private mutating func chance(_ percent: Int) -> Bool {
            Int.random(in: 0..<100, using: &random) < percent
        }

        private mutating func lineEnd() -> String { chance(90) ? "\r\n" : "\n" }

        private mutating func fields(upTo count: Int) -> String {
            let lines = [
                "X-A: 1", "x-b:", "X-C:\tvalue \t", "X(D): ignored", "Server: s/1", "X-E: a, b",
                "X-F: folded\r\n  line\r\n\tagain", "Connection: close", "Connection: Keep-Alive",
                "Connection: x, y", "Content-Length: 3", "Transfer-Encoding: identity",
                "X-G : space", ": no name", "no colon", "X-H: \u{E9}\u{FF}", "Content-Length: 1, 1",
                "Set-Cookie: a=b", "Content-Encoding: gzip",
            ]
            var text = ""
            for _ in 0..<Int.random(in: 0...count, using: &random) {
                // The last lines are rare, because most of them make the response malformed.
                let limit = chance(90) ? 10 : lines.count
                text += one(Array(lines[..<limit])) + lineEnd()
            }
            return text
        }

        private mutating func body() -> (field: String, text: String) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return ("", "until the close")
            case 1: return ("Content-Length: 0\r\n", "")
            case 2: return ("Content-Length: 20\r\n", "truncated")
            case 3, 4: return ("Content-Length: 5\r\n", "hello" + one(["", "", "", "surplus"]))
            default:
                var text = ""
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let size = Int.random(in: 1...20, using: &random)
                    text +=
                        one(["", "", "0", "00"]) + String(size, radix: 16, uppercase: chance(50))
                    text += one(["", "", "", " ", ";a", "; a=b \t", ";a=\"x;y\""]) + "\r\n"
                    text += String(repeating: one(["x", "\r", "\n", "0"]), count: size) + "\r\n"
                }
                text += "0" + one(["", "", ";last"]) + "\r\n"
                text += fields(upTo: chance(30) ? 2 : 0) + lineEnd()
                return ("Transfer-Encoding: chunked\r\n", text)
            }
        }

        mutating func response() -> String {
            var text = ""
            while chance(15) {
                text += "HTTP/1.1 \(one(["100 Continue", "103 Early", "102", "101 Switch"]))"
                text += lineEnd() + fields(upTo: 1) + lineEnd()
            }
            text += one(["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2"]) + " "
            text += one(["200 OK", "200 OK", "404", "204 No", "304 Not", "299  x", "20"])
            text += lineEnd() + fields(upTo: 3)
            let (field, body) = body()
            return text + field + fields(upTo: 2) + lineEnd() + body
        }

        /// Changes some bytes.
        mutating func mutate(_ bytes: inout [UInt8]) {
            let special = Array("\r\n\0 \t:;,0149aFxH\u{7F}".utf8) + [0xFF]
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &random)
                let byte = special.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[index] = byte
                case 1: bytes.insert(byte, at: index)
                case 2: bytes.remove(at: index)
                case 3:
                    let end = Int.random(in: index...bytes.count, using: &random)
                    bytes.insert(contentsOf: bytes[index..<end].prefix(12), at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                }
            }
        }

        mutating func splits(of count: Int) -> [Int] {
            guard count > 1 else { return [] }
            return (0..<Int.random(in: 1...6, using: &random))
                .map { _ in Int.random(in: 1..<count, using: &random) }.sorted()
        }
    }

    @Test(arguments: 0..<8)
    func parsersAgree(seed: UInt64) {
        var generator = Generator(random: SeededGenerator(seed: seed))
        var cache = FieldCache()
        // A kept connection uses its parser again.
        var parser = ResponseParser()
        var outcomes: [String: Int] = [:]
        for round in 0..<1500 {
            let text = generator.response()
            var bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            if round % 2 == 1 { generator.mutate(&bytes) }
            let isHead = round % 16 == 0
            let expected = NaiveParser.parse(bytes, isHead: isHead)
            outcomes[expected.outcome, default: 0] += 1
            for splits in [[], generator.splits(of: bytes.count), Array(1..<max(1, bytes.count))] {
                let stream = ParsedStream(
                    ParsedStream.segments(bytes, splitAt: splits), isHead: isHead, ends: true,
                    parser: &parser, cache: &cache)
                guard NaiveParser.Result(stream) != expected else { continue }
                Issue.record(
                    "\(String(decoding: bytes, as: UTF8.self).debugDescription) split at \(splits): \(stream) instead of \(expected)"
                )
                return
            }
        }
        // The generator reaches every kind of result.
        for outcome in [
            "keeps", "closes", "head", "malformedChunk", "notHTTP", "truncatedHead",
            "truncatedBody",
        ] {
            #expect(outcomes[outcome, default: 0] > 5, "\(outcome)")
        }
    }
}
