import ErrandTesting
import Foundation
import Synchronization

/// The users of the service and their tokens.
final class Accounts: Sendable {
    struct User: Sendable {
        var id: Int
        var login: String
        var password: String

        var json: [String: Any] {
            [
                "id": id, "login": login, "display_name": login.capitalized,
                "joined_at": "2019-04-02T08:00:00Z",
            ]
        }
    }

    private struct State: Sendable {
        /// The numbers of users, by access token and by refresh token.
        var access: [String: Int] = [:]
        var refresh: [String: Int] = [:]
        var issued = 0
        var refreshes = 0
        var refusals = 0
        /// Refusals are held until there are so many of them.
        var held: (count: Int, gate: Gate)?
    }

    private static let users = [
        User(id: 7, login: "octavia", password: "lamp-1899"),
        User(id: 12, login: "emil", password: "fog-horn"),
    ]

    private let state = Mutex(State())

    static func user(_ id: Int?) -> User? { users.first { $0.id == id } }

    /// The number of tokens that were refreshed, and of requests that were refused.
    var counts: (refreshes: Int, refusals: Int) {
        state.withLock { ($0.refreshes, $0.refusals) }
    }

    /// Makes all access tokens invalid, and sends the responses to refused requests when there are
    /// so many of them.
    func expireTokens(holding count: Int) {
        state.withLock { state in
            state.access = [:]
            state.refusals = 0
            state.held = (count, Gate())
        }
    }

    func signIn(_ call: Router.Call) -> LoopbackResponse {
        let body = call.json
        if let token = body["refresh_token"] as? String {
            let id = state.withLock { state -> Int? in
                guard let id = state.refresh.removeValue(forKey: token) else { return nil }
                state.refreshes += 1
                return id
            }
            guard let id else {
                return .problem("The refresh token is not valid.", status: 401, call.request)
            }
            return tokens(for: id)
        }
        let name = body["user"] as? String
        let user = Self.users.first { $0.login == name }
        guard let user, user.password == body["password"] as? String else {
            return .problem("The user name or the password is wrong.", status: 401, call.request)
        }
        return tokens(for: user.id)
    }

    private func tokens(for id: Int) -> LoopbackResponse {
        let number = state.withLock { state in
            state.issued += 1
            state.access["access-\(state.issued)"] = id
            state.refresh["refresh-\(state.issued)"] = id
            return state.issued
        }
        return .json(
            [
                "access_token": "access-\(number)", "refresh_token": "refresh-\(number)",
                "expires_at": "2030-01-01T00:00:00Z",
            ], status: 201)
    }

    /// Calls a handler for a request with a valid token; otherwise the response has status 401.
    func serve(
        _ request: LoopbackRequest, _ handler: (User) -> LoopbackResponse
    ) -> LoopbackResponse {
        let token = request.header("Authorization")?.replacing("Bearer ", with: "")
        let id = state.withLock { $0.access[token ?? ""] }
        if let user = Self.user(id) { return handler(user) }
        let refused = LoopbackResponse.problem(
            "The access token is missing, or it has expired.", status: 401, request)
        let gate = state.withLock { state -> Gate? in
            state.refusals += 1
            guard let (count, gate) = state.held else { return nil }
            if state.refusals >= count {
                state.held = nil
                gate.open()
            }
            return gate
        }
        return gate.map { refused.held(by: $0) } ?? refused
    }
}
