import Errand
import ErrandInspector
import Foundation
import Terminal

/// The steps of the example, in order.
@MainActor
final class Journey {
    let screen = Screen()
    let checks: Checks
    let state: State
    let server = AirlineServer()
    let logbook = Logbook()
    let agent: RequestAgent
    private var number = 0

    init() async throws {
        checks = Checks(screen)
        state = try State()
        try await server.loopback.start()

        // The settings that all endpoints share.
        var configuration = Configuration(
            baseURL: EndpointURL(raw: AirlineServer.api),
            cdnURL: EndpointURL(raw: AirlineServer.cdn))
        configuration.eventListeners = [logbook]
        configuration.sharedHeaders[.userAgent] = "Airline/1"
        // The host names do not exist, so the loopback server acts as a proxy.
        configuration.transportOptions.proxy = .url(server.loopback.url(""))
        agent = RequestAgent(
            configuration: configuration, store: SQLiteResponseStore(url: state.store))
    }

    /// Runs all steps and returns whether all checks passed.
    ///
    /// - Parameter isInspected: Whether a web page shows the requests, until Enter is pressed.
    func run(isInspected: Bool) async throws -> Bool {
        let inspector = isInspected ? try await Inspector.start(agent) : nil
        screen.title(
            "Errand Airlines", "\(AirlineServer.api), through 127.0.0.1:\(server.loopback.port)")
        screen.line("", "store: \(state.store.path)", style: .dim)
        screen.line(
            "",
            state.sinceLastRun == nil
                ? "first run: the store is empty" : "the store is from an earlier run", style: .dim)

        await step("Register, with closures") { try await self.register() }
        await step("Sign in") { try await self.signIn() }
        await step("User info, fresh for three minutes") { try await self.userInfo() }
        await step("A photo from the CDN, interrupted half way") { try await self.photo() }
        await step("User info and photo as one batch") { try await self.batch() }
        await step("Sign-up as one chain: register, sign in, user info") {
            try await self.signUp()
        }
        await step("A card as one graph: user and photo at once, then the companion") {
            try await self.card()
        }
        await step("Fares with an invalid field") { try await self.fares() }

        if let inspector {
            screen.line("", "Press Enter to end.", style: .dim)
            _ = readLine()
            await inspector.stop()
        }
        await agent.shutdown()
        await server.loopback.stop()
        screen.title(
            checks.failures == 0 ? "Passed." : "Failed.",
            "\(checks.count - checks.failures) of \(checks.count) checks passed, "
                + "\(server.loopback.requests.count) requests reached the server")
        return checks.failures == 0
    }

    private func step(_ title: String, _ body: () async throws -> Void) async {
        number += 1
        screen.step(number, title)
        do {
            try await body()
        } catch {
            showEvents()
            checks.check("unexpected error: \(error)", false)
        }
    }

    /// Prints the events since the last call.
    func showEvents() { screen.show(logbook.take()) }
}
