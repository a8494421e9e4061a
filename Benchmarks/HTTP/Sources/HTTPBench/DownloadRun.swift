import Errand
import Foundation

/// Downloads files, one after another, into the file of the variable `HTTP_BENCH_FILE`.
struct DownloadRun {
    let job: Job
    let agent: RequestAgent

    func run() async -> Int {
        let path = ProcessInfo.processInfo.environment["HTTP_BENCH_FILE"] ?? "/dev/null/none"
        var bad = 0
        for _ in 0..<job.count {
            let request = FileRequest(job, path)
            do {
                let file = try await request.value(on: agent)
                if file.bytes != job.size || file.digests.isEmpty == job.workload.hasSuffix("h") {
                    bad += 1
                }
            } catch {
                print(error)
                bad += 1
            }
        }
        return bad
    }
}

private final class FileRequest: BaseRequest, FileOutput {
    private let job: Job
    private let path: String

    init(_ job: Job, _ path: String) {
        self.job = job
        self.path = path
        super.init()
    }

    override var url: EndpointURL { job.url }
    var download: DownloadPlan {
        .to(URL(fileURLWithPath: path)) {
            if job.workload.hasSuffix("h") { $0.computedDigests = [.sha256] }
            if job.mode == .segments { $0.segments = 4 }
        }
    }
}
