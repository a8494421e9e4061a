import Errand
import ErrandInspector
import Foundation

/// Runs one workload in one mode and prints one line of JSON.
@main
enum HTTPBench {
    static func main() async {
        guard let job = Job(CommandLine.arguments) else {
            print(
                "usage: HTTPBench async|listener|inspector|steps|closures|bare|foundation|text|segments|memory|sqlite WORKLOAD COUNT IN_FLIGHT URL SIZE"
            )
            exit(2)
        }
        let transport = CurlTransport()
        let agent = agent(of: job, over: transport)
        var inspector: Inspector?
        if job.mode == .inspector {
            var options = Inspector.Options()
            options.isEnabledInReleaseBuilds = true
            options.printsURL = false
            inspector = try? await Inspector.start(agent, options: options)
            guard inspector != nil else { exit(1) }
        }
        if job.workload.hasPrefix("hit") {
            let hits = CacheHits(job: job, transport: transport)
            guard await hits.prepare() else { exit(1) }
            var meter = Meter()
            let (bad, median) = await hits.run()
            meter.note("p50_us", median)
            print(meter.report(job, bad: bad))
            hits.removeFiles()
            exit(bad == 0 ? 0 : 1)
        }
        if job.isStream {
            let meter = Meter()
            let bad = await StreamRun(job: job, agent: agent).run()
            print(meter.report(job, bad: bad))
            exit(bad == 0 ? 0 : 1)
        }
        if job.workload == "W" {
            let meter = Meter()
            let bad = await EchoRun(job: job, agent: agent).run()
            print(meter.report(job, bad: bad))
            exit(bad == 0 ? 0 : 1)
        }
        if job.workload.hasPrefix("I") {
            var meter = Meter()
            let bad = await IdleRun(job: job, agent: agent).run(&meter)
            print(meter.report(job, bad: bad))
            exit(bad == 0 ? 0 : 1)
        }
        if job.workload.hasPrefix("D") {
            let meter = Meter()
            let bad = await DownloadRun(job: job, agent: agent).run()
            print(meter.report(job, bad: bad))
            exit(bad == 0 ? 0 : 1)
        }
        guard let url = await warmUp(job, agent) else {
            print("no response from \(job.address)")
            exit(1)
        }
        var meter = Meter()
        let waiting = job.workload == "W6w" ? Waiting() : nil
        let bad: Int
        switch job.mode {
        case .async, .listener, .inspector, .steps, .foundation, .text, .segments, .memory,
            .sqlite:
            bad = await runAsync(job, agent: agent, meter: &meter)
        case .closures: bad = await ClosureRun(job, agent: agent).run()
        case .bare: bad = await BareRun(job, transport: transport, url: url).run()
        }
        if let waiting { meter.note("waiting", waiting.kilobytes) }
        print(meter.report(job, bad: bad))
        withExtendedLifetime(inspector) {}
        exit(bad == 0 ? 0 : 1)
    }

    /// Opens the connection with a small request, and returns the URL of the workload.
    private static func warmUp(_ job: Job, _ agent: RequestAgent) async -> HTTPURL? {
        guard let url = try? HTTPURL(parsing: job.address) else { return nil }
        var small = url
        small.path = "/small"
        let response = try? await Small(EndpointURL(small)).send(on: agent)
        return response == nil ? nil : url
    }

    private static func agent(of job: Job, over transport: CurlTransport) -> RequestAgent {
        guard job.mode != .steps else { return EverySteps.agent(over: transport) }
        let agent = RequestAgent(transport: transport, store: nil)
        agent.configuration.transportOptions = job.options
        if job.mode == .listener { agent.configuration.eventListeners = [EventCounter()] }
        return agent
    }
}
