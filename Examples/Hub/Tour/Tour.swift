import Errand
import Foundation
import Terminal

/// The steps of the example, in order.
@MainActor
final class Tour {
    struct Step {
        var name: String
        var title: String
        var run: @MainActor (Tour) async throws -> Void
    }

    static let steps = [
        Step(name: "sign-in", title: "Sign in") { try await $0.signIn() },
        Step(name: "cache", title: "Responses from the cache") { try await $0.cache() },
        Step(name: "pages", title: "A list with pages") { try await $0.pages() },
        Step(name: "issues", title: "Create, get, change and delete an issue") {
            try await $0.issues()
        },
        Step(name: "errors", title: "Errors") { try await $0.errors() },
        Step(name: "refresh", title: "An expired token, and five requests at once") {
            try await $0.refresh()
        },
        Step(name: "upload", title: "An upload with progress") { try await $0.upload() },
        Step(name: "download", title: "A download, interrupted twice") {
            try await $0.download()
        },
        Step(name: "batch", title: "Batches") { try await $0.batch() },
        Step(name: "chain", title: "A chain") { try await $0.chain() },
        Step(name: "accounts", title: "Another account: an agent at the call") {
            try await $0.accounts()
        },
    ]

    let screen = Screen()
    let checks: Checks
    let server = HubServer()
    let repo = RepositoryName(owner: "octavia", name: "lighthouse")
    /// The folder of the downloaded and uploaded files, deleted at the end.
    let folder: URL

    init() async throws {
        checks = Checks(screen)
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-hub-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await server.loopback.start()
        Hub.agent.configuration = connected(Hub.agent.configuration)
    }

    /// The configuration with the settings of this program: the way to the loopback server, and
    /// the log.
    func connected(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        // The host name does not exist, so the loopback server acts as a proxy.
        configuration.transportOptions.proxy = .url(server.loopback.url(""))
        let screen = screen
        configuration.interceptors = [
            RequestLog { entry in
                screen.line(
                    "→", entry.request.replacing("http://api.hub.example", with: ""),
                    entry.status.padded(to: 5) + entry.source.padded(to: 22)
                        + entry.duration.milliseconds,
                    width: 46, style: .wire)
            }
        ]
        return configuration
    }

    /// Runs the steps with these names, or all of them; returns whether all checks passed.
    func run(_ names: [String]) async -> Bool {
        screen.title("Hub", "\(Hub.baseURL), through 127.0.0.1:\(server.loopback.port)")
        for (index, step) in Self.steps.enumerated() {
            // The other steps need the sign-in.
            guard names.isEmpty || index == 0 || names.contains(step.name) else { continue }
            screen.step(index + 1, step.title)
            do {
                try await step.run(self)
            } catch {
                checks.check("unexpected error: \(error)", false)
            }
        }
        await Hub.agent.shutdown()
        await server.loopback.stop()
        try? FileManager.default.removeItem(at: folder)
        screen.title(
            checks.failures == 0 ? "Passed." : "Failed.",
            "\(checks.count - checks.failures) of \(checks.count) checks passed, "
                + "\(server.loopback.requests.count) requests reached the server")
        return checks.failures == 0
    }

    /// Runs something that must fail; prints the error as a user and as a developer sees it.
    func failure(of run: @MainActor () async throws -> Void) async -> RequestError? {
        do {
            try await run()
            return nil
        } catch {
            screen.line("!", error.localizedDescription, style: .bad)
            screen.line(" ", "\(error)", style: .dim)
            return error as? RequestError
        }
    }

    /// The number of requests that have reached the server.
    var sentCount: Int { server.loopback.requests.count }
}

extension Duration {
    var milliseconds: String {
        let tenths = Int(self / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms".leftPadded(to: 10)
    }
}
