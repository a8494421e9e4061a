import ErrandCore
import Foundation
import Synchronization
import Testing

/// A pipeline of the cache step and a scripted rest.
final class CacheWorld: Sendable {
    let clock = FixedClock()
    let events = EventList()
    let network = ScriptedStep()
    let writes = PendingCacheWrites()
    let store: (any ResponseStore)?
    private let rejection = Mutex<RequestError?>(nil)
    private let description = Mutex(RequestDescription(endpoint: "Test", url: "/b"))

    init(store: (any ResponseStore)? = MemoryResponseStore()) throws {
        self.store = store
        describe { $0.cacheSeconds = 60 }
    }

    func describe(_ change: (inout RequestDescription) -> Void) {
        description.withLock { change(&$0) }
    }

    /// What the validator says from now on.
    func rejectEverything(with error: RequestError?) { rejection.withLock { $0 = error } }

    func exchange() -> Exchange {
        var configuration = Configuration()
        configuration.eventListeners = [events]
        let context = TaskContext(
            id: UUID(), description: description.withLock { $0 }, configuration: configuration,
            transport: NoTransport(), store: store, clock: clock)
        let url = URI(scheme: "http", host: "a", path: "/b")
        return Exchange(context: context, request: TransportRequest(url: url))
    }

    func run() async throws(RequestError) -> Response {
        let step = CacheStep(writes: writes) { [self] (_, _) throws(RequestError) in
            if let error = rejection.withLock({ $0 }) { throw error }
        }
        return try await Next([step, network])(exchange())
    }

    func key() throws -> CacheKey { try #require(cacheKey(for: exchange())) }
}

/// The rest of the pipeline: answers in order, the last one again and again.
final class ScriptedStep: Step {
    typealias Answer = Result<Response, RequestError>
    private let state = Mutex((answers: [Answer](), seen: [Exchange]()))

    func answer(_ answers: Answer...) { state.withLock { $0.answers = answers } }

    func answer(_ text: String) { answer(.success(Self.response(text))) }

    static func response(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain"], body: .data(Data(text.utf8)),
            url: URI(scheme: "http", host: "a", path: "/b"))
    }

    var seen: [Exchange] { state.withLock { $0.seen } }

    func run(_ exchange: Exchange, next: Next) async throws(RequestError) -> Response {
        let answer = state.withLock { state in
            state.seen.append(exchange)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first
        }
        guard let answer else {
            throw RequestError(.transportFailed, stage: .transport, "Nothing is scripted.")
        }
        return try answer.get()
    }
}

/// Keeps what happened, as short words.
final class EventList: RequestEventListener {
    private let words = Mutex<[String]>([])

    var all: [String] { words.withLock { $0 } }

    func handle(_ event: RequestEvent) {
        let word: String? =
            switch event.kind {
            case .cacheHit(let age, let source): "hit \(age.components.seconds) \(source.rawValue)"
            case .cacheMiss(let reason): "miss \(reason.rawValue)"
            case .cacheStored(let bytes): "stored \(bytes)"
            case .cacheWriteFailed(let error): "writeFailed \(error.code)"
            case .resumed(let offset): "resumed \(offset)"
            default: nil
            }
        if let word { words.withLock { $0.append(word) } }
    }
}

final class FixedClock: RequestClock {
    private let seconds = Mutex(1_000_000.0)

    func advance(_ by: Double) { seconds.withLock { $0 += by } }

    var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
    var uptime: Duration { .seconds(seconds.withLock { $0 }) }
    func sleep(for duration: Duration) async throws { advance(duration / .seconds(1)) }
}

/// Stands where a transport must stand; nobody calls it.
struct NoTransport: Transport {
    var name: String { "none" }
    func check(_ request: TransportRequest) throws(RequestError) {}
    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        receiver.didEnd(TransferEnd(error: .cancelled))
        return Ended()
    }
    func shutDown() {}

    final class Ended: Transfer {
        func cancel() {}
        func resumeReceiving() {}
    }
}

/// A store that can be told to fail, and to wait.
final class FailingStore: ResponseStore {
    let inner = MemoryResponseStore()
    private let failure = Mutex<(reads: RequestError?, writes: RequestError?)>((nil, nil))
    private let gate = Mutex<(isClosed: Bool, waiting: [CheckedContinuation<Void, Never>])>(
        (false, []))

    func fail(reads: RequestError? = nil, writes: RequestError? = nil) {
        failure.withLock { $0 = (reads, writes) }
    }

    func closeForWrites() { gate.withLock { $0.isClosed = true } }

    func openForWrites() {
        let waiting = gate.withLock { gate in
            gate.isClosed = false
            defer { gate.waiting = [] }
            return gate.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        if let error = failure.withLock({ $0.reads }) { throw error }
        return try await inner.entry(for: key)
    }

    func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        await withCheckedContinuation { continuation in
            let mustWait = gate.withLock { gate in
                if gate.isClosed { gate.waiting.append(continuation) }
                return gate.isClosed
            }
            if !mustWait { continuation.resume() }
        }
        if let error = failure.withLock({ $0.writes }) { throw error }
        try await inner.store(entry, for: key)
    }

    func remove(_ key: CacheKey) async throws(RequestError) { try await inner.remove(key) }

    func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) { try await inner.removeAll(where: predicate) }

    func entries() async throws(RequestError) -> [StoredEntryInfo] { try await inner.entries() }
}
