import ErrandJSON
import Foundation
import Testing

/// Enumerations that keep a raw value without a case as `unknown`.
struct TolerantEnumTests {
    private enum State: String, Codable, TolerantEnum { case open, closed, unknown }
    private enum Level: Int, Codable, TolerantEnum {
        case low = 1
        case high = 2
        case unknown = -1
    }
    private struct Issue: Codable {
        var state: State
        var level: Level?
    }

    private func issue(_ json: String) throws -> [Issue] {
        [
            try JSONReader().decode(Issue.self, from: Data(json.utf8)),
            try JSONDecoder().decode(Issue.self, from: Data(json.utf8)),
        ]
    }

    @Test func rawValuesWithoutACaseAreUnknown() throws {
        for issue in try issue(#"{"state": "merged", "level": 7}"#) {
            #expect(issue.state == .unknown && issue.level == .unknown)
        }
        for issue in try issue(#"{"state": "closed", "level": 2}"#) {
            #expect(issue.state == .closed && issue.level == .high)
        }
    }

    @Test func otherTypesAndMissingValuesAreErrors() {
        for text in [
            #"{"state": 1}"#, #"{"state": null}"#, "{}", #"{"state": "open", "level": "2"}"#,
        ] {
            #expect(throws: DecodingError.self) { try issue(text) }
        }
    }
}
