import ErrandJSON
import Foundation
import Testing

/// Errand's and Foundation's coders with the same configuration.
struct CoderPair {
    var decoder = JSONReader()
    var encoder = JSONWriter()
    let foundationDecoder = JSONDecoder()
    let foundationEncoder = JSONEncoder()

    init() {
        encoder.outputFormatting = .sortedKeys
        foundationEncoder.outputFormatting = .sortedKeys
    }

    enum Dates { case deferred, seconds, milliseconds, iso8601 }

    mutating func use(_ dates: Dates) {
        switch dates {
        case .deferred: return
        case .seconds:
            decoder.dateDecodingStrategy = .secondsSince1970
            encoder.dateEncodingStrategy = .secondsSince1970
        case .milliseconds:
            decoder.dateDecodingStrategy = .millisecondsSince1970
            encoder.dateEncodingStrategy = .millisecondsSince1970
        case .iso8601:
            decoder.dateDecodingStrategy = .iso8601
            encoder.dateEncodingStrategy = .iso8601
        }
        foundationDecoder.dateDecodingStrategy = decoder.dateDecodingStrategy
        foundationEncoder.dateEncodingStrategy = encoder.dateEncodingStrategy
    }

    mutating func deferData() {
        decoder.dataDecodingStrategy = .deferredToData
        encoder.dataEncodingStrategy = .deferredToData
        foundationDecoder.dataDecodingStrategy = .deferredToData
        foundationEncoder.dataEncodingStrategy = .deferredToData
    }

    mutating func convertSnakeCase() {
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        encoder.keyEncodingStrategy = .convertToSnakeCase
        foundationDecoder.keyDecodingStrategy = .convertFromSnakeCase
        foundationEncoder.keyEncodingStrategy = .convertToSnakeCase
    }

    /// Expects the same text, or errors with the same coding path.
    func compareEncoding(_ value: some Encodable) {
        let expected = Result {
            String(decoding: try foundationEncoder.encode(value), as: UTF8.self)
        }
        let found = Result { String(decoding: try encoder.encode(value), as: UTF8.self) }
        switch (expected, found) {
        case (.success(let left), .success(let right)): #expect(left == right)
        case (.failure(let left), .failure(let right)): #expect(location(left) == location(right))
        default: Issue.record("\(value): \(found), Foundation \(expected)")
        }
    }

    /// Expects the same value, or errors of the same kind with the same coding path.
    func compareDecoding<T: Decodable & Equatable>(_ type: T.Type, _ text: String) {
        let data = Data(text.utf8)
        let expected = Result { try foundationDecoder.decode(type, from: data) }
        let found = Result { try decoder.decode(type, from: data) }
        switch (expected, found) {
        case (.success(let left), .success(let right)):
            #expect(left == right, "\(type) from \(text)")
        case (.failure(let left), .failure(let right)):
            // Foundation's error for a number out of range has no coding path.
            if location(left) == ["corrupted"], location(right).first == "corrupted" { return }
            #expect(location(left) == location(right), "\(type) from \(text)")
        default: Issue.record("\(type) from \(text): \(found), Foundation \(expected)")
        }
    }

    /// The kind of an error and its coding path.
    private func location(_ error: any Error) -> [String] {
        func path(_ kind: String, _ context: DecodingError.Context) -> [String] {
            [kind]
                + context.codingPath.map { $0.stringValue + ($0.intValue.map { "/\($0)" } ?? "") }
        }
        return switch error {
        case DecodingError.dataCorrupted(let context): path("corrupted", context)
        case DecodingError.keyNotFound(let key, let context):
            path("missing \(key.stringValue)", context)
        case DecodingError.typeMismatch(let type, let context): path("mismatch \(type)", context)
        case DecodingError.valueNotFound(let type, let context): path("null \(type)", context)
        case EncodingError.invalidValue(_, let context):
            context.codingPath.map { $0.stringValue + ($0.intValue.map { "/\($0)" } ?? "") }
        default: ["\(error)"]
        }
    }
}
