import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import Testing

@testable import ErrandCore

/// Runs the download step against an in-process server that supports ranges.
final class DownloadStepFixture: Sendable {
    let directory: URL
    let server: RangeServer
    let events = EventRecorder()
    let clock = ManualClock()
    private let plan: Mutex<DownloadPlan>
    private let description = Mutex(RequestDescription(endpoint: "Test", url: "/f.bin"))

    /// - Parameter path: The folder of the files, which is deleted at the end; `nil` makes one.
    init(content: Data = DownloadStepFixture.bytes(100_000), in path: String? = nil) throws {
        directory =
            path.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-download-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        server = RangeServer(content: content)
        plan = Mutex(DownloadPlan(to: directory.appendingPathComponent("f.bin")))
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static func bytes(_ count: Int, seed: Int = 1) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed) >> 3) })
    }

    var destination: URL { plan.withLock { $0.destination } }
    var part: URL { directory.appendingPathComponent(".f.bin.errand-part") }
    var journal: URL { directory.appendingPathComponent(".f.bin.errand-journal") }

    func plan(_ change: (inout DownloadPlan) -> Void) { plan.withLock { change(&$0) } }
    func describe(_ change: (inout RequestDescription) -> Void) {
        description.withLock { change(&$0) }
    }

    func task() -> RequestTask {
        var description = description.withLock { $0 }
        description.download = plan.withLock { $0 }
        var configuration = Configuration()
        configuration.eventListeners = [events]
        return RequestTask.forTest(
            description: description, configuration: configuration, clock: clock)
    }

    @discardableResult
    func run(
        isCancelled: Bool = false, _ change: (inout TransportRequest) -> Void = { _ in }
    ) async throws(RequestError) -> Response {
        var request = TransportRequest(
            method: description.withLock { $0.method },
            url: HTTPURL(scheme: "http", host: "a", path: "/f.bin"))
        change(&request)
        let pipelineRequest = PipelineRequest(task: task(), request: request)
        if isCancelled { pipelineRequest.scope.cancel() }
        return try await steps(pipelineRequest)
    }

    /// The steps of a download; with retry if the endpoint has a policy for it.
    var steps: Next {
        let retry: [any Step] =
            description.withLock { $0.retryPolicy } == nil
            ? [] : [RetryStep(hostHealth: HostHealth())]
        return Next(
            [DownloadStep()] + retry + [DownloadAttemptStep(), ValidateStep(), server])
    }

    func runToError(isCancelled: Bool = false) async -> RequestError? {
        do throws(RequestError) {
            try await run(isCancelled: isCancelled)
            return nil
        } catch {
            return error
        }
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
    }

    func content(_ name: String = "f.bin") -> Data? {
        try? Data(contentsOf: directory.appendingPathComponent(name))
    }
}

/// The last step of the pipeline: responds like a server, and drives the sink like a transport.
final class RangeServer: Step {
    struct State: Sendable {
        var content: Data
        var headers: HTTPFields = [.eTag: "\"v1\""]
        /// After how many body bytes the connection breaks; each element is used for one response.
        var cuts: [Int] = []
        /// Responses in place of the content; each element is used once.
        var scripted: [(status: Int, headers: HTTPFields, body: Data)?] = []
        var supportsRanges = true
        var sendsContentLength = true
        /// The `Content-Length` in place of the length of the body.
        var wrongLength: Int64?
        /// The longest range that one response sends.
        var longestRange = Int.max
        var requests: [TransportRequest] = []
        var onBody: (@Sendable () -> Void)?
        /// Called after each chunk with the number of body bytes so far.
        var onChunk: (@Sendable (Int) -> Void)?
        /// The number of body bytes of all responses.
        var sentBytes = 0
        var chunkSize = 7000
        /// The status of a request by its number, from 1, and its `Range`; `nil` for a usual response.
        var status: (@Sendable (_ number: Int, _ range: String?) -> Int?)?
        /// The fields of a response with a status of ``status``.
        var statusHeaders: HTTPFields = [:]
        /// After how many body bytes the connection breaks, by the number of the request.
        var cut: (@Sendable (_ number: Int) -> Int?)?
        /// Changes the server before it responds to a request.
        var onRequest: (@Sendable (_ number: Int, _ state: inout State) -> Void)?
        /// Called with the number of a request, after its head was accepted.
        var beforeBody: (@Sendable (_ number: Int) async -> Void)?
        /// Whether the body of the first response waits until the second request has its response.
        var firstWaits = false
    }

    private let state: Mutex<State>
    private let secondResponse = Gate()

    init(content: Data) { state = Mutex(State(content: content)) }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    /// The number of body bytes of all responses.
    var sent: Int { state.withLock { $0.sentBytes } }
    var requests: [TransportRequest] { state.withLock { $0.requests } }
    /// The `Range` of each request; `-` for a request without one.
    var ranges: [String] { requests.map { $0.headers[.range] ?? "-" } }

