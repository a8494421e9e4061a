import ErrandHTTP
import ErrandJSON
import ErrandRecording
import ErrandSystem

/// How a ``CassetteTransport`` finds the recording for a request.
///
/// Method and URL must be equal, with the arguments of the query in any order. Bodies must be equal: JSON by value,
/// so that white space and the order of members do not matter, forms by fields, others by bytes.
public struct CassetteMatching: Sendable {
    /// Whether requests must be sent in the order in which they were recorded.
    ///
    /// Default false: each request gets the first recording that it matches and that was not used.
    public var requiresOrder = false
    /// Whether the last matching recording is delivered again, when all of them were used.
    ///
    /// Default false.
    public var repeatsLast = false
    /// Names of headers whose values must be equal too; letter case does not matter.
    ///
    /// Default none.
    public var headers: Set<String> = []
    /// Whether bodies must be equal.
    ///
    /// Default true.
    public var comparesBodies = true
    /// Whether scheme, host and port must be equal.
    ///
    /// Default true.
    ///
    /// Set it to false to replay a recording of one server for another one.
    public var comparesHosts = true
    /// Names of query arguments, form fields and JSON members whose values may differ, such as a time or a random
    /// identifier.
    ///
    /// Default none.
    public var ignoredNames: Set<String> = []

    /// Creates the rules with their default values.
    public init() {}

    /// What differs between a request and a recording, in the order of its importance; empty if they match.
    func differences(_ request: HAR.Request, _ recording: HAR.Request) -> [Difference] {
        var found: [Difference] = []
        if request.method != recording.method { found.append(.method) }
        let (url, recorded) = (
            try? HTTPURL(parsing: request.url), try? HTTPURL(parsing: recording.url)
        )
        if comparesHosts, url?.origin != recorded?.origin { found.append(.host) }
        if path(url) != path(recorded) { found.append(.path) }
        if pairs(url?.query) != pairs(recorded?.query) { found.append(.query) }
        for name in headers.sorted() where values(name, request) != values(name, recording) {
            found.append(.header(name))
        }
        if comparesBodies, !isEqual(request.postData, recording.postData) { found.append(.body) }
        return found
    }

    /// A part of a request that can differ.
    enum Difference: Hashable, CustomStringConvertible {
        case method, host, path, query, header(String), body

        /// How much the difference counts when the nearest recording is searched.
        var weight: Int {
            switch self {
            case .path: 16
            case .host: 8
            case .method: 4
            case .query, .body: 2
            case .header: 1
            }
        }

        var description: String {
            switch self {
            case .method: "the method"
            case .host: "scheme, host or port"
            case .path: "the path"
            case .query: "the query"
            case .header(let name): "the header \(name)"
            case .body: "the body"
            }
        }
    }

    private func path(_ url: HTTPURL?) -> String? {
        guard let path = url?.path else { return nil }
        return path.isEmpty ? "/" : path
    }

    /// The pairs of a query or a form, without ignored values, in an order that does not depend on theirs.
    private func pairs(_ text: String?) -> [String] {
        (text ?? "").pieces(at: "&").map { pair in
            let name = pair.prefix(upToByte: "=")
            return ignoredNames.contains(String(name)) ? String(name) : String(pair)
        }.sorted()
    }

    private func values(_ name: String, _ request: HAR.Request) -> [String] {
        request.headers.filter { $0.name.lowercasedASCII() == name.lowercasedASCII() }.map(\.value)
    }

    private func isEqual(_ body: HAR.PostData?, _ recorded: HAR.PostData?) -> Bool {
        if fields(body) != nil || fields(recorded) != nil {
            return fields(body) == fields(recorded)
        }
        let (text, other) = (body?.text ?? "", recorded?.text ?? "")
        if text == other { return true }
        guard let json = try? JSON(parsing: text), let otherJSON = try? JSON(parsing: other) else {
            return false
        }
        return canonical(json) == canonical(otherJSON)
    }

