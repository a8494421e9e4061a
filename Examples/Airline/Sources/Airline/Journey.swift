import Errand
import Foundation

/// The steps of the example, in order.
@MainActor
final class Journey {
    let screen = Screen()
    let claims: Claims
    let state: State
    let server = AirlineServer()
    let logbook = Logbook()
    let agent: RequestAgent
    private var number = 0

    init() async throws {
        claims = Claims(screen)
        state = try State()
        try await server.loopback.start()

        // What all endpoints have in common is said here, once.
        var configuration = Configuration(
            baseURL: AirlineServer.api, cdnURL: AirlineServer.cdn)
        configuration.eventListeners = [logbook]
        configuration.sharedHeaders[.userAgent] = "Airline/1"
        // The airline's names are made up; its server is reached as a proxy is.
        configuration.transport.proxy = .url(server.loopback.url(""))
        agent = RequestAgent(
            configuration: configuration, store: SQLiteResponseStore(url: state.store))
    }

    /// Runs all steps; true if every claim was true.
    func run() async -> Bool {
        screen.title(
            "Errand Airlines", "\(AirlineServer.api), by way of 127.0.0.1:\(server.loopback.port)")
        screen.line("", "store: \(state.store.path)", style: .dim)
        screen.line(
            "",
            state.sinceLastRun == nil
                ? "first run: the store is empty" : "the store is from an earlier run", style: .dim)

        await step("Register, with closures") { try await self.register() }
        await step("Sign in") { try await self.signIn() }
        await step("User info, fresh for three minutes") { try await self.userInfo() }
        await step("A photo from the CDN, cut off half way") { try await self.photo() }
        await step("User info and photo as one batch") { try await self.batch() }
        await step("A chain: register, then user info") { try await self.chain() }
        await step("Fares with a fault") { try await self.fares() }

        await agent.shutdown()
        await server.loopback.stop()
        screen.title(
            claims.failures == 0 ? "Landed." : "Crashed.",
            "\(claims.count - claims.failures) of \(claims.count) claims are true, "
                + "\(server.loopback.requests.count) requests went over the wire")
        return claims.failures == 0
    }

    private func step(_ title: String, _ body: () async throws -> Void) async {
        number += 1
        screen.step(number, title)
        do {
            try await body()
        } catch {
            tell()
            claims.claim("no error: \(error)", false)
        }
    }

    /// Tells what happened since the last time.
    func tell() { screen.tell(logbook.take()) }

    /// An endpoint of this agent.
    func on<Endpoint: BaseRequest>(_ request: Endpoint) -> Endpoint {
        request.agent = agent
        return request
    }
}
