import ErrandTesting
import Foundation
import Synchronization

/// The server of the example, in this process, on a loopback port that the system chooses.
///
/// The host of the API does not exist. The server acts as a proxy, so requests contain the
/// absolute URL, and the client needs no other address.
final class HubServer: Sendable {
    static let base = "http://api.hub.example/v3"
    static let repository = "octavia/lighthouse"
    static let asset = LoopbackResource(Blob.bytes(768 << 10, seed: 7), etag: #""asset-1""#)
    /// Computed by another program, so that the digest of the client is compared with that.
    static let assetDigest = "c0013bb75f366abf325a37b79e6f8bbd561d842bfb06729ab8c9085ea997e22c"

    // With a small buffer, an upload stops soon after the server stops reading.
    let loopback = LoopbackServer(receiveBuffer: 64 << 10)
    /// The server reads the second half of an upload when this gate is open.
    let uploadGate = Gate()
    let accounts = Accounts()
    private let issues = Mutex(IssueTable())
    /// The number of downloads that are still to be interrupted.
    private let interruptions = Mutex(0)

    init() {
        var router = Router(base: Self.base)
        router.on("POST", "/sessions") { [accounts] in accounts.signIn($0) }
        addPages(to: &router)
        addIssues(to: &router)
        loopback.otherwise { [router] in router.response(to: $0) }
        // A route of its own, because the handler is called before the body is received.
        loopback.route(
            Self.base + "/repos/\(Self.repository)/assets", readsBody: false
        ) { [accounts, uploadGate] request in
            accounts.serve(request) { _ in Self.upload(request, gate: uploadGate) }
        }
    }

    var openIssues: Int { issues.withLock { $0.open.count } }

    /// Interrupts the next downloads after 256 KiB each.
    func interruptDownloads(_ count: Int) { interruptions.withLock { $0 = count } }

    private func addPages(to router: inout Router) {
        on("GET", "/users/{id}", of: &router) { call, _ in
            guard let user = Accounts.user(Int(call.path["id"] ?? "")) else {
                return .problem(
                    "There is no user \(call.path["id"] ?? "").", status: 404, call.request)
            }
            return .json(user.json, headers: [LoopbackHeader("Cache-Control", "max-age=60")])
        }
        on("GET", "/repos/{owner}/{name}", of: &router) { [self] call, _ in
            let etag = "\"open-\(openIssues)\""
            let headers = [
                LoopbackHeader("Cache-Control", "no-cache"), LoopbackHeader("ETag", etag),
            ]
            if call.request.header("If-None-Match") == etag {
                return LoopbackResponse(steps: [.head(status: 304, headers: headers)])
            }
            let asset: [String: Any] = [
                "id": 1, "name": "lighthouse-1.0.bin", "size": Self.asset.body.count,
                "sha256": Self.assetDigest,
            ]
            return .json(
                [
                    "full_name": Self.repository, "open_issues": openIssues,
                    "latest_asset": asset,
                ], headers: headers)
        }
        on("GET", "/repos/{owner}/{name}/assets/1", of: &router) { [self] call, _ in
            let response = Self.asset.response(to: call.request)
            let isInterrupted = interruptions.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            return isInterrupted ? response.cut(afterBodyBytes: 256 << 10) : response
        }
    }

    private func addIssues(to router: inout Router) {
        let list = "/repos/{owner}/{name}/issues"
        on("GET", list, of: &router) { [self] call, _ in
            issues.withLock { $0.page(call) }
        }
        on("POST", list, of: &router) { [self] call, user in
            issues.withLock { $0.create(call, by: user.login) }
        }
        on("GET", list + "/{number}", of: &router) { [self] call, _ in
            issues.withLock { $0.get(call) }
        }
        on("PATCH", list + "/{number}", of: &router) { [self] call, _ in
            issues.withLock { $0.edit(call) }
        }
        on("DELETE", list + "/{number}", of: &router) { [self] call, _ in
            issues.withLock { $0.delete(call) }
        }
    }

    /// Adds a handler for requests with a valid token.
    private func on(
        _ method: String, _ pattern: String, of router: inout Router,
        _ handler: @escaping @Sendable (Router.Call, Accounts.User) -> LoopbackResponse
    ) {
        router.on(method, pattern) { [accounts] call in
            accounts.serve(call.request) { handler(call, $0) }
        }
    }

    /// Reads a part of the body, waits for the gate, then reads the rest.
    private static func upload(_ request: LoopbackRequest, gate: Gate) -> LoopbackResponse {
        let name = request.arguments["name"] ?? "unnamed"
        let created = LoopbackResponse.json(["id": 2, "name": name], status: 201)
        return LoopbackResponse(
            steps: [.receiveBody(upTo: 2 << 20), .hold(gate), .receiveBody(upTo: nil)]
                + created.steps)
    }
}

/// Generates the contents of files.
enum Blob {
    static func bytes(_ count: Int, seed: UInt64) -> Data {
        var state = seed
        var words = [UInt64]()
        words.reserveCapacity(count / 8)
        for _ in 0..<(count / 8) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            words.append(state.littleEndian)
        }
        return words.withUnsafeBytes { Data($0) }
    }
}