    func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        let (head, body, cut, onBody, onChunk, number, waits) = state.withLock { state in
            state.requests.append(pipelineRequest.request)
            if let change = state.onRequest { change(state.requests.count, &state) }
            let (head, body) = Self.makeResponse(pipelineRequest.request, &state)
            var cut = state.cuts.isEmpty || head.status.code >= 400 ? nil : state.cuts.removeFirst()
            if let other = state.cut?(state.requests.count), head.status.code < 400 { cut = other }
            return (
                head, body, cut, state.onBody, state.onChunk, state.requests.count,
                state.firstWaits && state.requests.count == 1
            )
        }
        onBody?()
        defer { if number > 1 { secondResponse.open() } }
        return try await deliver(head, body, cut: cut, pipelineRequest, onChunk) { [self] in
            if waits { await untilAlone(pipelineRequest) }
            await state.withLock { $0.beforeBody }?(number)
        }
    }

    /// Waits until the second response has had its effect on the download.
    private func untilAlone(_ pipelineRequest: PipelineRequest) async {
        try? await secondResponse.passed()
        let session = pipelineRequest.download
        while session?.state.withLock({ $0.planner.activeCount > 1 }) == true,
            !pipelineRequest.scope.isCancelled
        {
            await Task.yield()
        }
    }

    private static func makeResponse(
        _ request: TransportRequest, _ state: inout State
    ) -> (ResponseHead, Data) {
        if !state.scripted.isEmpty, let scripted = state.scripted.removeFirst() {
            let head = ResponseHead(
                status: .init(code: scripted.status), headers: scripted.headers,
                contentLength: Int64(scripted.body.count))
            return (head, scripted.body)
        }
        if let status = state.status?(state.requests.count, request.headers[.range]) {
            let head = ResponseHead(
                status: .init(code: status), headers: state.statusHeaders, contentLength: 4)
            return (head, Data("busy".utf8))
        }
        let total = state.content.count
        var head = ResponseHead(status: .ok, headers: state.headers)
        var body = state.content
        let isCurrent =
            request.headers[.ifRange] == nil || request.headers[.ifRange] == state.headers[.eTag]
            || request.headers[.ifRange] == state.headers[.lastModified]
        let bounds = request.headers[.range]?.dropFirst(6).split(
            separator: "-", omittingEmptySubsequences: false)
        if state.supportsRanges, isCurrent, let bounds, let offset = Int(bounds[0]) {
            let limit = Int(bounds[1]).map { min($0 + 1, total) } ?? total
            if offset >= total {
                head.status = .init(code: 416)
                head.headers[.contentRange] = "bytes */\(total)"
                body = Data("<html>416</html>".utf8)
            } else {
                let end = min(limit, offset + min(state.longestRange, total))
                head.status = .partialContent
                head.headers[.contentRange] = "bytes \(offset)-\(end - 1)/\(total)"
                body = state.content[offset..<end]
            }
        }
        head.contentLength =
            state.sendsContentLength ? state.wrongLength ?? Int64(body.count) : nil
        return (head, body)
    }

    private func deliver(
        _ head: ResponseHead, _ body: Data, cut: Int?, _ pipelineRequest: PipelineRequest,
        _ onChunk: (@Sendable (Int) -> Void)?, beforeBody: () async -> Void
    ) async throws(RequestError) -> Response {
        func response(_ body: Response.Body) -> Response {
            Response(
                status: head.status, headers: head.headers, body: body,
                url: pipelineRequest.request.url)
        }
        func failed(_ error: RequestError) -> RequestError {
            var error = error
            error.response = error.response ?? response(.data(Data()))
            return error
        }
        guard let sink = pipelineRequest.sink else { return response(.data(body)) }
        switch sink.accept(head) {
        case .failure(let error): throw failed(error)
        case .success(false): return response(.data(body))
        case .success(true): break
        }
        await beforeBody()
        let sent = Data(body.prefix(cut ?? .max))
        let chunkSize = state.withLock { $0.chunkSize }
        var rest = sent[...]
        while !rest.isEmpty {
            if pipelineRequest.scope.isCancelled { throw failed(.cancelled) }
            let chunk = rest.prefix(chunkSize)
            state.withLock { $0.sentBytes += chunk.count }
            var isEnough = false
            switch chunk.withUnsafeBytes({ sink.write($0) }) {
            case .failure(let error): throw failed(error)
            case .success(let wantsMore): isEnough = !wantsMore
            }
            rest = rest.dropFirst(chunk.count)
            onChunk?(sent.count - rest.count)
            if isEnough { return response(try sink.finish(nil).get()) }
        }
        let broken = RequestError(.connectionLost, stage: .transport, "The connection was cut.")
        switch sink.finish(cut == nil ? nil : broken) {
        case .failure(let error): throw failed(error)
        case .success(let body): return response(body)
        }
    }
}
