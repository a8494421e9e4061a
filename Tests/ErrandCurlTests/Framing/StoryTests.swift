import Foundation
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Series of header blocks of one connection, written by other encoders.
///
/// `ERRAND_HPACK_STORIES` names a folder with more of them, in the format of hpack-test-case;
/// `Scripts/hpack-stories` sets it.
struct StoryTests {
    struct Story: Decodable, Sendable, CustomTestStringConvertible {
        struct Block: Decodable, Sendable {
            let wire: String
            let headers: [[String: String]]
            let header_table_size: Int?

            var fields: [String] { headers.flatMap { $0.map { "\($0): \($1)" } } }
        }

        var name = ""
        let cases: [Block]
        var testDescription: String { name }
        /// The size of the decoder's table: the largest one that the story uses.
        var tableSize: Int { max(4_096, cases.compactMap(\.header_table_size).max() ?? 0) }

        enum CodingKeys: String, CodingKey { case cases }
    }

    static let stories: [Story] = {
        var texts = SampleStories.all.map { ($0.name, Data($0.json.utf8)) }
        if let folder = ProcessInfo.processInfo.environment["ERRAND_HPACK_STORIES"] {
            let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
            for path in (paths ?? []).sorted() where path.hasSuffix(".json") {
                texts.append(
                    (path, FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data()))
            }
        }
        return texts.map { name, json in
            var story = (try? JSONDecoder().decode(Story.self, from: json)) ?? Story(cases: [])
            story.name = name
            return story
        }
    }()

    @Test(arguments: stories)
    func decoded(_ story: Story) {
        var decoder = HeaderDecoder(tableSize: story.tableSize)
        #expect(!story.cases.isEmpty)
        for block in story.cases {
            let bytes = HeaderDecoderTests.bytes(block.wire)
            #expect(HeaderDecoderTests.decode(bytes, &decoder) == block.fields)
        }
    }

    /// The same fields, written by the encoder.
    @Test(arguments: stories)
    func encoded(_ story: Story) {
        var encoder = HeaderEncoder()
        var naive = NaiveHPACK()
        for block in story.cases {
            let output = TextBuffer(capacity: 64)
            if let size = block.header_table_size { encoder.changeTableSize(to: size) }
            encoder.begin(isHead: true, into: output)
            for field in block.headers.flatMap({ $0 }) {
                guard let name = HTTPField.Name(parsed: field.key) else { continue }
                encoder.append(
                    HTTPField(name: name, lenientValue: field.value.utf8), into: output)
            }
            #expect(naive.decode(Array(output.contents))?.map(\.description) == block.fields)
        }
    }
}
