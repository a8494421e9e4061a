import Dispatch
import Errand
import Foundation

/// Endpoints in actors and in nonisolated code.
actor Worker {
    // An endpoint is used by the actor that created it.
    private let held = GetUser(id: 7)
    private(set) var nicks: [String] = []

    func run() async throws {
        let user = try await held.value()
        nicks.append(user.nick)
        try await held.send(on: RequestAgent()) { $0.priority = .low }
        let results = try await BatchRequest([GetUser(id: 1), GetUser(id: 2)]).send()
        nicks.append("\(results.count)")
    }
}

nonisolated func fetchAll(_ ids: [Int]) async throws -> [String] {
    try await withThrowingTaskGroup(of: String.self) { group in
        for id in ids {
            group.addTask { try await GetUser(id: id).value().nick }
        }
        var nicks: [String] = []
        for try await nick in group { nicks.append(nick) }
        return nicks
    }
}

nonisolated func fireAndForget(_ queue: DispatchQueue) -> RequestTask {
    InlineRequest.start(InlineRequest("https://api.example.com/ping"), queue: queue) { _ in
    } failure: { _, _ in
    }
}

nonisolated func agents() async throws {
    var configuration = Configuration(baseURL: "https://a.example", cdnURL: "https://cdn.example")
    configuration.sharedHeaders[.acceptLanguage] = "en"
    configuration.sharedArguments = ["app": "client"]
    configuration.headerProvider = { [.authorization: "Bearer token"] }
    configuration.prepare = { $0.url = "\($0.url)?v=1" }
    let session = Session()
    configuration.authenticators = [
        "api.example.com": .bearer {
            await session.token
        } refresh: {
            try await session.renew()
        },
        "*.example.com": .apiKey("key", in: .query("key")), "own.example.com": Signature(key: "k"),
    ]
    configuration.authenticators["a.example.com"] = .bearer("token")
    configuration.authenticators["b.example.com"] = .bearer(refreshTimeout: .seconds(5)) {
        await session.token
    } refresh: {
        try await session.renew()
    } cacheIdentity: {
        "user"
    }
    configuration.responseProcessors = [BusinessCheck().process, { _ in }]
    configuration.responseProcessors.append { response in
        let text = try await decrypted(response.data)
        response.body = .data(text)
    }
    configuration.responseProcessors.append { $0.headers[.from] = "a" }
    configuration.requestProcessors.append { request, description, attempt in
        guard attempt > 1 else { return }
        request.headers[.from] = description.endpoint
    }
    configuration.errorProcessors.append { error in
        if error.attempts > 1 { error.message += " Call support." }
    }
    configuration.userMessage = { error in
        switch error.code {
        case .offline: "There is no network."
        case .unacceptableStatus: error.response?.json["message"].string
        default: nil
        }
    }
    configuration.interceptors.append { request, next in
        let response = try await next(request)
        print(next.description.endpoint, response.status)
        return response
    }
    configuration.eventListeners = [Printer()]
    let urlSession = RequestAgent(configuration: configuration, transport: URLSessionTransport())
    let inMemory = RequestAgent(configuration: configuration, store: MemoryResponseStore())
    _ = try await GetUser(id: 1).value(on: urlSession)
    urlSession.cancel(tag: 7)
    await inMemory.shutdown()
}

nonisolated struct Printer: RequestEventListener {
    func handle(_ event: RequestEvent) {
        if case .cacheHit(let age, _) = event.kind { print(event.endpoint, age) }
    }
}

nonisolated func decrypted(_ data: Data) async throws -> Data { data }

actor Session {
    var token: String? = "first"
    func renew() throws { token = "second" }
}

nonisolated final class Signature: Authenticator {
    private let key: String
    init(key: String) { self.key = key }
    func apply(to request: inout TransportRequest) async throws {
        request.headers[.authorization] = "Signature \(key)"
    }
}
