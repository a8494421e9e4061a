import Errand
import Foundation

/// Requests with stored responses: by cache time (the workload `hit`), or by `Cache-Control` (`hit-http`).
struct CacheHits {
    /// The number of stored responses; the requests read them in turn.
    private static let entries = 100

    let job: Job
    private let agent: RequestAgent
    private let folder: URL?

    init(job: Job, transport: CurlTransport) {
        self.job = job
        if job.mode == .sqlite {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("errand-hits-\(ProcessInfo.processInfo.processIdentifier)")
            // Without entries in memory, so that each request reads the file.
            let store = SQLiteResponseStore(
                url: folder.appendingPathComponent("cache.sqlite"), maximumMemoryBytes: 0)
            self.folder = folder
            agent = RequestAgent(transport: transport, store: store)
        } else {
            folder = nil
            agent = RequestAgent(transport: transport, store: MemoryResponseStore())
        }
    }

    /// Stores the responses; returns whether all of them came from the network.
    func prepare() async -> Bool {
        for index in 0..<Self.entries where await source(index) != .network { return false }
        // Queued writes are read without the store.
        await agent.flushCache()
        return true
    }

    /// Returns the number of requests without a stored response, and the median of their times in microseconds.
    func run() async -> (bad: Int, median: Double) {
        var bad = 0
        var times: [Duration] = []
        times.reserveCapacity(job.count)
        for index in 0..<job.count {
            let start = ContinuousClock.now
            let source = await source(index % Self.entries)
            times.append(ContinuousClock.now - start)
            if source != .cacheFresh { bad += 1 }
        }
        times.sort()
        return (bad, times[times.count / 2] / .microseconds(1))
    }

    func removeFiles() {
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    private func source(_ index: Int) async -> Response.Source? {
        let request: BaseRequest =
            job.workload == "hit-http" ? ByServer(job.url, index) : ByTime(job.url, index)
        guard let response = try? await request.send(on: agent), response.data.count == job.size
        else { return nil }
        return response.source
    }
}

/// A response that is used for an hour.
private final class ByTime: BaseRequest {
    let target: EndpointURL
    let id: Int

    init(_ target: EndpointURL, _ id: Int) { (self.target, self.id) = (target, id) }

    override var url: EndpointURL { target }
    override var arguments: Arguments? { ["id": id] }
    override var cacheSeconds: Int { 3600 }
}

/// A response that is used as long as its header fields allow.
private final class ByServer: BaseRequest {
    let target: EndpointURL
    let id: Int

    init(_ target: EndpointURL, _ id: Int) { (self.target, self.id) = (target, id) }

    override var url: EndpointURL { target }
    override var arguments: Arguments? { ["id": id] }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.policy = .http
    }
}
