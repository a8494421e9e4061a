import Errand
import Foundation
import Terminal

// Sign-in, refresh of the tokens, and two accounts.
extension Tour {
    func signIn() async throws {
        let early = await failure { try await GetUser(id: 7).value() }
        checks.check(
            "without tokens, a request fails: \(early?.code.description ?? "no error")",
            early?.code == .authenticationFailed && early?.underlying is Session.SignInRequired
                && early?.localizedDescription == "Please sign in.")

        let wrong = await failure { try await Hub.session.signIn("octavia", password: "lamp") }
        checks.check(
            "a wrong password is an ordinary 401, because the sign-in uses no authenticators",
            wrong?.code == .unacceptableStatus && wrong?.status == 401
                && wrong?.endpoint == "SignIn")

        try await Hub.session.signIn("octavia", password: "lamp-1899")
        let user = try await GetUser(id: 7).value()
        let sent = server.loopback.requests.last?.header("Authorization")
        checks.check(
            "signed in as \(user.displayName), and requests have the token",
            user.login == "octavia" && sent == "Bearer access-1")
    }

    func refresh() async throws {
        // Kept for a minute, for this user.
        try await GetUser(id: 7).value()
        let before = server.accounts.counts.refreshes
        server.accounts.expireTokens(holding: 5)
        let requests = (11...15).map { GetIssue($0, repo: repo) }
        try await BatchRequest(requests).send()
        let counts = server.accounts.counts
        checks.check(
            "all five succeed: \(requests.compactMap(\.output?.number))",
            requests.compactMap(\.output?.number) == Array(11...15))
        checks.check(
            "the server refused \(counts.refusals) requests, and refreshed the token "
                + "\(counts.refreshes - before) time",
            counts.refusals == 5 && counts.refreshes - before == 1)

        let user = GetUser(id: 7)
        try await user.send()
        checks.check(
            "the response stored for this user is still used with the new token",
            user.response?.source == .cacheFresh)
    }

    func accounts() async throws {
        let session = Session()
        let hub = RequestAgent(configuration: connected(Hub.configuration(for: session)))
        try await session.signIn("emil", password: "fog-horn")

        let user = try await GetUser(id: 12).value(on: hub)
        checks.check("value(on: hub): \(user.displayName) is signed in", user.login == "emil")

        let create = CreateIssue(NewIssue(title: "Ships do not see the light"), repo: repo)
        try await create.send(on: hub)
        let issue = create.output
        checks.check(
            "send(on: hub): the author of issue \(issue?.number ?? 0) is \(issue?.authorLogin ?? "")",
            issue?.authorLogin == "emil")

        // The same object on the agent of its base class.
        try await create.send()
        checks.check(
            "without an agent at the call, it is \(create.output?.authorLogin ?? "")",
            create.output?.authorLogin == "octavia")

        let deleted = await withCheckedContinuation { ended in
            DeleteIssue(issue?.number ?? 0, repo: repo).start(
                on: hub,
                finished: { request in
                    ended.resume(returning: request.response?.status)
                })
        }
        checks.check("start(on: hub): the issue is deleted", deleted == 204)
        await hub.shutdown()
    }
}
