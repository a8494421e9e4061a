import ErrandTesting
import Foundation

/// The server of the example: API and CDN in this process, on a loopback port that the system chooses.
///
/// Both have host names of their own. The server acts as a proxy, so requests contain the absolute URL. URLs and cache
/// keys are therefore the same in every run, whatever the port is.
struct AirlineServer {
    static let api = "http://api.airline.example/v1"
    static let cdn = "http://cdn.airline.example"
    static let token = "boarding-pass-1903"

    let loopback = LoopbackServer()
    let photo = LoopbackResource(
        Photo.sunset(), etag: #""sunset-1""#, contentType: "image/x-portable-pixmap")

    init() {
        let gate = ["A1", "B7", "C12", "D4"].randomElement() ?? "A1"
        loopback.route(Self.api + "/iphone/register") { Self.register($0) }
        loopback.route(Self.api + "/iphone/sign-in") { Self.signIn($0) }
        loopback.route(Self.api + "/iphone/users") { Self.user($0, gate: gate) }
        loopback.route(Self.api + "/iphone/fares") { _ in
            Self.json(
                """
                {"flights": [
                    {"number": "EA 1", "price": 120},
                    {"number": "EA 2", "price": 95.5, "meal": "soup"},
                    {"number": "EA 3", "price": "on request"}
                ]}
                """)
        }
        let photo = photo
        let cuts = Countdown(1)
        loopback.route(Self.cdn + "/photos/sunset.ppm") { request in
            let response = photo.response(to: request)
            return cuts.tick() ? response.cut(afterBodyBytes: photo.body.count / 2) : response
        }
    }

    private static func register(_ request: LoopbackRequest) -> LoopbackResponse {
        let form = Form(request.body)
        guard request.method == "POST", let name = form["username"], form["password"] != nil else {
            return json(#"{"complaint": "name and password are required"}"#, status: 422)
        }
        return json(#"{"userId": \#(number(of: name)), "nick": "\#(name)", "level": 1}"#)
    }

    private static func signIn(_ request: LoopbackRequest) -> LoopbackResponse {
        let body = try? JSONDecoder().decode([String: String].self, from: request.body)
        guard body?["password"] == "kitty-hawk" else {
            return json(#"{"complaint": "wrong password"}"#)
        }
        return json(#"{"token": "\#(token)"}"#)
    }

    private static func user(_ request: LoopbackRequest, gate: String) -> LoopbackResponse {
        guard request.header("Authorization") == "Bearer " + token else {
            return json(#"{"complaint": "not signed in"}"#, status: 401)
        }
        let id = Form(Data((request.query ?? "").utf8))["id"].flatMap(Int.init) ?? 0
        return json(
            """
            {"id": \(id), "nick": "passenger \(id)", "level": 3, "gate": "\(gate)",
             "servedBy": \(ProcessInfo.processInfo.processIdentifier)}
            """)
    }

    /// The number of a name, the same in every run.
    private static func number(of name: String) -> Int {
        1900 + name.utf8.reduce(0) { ($0 * 31 + Int($1)) % 97 }
    }

    private static func json(_ text: String, status: Int = 200) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: ["Content-Type": "application/json"], body: text)
    }
}

/// The pairs of a form or a query.
///
/// Values are not percent-decoded.
struct Form {
    private var pairs: [String: String] = [:]

    init(_ data: Data) {
        for pair in String(decoding: data, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { pairs[String(parts[0])] = String(parts[1]) }
        }
    }

    subscript(name: String) -> String? { pairs[name] }
}
