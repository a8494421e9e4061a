import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Runs the cache step before a scripted step that replaces the rest of the pipeline.
final class CacheStepFixture: Sendable {
    let clock = ManualClock()
    let events = EventRecorder()
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

    /// Lets the validator throw this error from now on; `nil` accepts every response.
    func rejectEverything(with error: RequestError?) { rejection.withLock { $0 = error } }

    func pipelineRequest() -> PipelineRequest {
        var configuration = Configuration()
        configuration.eventListeners = [events]
        let task = RequestTask.forTest(
            description: description.withLock { $0 }, configuration: configuration, store: store,
            clock: clock)
        let url = HTTPURL(scheme: "http", host: "a", path: "/b")
        return PipelineRequest(task: task, request: TransportRequest(url: url))
    }

    func run() async throws(RequestError) -> Response {
        let step = CacheStep(writes: writes) { [self] (_, _) throws(RequestError) in
            if let error = rejection.withLock({ $0 }) { throw error }
        }
        return try await Next([step, network])(pipelineRequest())
    }

    func key() throws -> CacheKey { try #require(cacheKey(for: pipelineRequest())) }
}

/// The last step of a pipeline: returns scripted results in order and repeats the last one.
final class ScriptedStep: Step {
    typealias StepResult = Result<Response, RequestError>
    private let state = Mutex((results: [StepResult](), requests: [PipelineRequest]()))

    func respond(with results: StepResult...) { state.withLock { $0.results = results } }

    func respond(with text: String) { respond(with: .success(Self.response(text))) }

    static func response(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/plain"], body: .data(Data(text.utf8)),
            url: HTTPURL(scheme: "http", host: "a", path: "/b"))
    }

    var requests: [PipelineRequest] { state.withLock { $0.requests } }

    func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let result = state.withLock { state in
            state.requests.append(pipelineRequest)
            return state.results.count > 1 ? state.results.removeFirst() : state.results.first
        }
        guard let result else {
            throw RequestError(.transportFailed, stage: .transport, "No result is scripted.")
        }
        return try result.get()
    }
}

extension EventRecorder {
    /// The cache and resume events so far, each as a short text.
    var summaries: [String] {
        events.compactMap { event -> String? in
            switch event.kind {
            case .cacheHit(let age, let source): "hit \(age.components.seconds) \(source.rawValue)"
            case .cacheMiss(let reason): "miss \(reason.rawValue)"
            case .cacheStored(let bytes): "stored \(bytes)"
            case .cacheWriteFailed(let error): "writeFailed \(error.code)"
            case .resumed(let offset): "resumed \(offset)"
            default: nil
            }
        }
    }
}
