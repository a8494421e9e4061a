import Errand

/// Reads one streamed response to its end and counts its bytes.
struct StreamRun {
    let job: Job
    let agent: RequestAgent

    /// The number of failures: 0 or 1.
    func run() async -> Int {
        let count = try? await count()
        return count == job.size ? 0 : 1
    }

    private func count() async throws -> Int {
        let stream = try await Small(job.url).stream(on: agent)
        var count = 0
        switch job.workload {
        case "S2" where job.mode == .text:
            for try await line in stream.lines { count += line.utf8.count + 1 }
        case "S2":
            for try await line in stream.rawLines { count += line.count + 1 }
        case "S3":
            // Each event has the field name, a space and two line ends.
            for try await event in stream.serverSentEvents(reconnects: .never) {
                count += event.data.utf8.count + 8
            }
        default:
            for try await chunk in stream.bytes { count += chunk.count }
        }
        return count
    }
}
