import ErrandCore
import Foundation
import HTTPTypes
import Testing

@Suite struct StoredThenLoadedTests {
    private static let events: [StoredThenLoaded.Event] = [
        .stored, .missed, .loaded(isChanged: true), .loaded(isChanged: false), .failed, .cancelled,
    ]

    /// All sequences of up to five events.
    private static var sequences: [[StoredThenLoaded.Event]] {
        var all: [[StoredThenLoaded.Event]] = [[]]
        var latest = all
        for _ in 0..<5 {
            latest = latest.flatMap { sequence in events.map { sequence + [$0] } }
            all += latest
        }
        return all
    }

    @Test func everySequenceHasAtMostOneDeliveryAndOneEnd() {
        for sequence in Self.sequences {
            var course = StoredThenLoaded()
            let actions = sequence.map { course.handle($0) }
            let ends = actions.indices.filter { if case .end = actions[$0] { true } else { false } }
            let deliveries = actions.indices.filter { actions[$0] == .deliverStored }
            let firstEnd = sequence.firstIndex { ![.stored, .missed].contains($0) }
            #expect(ends == [firstEnd].compactMap(\.self), "\(sequence)")
            #expect(course.hasEnded == (firstEnd != nil), "\(sequence)")
            // Only the first lookup counts, and only before the end.
            #expect(deliveries == (sequence.first == .stored ? [0] : []), "\(sequence)")
        }
    }

    @Test func endDependsOnTheStoredResponse() {
        func end(_ events: StoredThenLoaded.Event...) -> StoredThenLoaded.Action? {
            var course = StoredThenLoaded()
            return events.map { course.handle($0) }.last
        }
        #expect(end(.stored, .loaded(isChanged: true)) == .end(.loaded(isRepeated: false)))
        #expect(end(.stored, .loaded(isChanged: false)) == .end(.loaded(isRepeated: true)))
        #expect(end(.missed, .loaded(isChanged: false)) == .end(.loaded(isRepeated: false)))
        #expect(end(.stored, .failed) == .end(.storedRemains))
        #expect(end(.missed, .failed) == .end(.failure))
        #expect(end(.stored, .cancelled) == .end(.cancelled))
        #expect(end(.missed, .stored) == StoredThenLoaded.Action.none)
        #expect(end(.stored, .failed, .loaded(isChanged: true)) == StoredThenLoaded.Action.none)
    }

    // MARK: - Comparison

    private func response(
        _ text: String, _ headers: HTTPFields = [:], status: HTTPResponse.Status = .ok,
        source: Response.Source = .network
    ) throws -> Response {
        Response(
            status: status, headers: headers, body: .data(Data(text.utf8)),
            url: try HTTPURL(parsing: "https://a.example/"), source: source)
    }

    private func isChanged(_ loaded: Response, _ stored: Response) -> Bool {
        StoredThenLoaded.isChanged(loaded, from: stored)
    }

    @Test func bytesDecideWithoutValidators() throws {
        #expect(try !isChanged(response("a"), response("a")))
        #expect(try isChanged(response("b"), response("a")))
        #expect(try isChanged(response("a", status: .accepted), response("a")))
        #expect(try !isChanged(response("b", source: .revalidated), response("a")))
    }

    @Test func equalTagsIdentifyEqualContent() throws {
        #expect(try !isChanged(response("b", [.eTag: #"W/"1""#]), response("a", [.eTag: #""1""#])))
        #expect(try isChanged(response("b", [.eTag: #""2""#]), response("a", [.eTag: #""1""#])))
        #expect(try !isChanged(response("a", [.eTag: #""2""#]), response("a", [.eTag: #""1""#])))
        #expect(try isChanged(response("b", [.eTag: #""1""#]), response("a")))
    }

    @Test func lastModifiedCountsOnlyIfItIsStrong() throws {
        func headers(_ date: String) -> HTTPFields {
            [.lastModified: "Mon, 01 Jan 2024 00:00:00 GMT", .date: date]
        }
        let (soon, late) = (
            headers("Mon, 01 Jan 2024 00:00:59 GMT"), headers("Mon, 01 Jan 2024 00:01:00 GMT")
        )
        #expect(try !isChanged(response("b", late), response("a", late)))
        #expect(try isChanged(response("b", soon), response("a", late)))
        #expect(try isChanged(response("b", late), response("a", soon)))
    }
}