    /// The fields of a form; `nil` for other bodies.
    private func fields(_ body: HAR.PostData?) -> [HAR.Param]? {
        guard let body, let params = body.params, !params.isEmpty else { return nil }
        return params.map { param in
            var param = param
            (param.size, param.comment) = (nil, nil)
            // Contents of files are not compared: other tools do not record them.
            if ignoredNames.contains(param.name) || param.fileName != nil {
                (param.value, param.encoding) = (nil, nil)
            }
            return param
        }
    }

    /// The value with sorted members, and without ignored ones.
    private func canonical(_ json: JSON) -> JSON {
        if let members = json.object {
            return JSON(
                members: members.filter { !ignoredNames.contains($0.key) }
                    .sorted { $0.key < $1.key }.map { ($0.key, canonical($0.value)) })
        }
        if let elements = json.array { return JSON(elements.map(canonical)) }
        return json
    }
}

/// The recordings of a cassette, and which of them were used.
///
/// A pure value.
struct CassetteState: Sendable {
    private struct Recording: Sendable {
        var entry: HAR.Entry
        var isUsed = false
    }

    private var recordings: [Recording]
    private let matching: CassetteMatching

    init(_ entries: [HAR.Entry], _ matching: CassetteMatching) {
        // Responses from a cache were not sent.
        recordings = entries.filter { $0.fromCache == nil }.map { Recording(entry: $0) }
        self.matching = matching
    }

    /// The result of a search.
    enum Match: Sendable {
        case recording(HAR.Entry)
        /// None; with a description of the nearest one.
        case none(String)
    }

    /// Uses the recording for a request.
    mutating func take(_ request: HAR.Request) -> Match {
        if matching.requiresOrder { return takeNext(request) }
        var last: HAR.Entry?
        for index in recordings.indices
        where matching.differences(request, recordings[index].entry.request).isEmpty {
            if !recordings[index].isUsed {
                recordings[index].isUsed = true
                return .recording(recordings[index].entry)
            }
            last = recordings[index].entry
        }
        guard let last else { return .none(nearest(to: request)) }
        if matching.repeatsLast { return .recording(last) }
        return .none(
            "Each of its recordings was used already. Record the request as often as it is sent, or set "
                + "repeatsLast.")
    }

    private mutating func takeNext(_ request: HAR.Request) -> Match {
        guard let index = recordings.firstIndex(where: { !$0.isUsed }) else {
            return .none("All \(recordings.count) recordings were used already.")
        }
        let next = recordings[index].entry
        let differences = matching.differences(request, next.request)
        guard differences.isEmpty else {
            return .none("The next recording is \(Self.name(next)). \(Self.sentence(differences))")
        }
        recordings[index].isUsed = true
        return .recording(next)
    }

    /// Adds a recording that was used when it was made.
    mutating func add(_ entry: HAR.Entry) {
        recordings.append(Recording(entry: entry, isUsed: true))
    }

    /// The recordings that no request has used, as method and URL.
    var unused: [String] { recordings.filter { !$0.isUsed }.map { Self.name($0.entry) } }

    private func nearest(to request: HAR.Request) -> String {
        let ranked = recordings.map { recording in
            (recording.entry, matching.differences(request, recording.entry.request))
        }
        let best = ranked.min { one, other in
            one.1.reduce(0) { $0 + $1.weight } < other.1.reduce(0) { $0 + $1.weight }
        }
        guard let (entry, differences) = best else { return "The cassette is empty." }
        return "The nearest recording is \(Self.name(entry)). \(Self.sentence(differences))"
    }

    static func name(_ entry: HAR.Entry) -> String {
        let url = (try? HTTPURL(parsing: entry.request.url))?.redacted ?? entry.request.url
        return "\(entry.request.method) \(url)"
    }

    private static func sentence(_ differences: [CassetteMatching.Difference]) -> String {
        let names = differences.map(\.description)
        guard let last = names.last else { return "" }
        let all = names.count > 1 ? names.dropLast().joined(separator: ", ") + " and " + last : last
        return all.prefix(1).uppercasedASCII() + all.dropFirst()
            + (names.count > 1 ? " differ." : " differs.")
    }
}
