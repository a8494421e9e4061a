import Errand
import Foundation

// Register, sign in, user info: the ordinary life of an endpoint.
extension Journey {
    func register() async throws {
        let request = on(API.Passengers.register("orville", password: "kitty-hawk"))
        await withCheckedContinuation { continuation in
            request.start { request in
                self.tell()
                self.claims.claim(
                    "orville is passenger \(request.userId ?? 0)", request.userId != nil)
                continuation.resume()
            } failure: { _, error in
                self.tell()
                self.claims.claim("registered: \(error)", false)
                continuation.resume()
            }
        }
        let sent = server.loopback.requests.last
        claims.claim(
            "name and password went out as a form",
            sent.map { String(decoding: $0.body, as: UTF8.self) }
                == "username=orville&password=kitty-hawk")
    }

    func signIn() async throws {
        do {
            try await on(API.Passengers.signIn("orville", password: "dayton")).value()
            claims.claim("a wrong password is refused", false)
        } catch {
            tell()
            let complaint = error.underlying as? Complaint
            claims.claim(
                "the processor found: \(complaint?.text ?? "nothing")",
                error.code == .processingFailed && error.status == .ok && complaint != nil)
        }
        let token = try await on(API.Passengers.signIn("orville", password: "kitty-hawk")).value()
        tell()
        claims.claim("the right one brings a token", token == AirlineServer.token)
        // From now on every request carries it.
        agent.configuration.headerProvider = { [.authorization: "Bearer " + token] }
    }

    func userInfo() async throws {
        let before = server.loopback.requests.count
        let first = on(API.Passengers.find(1903))
        let user = try await first.value()
        tell()
        try checkFirst(first, user, requests: server.loopback.requests.count - before)
        try state.noteRun()

        let again = on(API.Passengers.find(1903))
        let same = try await again.value()
        tell()
        claims.claim(
            "asked again, the store answers and the server hears nothing",
            again.response?.source == .cacheFresh && same.gate == user.gate
                && server.loopback.requests.count - before
                    == (first.response?.isFromCache == true ? 0 : 1)
        )
    }

    /// In the first run the answer must come from the server, in a run soon after it from the store.
    private func checkFirst(_ request: GetUser, _ user: User, requests: Int) throws {
        let isFromCache = request.response?.isFromCache == true
        let isOwn = user.answeredBy == ProcessInfo.processInfo.processIdentifier
        let text = "\(user.nick), level \(user.level), gate \(user.gate)"
        switch state.sinceLastRun {
        case nil:
            claims.claim("\(text), from the server", !isFromCache && isOwn && requests == 1)
        case let age? where age < .seconds(170):
            claims.claim(
                "\(text), answered by process \(user.answeredBy), which is gone: the store survived it",
                isFromCache && !isOwn && requests == 0)
        case let age?:
            let isYoung = age < .seconds(181)
            claims.claim(
                "\(text), from the server, as three minutes are over",
                isYoung || (!isFromCache && isOwn && requests == 1))
        }
    }
}
