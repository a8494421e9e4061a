#if Logging
    import ErrandCore
    import ErrandRecording
    import ErrandTesting
    import ErrandTransport
    import Foundation
    import HTTPTypes
    import Logging
    import TestSupport
    import Testing

    @testable import ErrandObservability

    /// Headers and bodies in logs.
    @Suite(.limited) struct MessageLogTests {
        private let recorder = LogRecorder()
        private let transport = ScriptedTransport()

        private func messages(
            _ level: Logger.Level = .trace, redaction: RedactionRules = .standard,
            maximumBodyBytes: Int = 4096, of description: RequestDescription
        ) async throws -> [LogRecorder.Line] {
            var configuration = Configuration(baseURL: "https://api.example.com")
            configuration.eventListeners = [
                LoggingListener(
                    recorder.logger(level), redaction: redaction,
                    maximumBodyBytes: maximumBodyBytes)
            ]
            let agent = RequestAgent(configuration: configuration, transport: transport)
            _ = try? await agent.start(description).response()
            return recorder.lines.filter {
                $0.text.contains(" sends ")
                    || $0.text.contains(" received ")
                        && $0.level == .trace && !$0.text.contains("attempt")
            }
        }

        private func respond(_ body: Data, _ type: String?) {
            var headers = HTTPFields()
            headers[.contentType] = type
            headers[.setCookie] = "session=abc; Path=/"
            transport.on(
                nil, nil, ScriptedResponse(status: .ok, headers: headers, body: body))
        }

        private func post(_ body: HTTPBody) -> RequestDescription {
            var description = RequestDescription(
                endpoint: "SignIn", url: "/sign-in?api_key=k1&page=2")
            description.method = .post
            description.body = body
            description.headers[.authorization] = "Bearer t1"
            return description
        }

        @Test func headersAndBodiesAreWrittenWithoutSecrets() async throws {
            respond(
                Data(#"{"token":"t2","name":"Ada","card":{"number":"42"}}"#.utf8),
                "application/json")
            var rules = RedactionRules.standard
            try rules.redact(path: "$.card.number")
            rules.headers.insert("X-Tenant")
            var description = post(
                .string(#"{"password":"p1","user":"ada"}"#, contentType: "application/json"))
            description.headers[try #require(HTTPField.Name("X-Tenant"))] = "acme"
            let lines = try await messages(redaction: rules, of: description)
            let request = try #require(lines.first?.metadata)
            #expect(
                lines.map(\.text) == [
                    "SignIn sends POST https://api.example.com/sign-in?api_key=REDACTED&page=2 (attempt 1)",
                    "SignIn received 200",
                ])
            #expect(request["http.request.header.authorization"] == "[\"Bearer REDACTED\"]")
            #expect(request["http.request.header.x-tenant"] == "[\"REDACTED\"]")
            #expect(request["errand.request.body"] == #"{"password":"REDACTED","user":"ada"}"#)
            let response = try #require(lines.last?.metadata)
            #expect(response["http.response.header.set-cookie"] == "[\"session=REDACTED; Path=/\"]")
            #expect(response["http.response.status_code"] == "200")
            #expect(
                response["errand.response.body"]
                    == #"{"token":"REDACTED","name":"Ada","card":{"number":"REDACTED"}}"#)
            let all = "\(recorder.lines)"
            for secret in ["t1", "t2", "p1", "k1", "acme", "abc"] {
                #expect(!all.contains("\"\(secret)\"") && !all.contains("=\(secret)"))
            }
        }

        @Test func textBeyondTheLimitIsCounted() async throws {
            respond(Data("ä23456789".utf8), "text/plain; charset=utf-8")
            let lines = try await messages(
                maximumBodyBytes: 5, of: RequestDescription(endpoint: "Get", url: "/x"))
            #expect(
                lines.last?.metadata["errand.response.body"] == "ä234… (5 of 10 bytes left out)")
        }

        /// The limit may lie within a character.
        @Test func charactersAreNotDivided() {
            let bodies = BodyText(redaction: .none, limit: 1)
            let response = Response(
                status: .ok, body: .data(Data("ä2".utf8)), url: HTTPURL(scheme: "http", host: "a"))
            #expect(bodies.text(of: response, received: 3) == "… (3 of 3 bytes left out)")
        }

        @Test func otherBodiesAreDescribed() async throws {
            respond(Data([0, 1, 255, 254]), "image/png")
            let form = HTTPBody.multipart(MultipartBody([.text("a", "b"), .text("c", "d")]))
            let lines = try await messages(of: post(form))
            let body = try #require(lines.first?.metadata["errand.request.body"])
            #expect(body.hasPrefix("form of 2 parts, ") && body.hasSuffix(" bytes"))
            #expect(lines.last?.metadata["errand.response.body"] == "image/png, 4 bytes")
        }

        @Test func unreadableJSONAndLargeBodiesAreWithheld() {
            let bodies = BodyText(redaction: .standard, limit: 10)
            func text(_ data: Data, _ type: String) -> String? {
                bodies.text(
                    of: Response(
                        status: .ok, headers: [.contentType: type], body: .data(data),
                        url: HTTPURL(scheme: "http", host: "a")), received: 0)
            }
            #expect(
                text(Data(#"{"password":"#.utf8), "application/json")
                    == "application/json, 12 bytes, withheld: secrets in it cannot be recognized")
            #expect(
                text(Data(count: BodyText.maximumBytes + 1), "text/plain")
                    == "text/plain, 1048577 bytes, too large to be shown")
            #expect(text(Data(), "text/plain") == nil)
            #expect(text(Data("a\u{1B}[2J".utf8), "text/plain") == "text/plain, 5 bytes")
        }

        @Test func failureIsNamed() async throws {
            transport.on(
                nil, nil,
                ScriptedResponse(steps: [
                    .fail(RequestError(.cannotConnect, stage: .transport, "Refused."))
                ]))
            let lines = try await messages(of: RequestDescription(endpoint: "Get", url: "/x"))
            #expect(lines.last?.text == "Get received nothing: cannotConnect")
        }

        @Test func nothingIsWrittenAboveTrace() async throws {
            respond(Data("text".utf8), "text/plain")
            #expect(
                try await messages(.debug, of: RequestDescription(endpoint: "Get", url: "/x"))
                    .isEmpty)
            #expect(!recorder.lines.isEmpty)
        }

        /// An endpoint that never caches has no line about the cache, at any level.
        @Test func endpointThatNeverCachesHasNoCacheLine() async throws {
            respond(Data("text".utf8), "text/plain")
            _ = try await messages(of: RequestDescription(endpoint: "Get", url: "/x"))
            let texts = recorder.texts()
            #expect(
                !texts.isEmpty && !texts.contains { $0.contains("cache") || $0.contains("stored") })
            var cached = RequestDescription(endpoint: "Get", url: "/y")
            cached.cacheSeconds = 60
            _ = try await messages(of: cached)
            #expect(recorder.texts().contains { $0.contains("cache miss: noEntry") })
        }
    }
#endif
