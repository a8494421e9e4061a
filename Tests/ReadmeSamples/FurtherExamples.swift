import Errand
import Foundation

// The README's further examples, word for word. A test compares the texts, another one runs them.

@MainActor
final class Profile {
    var title = ""
    var lines: [String] = []

    func closures() {
        // From the main actor, with closures: they get the subclass, and run on the main actor.
        Register(name: "amelia", password: "earhart").start { request in
            self.title = "passenger \(request.userId ?? 0)"
        } failure: { _, error in
            self.title = "\(error)"
        }
    }

    func awaiting() async throws {
        // From anywhere, with await.
        let response = try await Register(name: "amelia", password: "earhart").send()
        let user = try await GetUser(id: 7).value()
        // Without a class of its own.
        let ping = try await InlineRequest("/ping") { $0.method = .head }.send()
        lines = ["\(response.statusCode)", user.nick, "\(ping.statusCode)"]
    }

    func cached() async throws {
        let request = GetUser(id: 7)
        request.ignoresCache = true  // this once: ask the server, and store the answer
        try await request.send()
        lines = [request.response?.source.rawValue ?? ""]  // network, cacheFresh, …
    }

    func errors() async throws {
        do {
            try await Register(name: "amelia", password: "earhart").send()
        } catch {
            // One type, without a cast. Printing it shows no headers, no bodies, no query.
            switch error.code {
            case .shapeMismatch: title = error.shapeFault?.path ?? ""  // $['userId']
            case .unacceptableStatus: title = error.response?.json["message"].string ?? ""
            case .cancelled: return
            default: title = error.message  // what happened and what to do
            }
        }
    }

    func composites(at folder: URL) async throws {
        let (user, photo) = try await BatchRequest.values(GetUser(id: 7), Photo(in: folder))

        let chain = ChainRequest()
        chain.add(Register(name: "amelia", password: "earhart"))
            .then { register in GetUser(id: register.userId ?? 0) }
        try await chain.send()
        lines = [user.nick, photo.lastPathComponent, "\(chain.requests.count)"]
    }
}

final class Photo: DownloadRequest {
    let folder: URL
    init(in folder: URL) { self.folder = folder }

    override var url: String { "/photos/sunset.jpg" }
    override var usesCDN: Bool { true }
    override var destination: URL { folder.appendingPathComponent("sunset.jpg") }
}

func agents() -> [RequestAgent] {
    var configuration = Configuration(baseURL: "https://api.example.com")
    configuration.sharedHeaders[.acceptLanguage] = "en"
    configuration.retryPolicy = .attempts(3)
    // The platform's own: libcurl on Linux, URLSession on Apple systems. Answers stay in memory.
    let usual = RequestAgent(configuration: configuration)
    // Another transport, another store: one line.
    let other = RequestAgent(
        configuration: configuration, transport: URLSessionTransport(), store: nil)
    return [usual, other]
}
