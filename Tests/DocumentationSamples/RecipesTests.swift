import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

extension SharedAgentTests {
    /// Runs every recipe of the article *Recipes* against a loopback server.
    ///
    /// `Scripts/doc-samples` generates their code.
    @MainActor
    @Suite(.serialized, .limited)
    struct RecipesTests {
        private let server = LoopbackServer()
        private let temporary: TemporaryFolder
        private let model: RecipeModel

        init() throws {
            temporary = try TemporaryFolder("recipes")
            model = RecipeModel(folder: temporary.url)
            try Data("a photo".utf8).write(to: model.photo)
            server.otherwise { request in
                LoopbackResponse(status: 404, body: "no \(request.method) \(request.path)")
            }
        }

        // MARK: - Send and receive

        @Test func sendAndReceive() async throws {
            server.route("/pilots/7") { _ in Self.json(#"{"name": "Amelia"}"#) }
            try await run { try await $0.getJSON() }
            #expect(model.lines == ["Amelia"])

            server.route("/flights") { request in
                Self.json(String(decoding: request.body, as: UTF8.self))
            }
            try await run { try await $0.sendJSON() }
            #expect(model.lines == ["Burbank"])
            #expect(server.requests.last?.header("Content-Type") == "application/json")

            server.route("/sign-in", responses: LoopbackResponse(body: ""))
            try await run { try await $0.sendForm() }
            #expect(server.requests.last?.body == Data("user=amelia&remember=1".utf8))
        }

        @Test func namesDatesAndHeaders() async throws {
            server.route("/landing") { _ in
                Self.json(#"{"plane_name": "Vega", "landed_at": "1932-05-21T13:46:00Z"}"#)
            }
            try await run { try await $0.decodeDates() }
            #expect(model.lines == ["Vega at -1187000040.0"])

            server.route("/map", responses: LoopbackResponse(body: ""))
            try await run { try await $0.sendHeaders() }
            #expect(model.lines == ["200 OK"])
            #expect(server.requests.last?.header("X-App") == "Hello/1.0")
            #expect(server.requests.last?.header("Accept-Language") == "de")
        }

        @Test func files() async throws {
            server.route("/photos", responses: LoopbackResponse(body: ""))
            try await run { try await $0.sendFileInForm() }
            let form = String(decoding: server.requests.last?.body ?? Data(), as: UTF8.self)
            #expect(form.contains("a photo") && form.contains(#"filename="sunset.jpg""#))

            server.route("/photos/sunset.jpg", responses: LoopbackResponse(body: ""))
            // First, because the lines of another recipe would end the wait.
            try await run { model in
                try await model.uploadWithClosures()
                for await line in model.printed where line == "stored" { break }
            }
            #expect(model.lines.suffix(2) == ["7 of 7 bytes", "stored"])
            try await run { try await $0.uploadWithProgress() }
            #expect(model.lines.suffix(2) == ["7 of 7 bytes", "stored"])
            #expect(server.requests.last?.body == Data("a photo".utf8))

            server.serve(
                LoopbackResource(Data(repeating: 7, count: 1000), etag: #""a""#), at: "/film.mkv")
            try await run { try await $0.downloadAndResume() }
            #expect(model.lines == ["1000 bytes, 0 of them from an earlier start"])
        }

        @Test func graphQL() async throws {
            server.route("/graphql") { request in
                let isRight = String(decoding: request.body, as: UTF8.self).contains(#""id":"7""#)
                return Self.json(
                    isRight ? #"{"data": {"plane": {"name": "Vega"}}}"# : #"{"errors": [{}]}"#)
            }
            try await run { try await $0.callGraphQL() }
            #expect(model.lines == ["Vega"])
            server.route("/graphql") { _ in Self.json(#"{"errors": [{"message": "no plane"}]}"#) }
            await #expect { try await run { try await $0.callGraphQL() } } throws: { error in
                (error as? RequestError)?.message == "no plane"
            }
        }

        @Test func sequences() async throws {
            server.route("/flights") { request in
                Self.json(request.query == "page=2" ? "[]" : #"[{"number": 1}, {"number": 2}]"#)
            }
            try await run { try await $0.pageThroughList() }
            #expect(model.lines == ["1", "2"])
            #expect(server.requests.map(\.query) == ["page=1", "page=2"])

            server.route("/export") { _ in Self.json(#"{"rows": [{"id": 3}, {"id": 4}]}"#) }
            try await run { try await $0.readHugeArray() }
            #expect(model.lines == ["3", "4"])

            server.route(
                "/departures", responses: .events(["data: gate 4"]), LoopbackResponse(status: 204))
            try await run { try await $0.followEvents() }
            #expect(model.lines == ["gate 4"])

            server.route("/prices") { _ in
                .webSocket { server in
                    server.expect(#"{"symbol":"SWFT"}"#)
                    server.send(#"{"symbol": "SWFT", "value": 9.5}"#)
                    server.close()
                }
            }
            try await run { try await $0.openWebSocket() }
            #expect(model.lines == ["9.5"])
            #expect(server.failures == [])
        }

        // MARK: - Several requests

        @Test func severalRequests() async throws {
            for id in 1...10 { server.route("/pilots/\(id)") { _ in Self.json(#"{"name": "A"}"#) } }
            try await run { try await $0.atMostThree() }
            #expect(model.lines == ["10"])

            server.route("/session") { _ in Self.json(#"{"pilot": 4}"#) }
            try await run { try await $0.oneAfterAnother() }
            #expect(model.lines == ["A"])
            #expect(server.requests.map(\.path).suffix(2) == ["/session", "/pilots/4"])

            server.route("/status", responses: LoopbackResponse(body: ""))
            try await run { try await $0.limitRate() }
            #expect(model.lines == ["200 OK"])

            server.route("/map", responses: LoopbackResponse(body: "a map"))
            try await run { try await $0.joinEqualRequests() }
            #expect(model.lines == ["true"])
        }

        // MARK: - When something fails

        @Test func failures() async throws {
            try await run { try await $0.distinguishErrors() }
            #expect(model.lines == ["no such pilot"])

            server.route(
                "/weather",
                responses: LoopbackResponse(status: 503, headers: ["Retry-After": "0"]),
                LoopbackResponse(body: "sunny"))
            try await run { try await $0.retryOn503() }
            #expect(model.lines == ["2"])
        }

        @Test func limitsAndOwners() async throws {
            let gate = Gate()
            server.route("/slow", responses: .silence(until: gate))
            try await run { try await $0.limitTime() }
            #expect(model.lines == ["timedOut"])
            try await run { try await $0.cancelWithOwner() }
            #expect(model.lines == ["cancelled"])
            gate.open()
        }

        // MARK: - Sign in

        @Test func tokensAndSignatures() async throws {
            server.route("/login") { request in
                let isRight = request.body == Data("user=amelia&password=earhart".utf8)
                return Self.json(isRight ? #"{"access": "first", "refresh": "r1"}"# : "{}")
            }
            server.route("/token") { request in
                let isRight = request.body == Data("refresh=r1".utf8)
                return Self.json(isRight ? #"{"access": "second", "refresh": "r2"}"# : "{}")
            }
            server.route("/account") { request in
                LoopbackResponse(
                    status: request.header("Authorization") == "Bearer second" ? 200 : 401)
            }
            try await run { try await $0.renewToken() }
            #expect(model.lines == ["200 OK"])
            let paths = server.requests.map(\.path)
            #expect(paths == ["/login", "/account", "/token", "/account"])

            server.route("/orders", responses: LoopbackResponse(body: ""))
            try await run { try await $0.signRequests() }
            #expect(server.requests.last?.header("X-Signature") == "/orders 6")
            #expect(server.requests.last?.header("X-Attempt") == "1")
        }

        @Test func pinsAndProxies() async throws {
            // The server has no TLS: a request to it would fail before the pin is compared.
            await #expect {
                try await run { model in
                    RequestAgent.shared.configuration.baseURL =
                        "https://api.example.com:\(server.port)"
                    try await model.pinCertificate()
                }
            } throws: { error in
                (error as? RequestError)?.code == .secureConnectionFailed
            }
            server.otherwise { request in
                LoopbackResponse(
                    status: request.target == "http://api.example.com/status" ? 200 : 404)
            }
            try await run {
                $0.proxyAddress = server.url()
                // With an address of its own, a host is reached through a tunnel.
                RequestAgent.shared.configuration.transportOptions.addressOverrides = [:]
                try await $0.useProxy()
            }
            #expect(model.lines == ["200 OK"])
        }

        // MARK: - Cache

        @Test func cache() async throws {
            server.route("/airports", responses: LoopbackResponse(body: "[]"))
            try await run { try await $0.cacheForAnHour() }
            #expect(model.lines == ["network", "cacheFresh"])

            server.route("/logbook", responses: LoopbackResponse(body: "page 1"))
            try await run { try await $0.workOffline() }
            #expect(model.lines == ["network: page 1"])

            server.route("/weather") { _ in Self.json(#"{"degrees": 20}"#) }
            try await run { try await $0.storedThenNew() }
            #expect(model.lines == ["20"])
        }

        @Test func offline() async throws {
            server.route("/logbook", responses: LoopbackResponse(body: "page 1"))
            try await run { model in
                try await model.workOffline()
                await server.stop()
                try await model.workOffline()
            }
            #expect(model.lines.count == 2 && model.lines[1].hasSuffix(": page 1"))
            #expect(model.lines[0] != model.lines[1])
        }

        // MARK: - Test and look

        @Test func tools() async throws {
            try await run { try await $0.seeWhatIsSent() }
            #expect(model.lines.count == 1 && model.lines[0].hasPrefix("curl "))

            server.route("/iphone/register") { _ in Self.json(#"{"userId": 7}"#) }
            try await run { model in
                try await model.fromYTKNetwork()
                for await line in model.printed where line == "7" { break }
            }
            #expect(model.lines == ["7"])
        }

        // MARK: - Set-up

        nonisolated private static func json(_ text: String) -> LoopbackResponse {
            LoopbackResponse(headers: ["Content-Type": "application/json"], body: text)
        }

        /// Runs a recipe with a configuration of its own for the shared agent, and an empty store.
        private func run(_ recipe: (RecipeModel) async throws -> Void) async throws {
            try await server.start()
            let earlier = RequestAgent.shared.configuration
            var configuration = Configuration(baseURL: "http://api.example.com:\(server.port)")
            configuration.transportOptions.addressOverrides = ["api.example.com": ["127.0.0.1"]]
            RequestAgent.shared.configuration = configuration
            model.lines = []
            var failure: (any Error)?
            do { try await recipe(model) } catch { failure = error }
            RequestAgent.shared.configuration = earlier
            try await RequestAgent.shared.store?.removeAll(where: nil)
            await server.stop()
            if let failure { throw failure }
        }
    }
}
