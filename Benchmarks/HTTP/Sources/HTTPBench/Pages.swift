import Errand
import Foundation

/// The response of W3 and W3c as a type: about 20 KB of JSON.
struct Page: Decodable, Sendable {
    struct Address: Decodable, Sendable {
        var street, city, zip: String
        var geo: [Double]
    }

    struct Item: Decodable, Sendable {
        var id: Int
        var name, email: String
        var active: Bool
        var score: Double
        var balance: Int
        var tags: [String]
        var address: Address
        var note: String?
    }

    var page, total: Int
    var next: String?
    var items: [Item]
}

/// The endpoint of W3c, decoded by Errand.
final class GetPage: JSONRequest<Page> {
    let target: EndpointURL
    init(_ target: EndpointURL) { self.target = target }
    override var url: EndpointURL { target }
}

/// Fetches a page and reads it, with Errand's JSON or with Foundation's.
///
/// W3c decodes it to a type; W3 reads every value.
struct PageReader: Sendable {
    let job: Job
    let agent: RequestAgent

    /// Returns the number of items of the page; nil after a failure.
    func read() async -> Int? {
        switch (job.mode, job.workload) {
        case (.foundation, "W3c"):
            guard let data = await data() else { return nil }
            return try? JSONDecoder().decode(Page.self, from: data).items.count
        case (.foundation, _):
            guard let data = await data(),
                let object = try? JSONSerialization.jsonObject(with: data)
            else { return nil }
            return touch(object) > 0 ? items(object) : nil
        case (_, "W3c"):
            return try? await GetPage(job.url).value(on: agent).items.count
        default:
            guard let json = try? await Small(job.url).send(on: agent).json else { return nil }
            return touch(json) > 0 ? json["items"].count : nil
        }
    }

    private func data() async -> Data? {
        try? await Small(job.url).send(on: agent).data
    }

    private func items(_ object: Any) -> Int? {
        ((object as? [String: Any])?["items"] as? [Any])?.count
    }

    /// Reads every value and returns their number.
    private func touch(_ json: JSON) -> Int {
        switch json.kind {
        case .array, .object:
            var sum = 1
            for value in json { sum += touch(value) }
            return sum
        case .string: return json.string == nil ? 0 : 1
        case .number: return json.double == nil ? 0 : 1
        case .bool: return json.bool == nil ? 0 : 1
        case .null, .absent: return 1
        }
    }

    private func touch(_ object: Any) -> Int {
        switch object {
        case let dictionary as [String: Any]: dictionary.values.reduce(1) { $0 + touch($1) }
        case let array as [Any]: array.reduce(1) { $0 + touch($1) }
        case let string as String: min(string.utf8.count, 1)
        case let number as NSNumber: number.doubleValue.isNaN ? 0 : 1
        default: 1
        }
    }
}
