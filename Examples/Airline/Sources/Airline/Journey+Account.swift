import Errand
import Foundation

// Register, sign in, user info: ordinary requests.
extension Journey {
    func register() async throws {
        let request = API.Passengers.register("orville", password: "kitty-hawk")
        await withCheckedContinuation { continuation in
            request.start(on: agent) { request in
                self.showEvents()
                self.checks.check(
                    "orville is passenger \(request.userId ?? 0)", request.userId != nil)
                continuation.resume()
            } failure: { _, error in
                self.showEvents()
                self.checks.check("registration succeeds: \(error)", false)
                continuation.resume()
            }
        }
        let sent = server.loopback.requests.last
        checks.check(
            "name and password are sent as a form",
            sent.map { String(decoding: $0.body, as: UTF8.self) }
                == "username=orville&password=kitty-hawk")
    }

    func signIn() async throws {
        do {
            try await API.Passengers.signIn("orville", password: "dayton").value(on: agent)
            checks.check("a wrong password is rejected", false)
        } catch {
            showEvents()
            let complaint = error.underlying as? Complaint
            checks.check(
                "the processor reports: \(complaint?.text ?? "no error")",
                error.code == .processingFailed && error.status == .ok && complaint != nil)
        }
        let token = try await API.Passengers.signIn("orville", password: "kitty-hawk").value(
            on: agent)
        showEvents()
        checks.check("the right password returns a token", token == AirlineServer.token)
        // All later requests send it.
        agent.configuration.headerProvider = { [.authorization: "Bearer " + token] }
    }

    func userInfo() async throws {
        let before = server.loopback.requests.count
        let first = API.Passengers.find(1903)
        let user = try await first.value(on: agent)
        showEvents()
        try checkFirst(first, user, requests: server.loopback.requests.count - before)
        try state.noteRun()

        let again = API.Passengers.find(1903)
        let same = try await again.value(on: agent)
        showEvents()
        checks.check(
            "the second request is served from the cache and not sent",
            again.response?.source == .cacheFresh && same.gate == user.gate
                && server.loopback.requests.count - before
                    == (first.response?.isFromCache == true ? 0 : 1)
        )
    }

    /// Checks the source of the response: the server in the first run, the cache in a run soon after.
    private func checkFirst(_ request: GetUser, _ user: User, requests: Int) throws {
        let isFromCache = request.response?.isFromCache == true
        let isOwn = user.servedBy == ProcessInfo.processInfo.processIdentifier
        let text = "\(user.nick), level \(user.level), gate \(user.gate)"
        switch state.sinceLastRun {
        case nil:
            checks.check("\(text), from the server", !isFromCache && isOwn && requests == 1)
        case let age? where age < .seconds(170):
            checks.check(
                "\(text), from the cache: process \(user.servedBy) stored it and has ended",
                isFromCache && !isOwn && requests == 0)
        case let age?:
            let isYoung = age < .seconds(181)
            checks.check(
                "\(text), from the server, because three minutes have passed",
                isYoung || (!isFromCache && isOwn && requests == 1))
        }
    }
}
