import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Rules of the endpoint and of the configuration for which responses are accepted.
@Suite(.limited) struct ResponseAcceptanceTests {
    private struct SoldOut: Error {}

    @Test func statusCodeValidatorAcceptsSetsAndPredicates() async {
        let missing = ScriptedResponse.json("{}", status: .notFound)
        #expect(await failure(missing) { $0.acceptance.statuses = [200, 404] } == nil)
        #expect(await failure(missing) { $0.acceptance.statuses = .any } == nil)
        let error = await failure(.json("{}")) {
            $0.acceptance.statuses = StatusCodes { $0 % 2 == 1 }
        }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func configurationContentTypesApplyUnlessTheEndpointHasItsOwn() async {
        let text = ScriptedResponse(
            headers: [.contentType: "text/plain"], body: Data(#"{"a":1}"#.utf8))
        let any: (inout Configuration) -> Void = { $0.acceptableContentTypes = ["*/*"] }
        let json: (inout RequestDescription) -> Void = { $0.acceptance.format = .json }
        #expect(await failure(text, json)?.code == .unacceptableContentType)
        #expect(await agentFailure(text, configuration: any, json) == nil)
        let own = await agentFailure(text, configuration: any) {
            $0.acceptance.contentTypes = ["text/html"]
        }
        #expect(own?.code == .unacceptableContentType)
        let suffix = ScriptedResponse(
            headers: [.contentType: "application/vnd.api+json; charset=utf-8"],
            body: Data("{}".utf8))
        #expect(await failure(suffix) == nil)
    }

    @Test func bodiesInMemoryAreLimited() async {
        let limit: (inout Configuration) -> Void = { $0.transportOptions.maximumBytesInMemory = 10 }
        #expect(await agentFailure(.json(#"{"a":"bc"}"#), configuration: limit) == nil)
        let whole = await agentFailure(.json(#"{"a":"bcd"}"#), configuration: limit)
        #expect(whole?.code == .bodyTooLarge && whole?.response?.data.isEmpty == true)
        let pieces = ScriptedResponse(steps: [
            .head(ResponseHead(status: .ok, headers: [:])), .bytes(Data("[1,2,3".utf8)),
            .bytes(Data(",4,5]".utf8)),
        ])
        #expect(await agentFailure(pieces, configuration: limit)?.code == .bodyTooLarge)
    }

    @Test func compoundSerializerAcceptsEachOfItsFormats() async {
        let serializer = RequestDescription.Acceptance.Format.firstOf([.json, .propertyList])
        let xml = Data(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict/></plist>
            """.utf8)
        let plist = ScriptedResponse(headers: [.contentType: "application/x-plist"], body: xml)
        #expect(await failure(plist) { $0.acceptance.format = serializer } == nil)
        #expect(await failure(.json("{}")) { $0.acceptance.format = serializer } == nil)
        let error = await failure(.json("{\"a\":")) { $0.acceptance.format = serializer }
        #expect(error?.code == .undecodable)
        let html = ScriptedResponse(headers: [.contentType: "text/html"], body: xml)
        #expect(
            await failure(html) { $0.acceptance.format = serializer }?.code
                == .unacceptableContentType)
    }

    @Test func businessValidatorAcceptsRejectsOrDrops() async {
        let validator = ResponseRule { response in
            switch response.json["code"].int {
            case 0: .accept
            case 9: .drop("superseded")
            default: .reject(SoldOut())
            }
        }
        #expect(await failure(.json(#"{"code":0}"#)) { $0.acceptance.rules = [validator] } == nil)
        let rejected = await failure(.json(#"{"code":1}"#)) { $0.acceptance.rules = [validator] }
        #expect(rejected?.code == .rejected)
        #expect(rejected?.underlying is SoldOut)
        #expect(rejected?.response?.json["code"].int == 1)
        let dropped = await failure(.json(#"{"code":9}"#)) { $0.acceptance.rules = [validator] }
        #expect(dropped?.isCancellation == true)
        #expect(dropped?.message.contains("superseded") == true)
    }

    @Test func rejectionByTheConfigurationsResponseRuleCanBeRetried() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = .attempts(2)
            $0.responseRules = [
                ResponseRule { $0.json["code"].int == 0 ? .accept : .reject(SoldOut()) }
            ]
            $0.retryDecider = { $0.error.code == .rejected ? .again(after: .zero) : .asPolicy }
        }
        fixture.transport.on(.get, "/x", .json(#"{"code":1}"#), .json(#"{"code":0}"#))
        let response = try await fixture.with(Plain("x")).send()
        #expect(response.attempts == 2)
    }

    @Test func cachedResponseThatIsRejectedIsFetchedAgain() async throws {
        final class Stored: BaseRequest {
            var refused: Int?
            override var url: EndpointURL { "stored" }
            override var cacheSeconds: Int { 60 }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.cache.writesAsynchronously = false
                request.acceptance.rules.append(
                    ResponseRule { [refused] in
                        $0.json["n"].int == refused ? .reject(SoldOut()) : .accept
                    })
            }
        }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/stored", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        let request = fixture.with(Stored())
        #expect(try await request.send().json["n"].int == 1)
        #expect(try await request.send().source == .cacheFresh)
        request.refused = 1
        let fresh = try await request.send()
        #expect(fresh.json["n"].int == 2 && fresh.source == .network)
        #expect(try await request.send().source == .cacheFresh)
    }

    @Test func nullsAreRemovedAtEveryLevelAfterValidation() async throws {
        final class Sparse: JSONRequest<[String: [Int]]> {
            override var url: EndpointURL { "x" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.removesNulls = true
            }
            override var validator: JSONShape? { ["gone": .null] }
        }
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .json(#"{"gone":null,"list":[1,null,2]}"#))
        let request = fixture.with(Sparse())
        #expect(try await request.value() == ["list": [1, 2]])
        #expect(request.response?.json["gone"].exists == false)
        #expect(request.response?.string == #"{"gone":null,"list":[1,null,2]}"#)
    }

    @Test func errorCarriesItsDecodedBody() async {
        struct Problem: Decodable, Sendable { var title: String }
        let response = ScriptedResponse.json(#"{"title":"Out of stock"}"#, status: .conflict)
        let own = await failure(response) { $0.errorDecoder = .json(Problem.self) }
        #expect(own?.body(as: Problem.self)?.title == "Out of stock")
        let shared = await agentFailure(
            response, configuration: { $0.errorDecoder = .json(Problem.self) })
        #expect(shared?.body(as: Problem.self)?.title == "Out of stock")
        let other = await failure(.json("[]", status: .conflict)) {
            $0.errorDecoder = .json(Problem.self)
        }
        #expect(other?.code == .unacceptableStatus && other?.body == nil)
    }

    @Test func errorBodyIsDecodedWithTheStrategiesOfTheConfiguration() async {
        struct Problem: Decodable, Sendable { var requestId: String }
        let response = ScriptedResponse.json(#"{"request_id":"r-7"}"#, status: .conflict)
        let usesSnakeCase: (inout Configuration) -> Void = {
            $0.json.keys = .snakeCase
        }
        let shared = await agentFailure(response, configuration: usesSnakeCase) {
            $0.errorDecoder = .json(Problem.self)
        }
        #expect(shared?.body(as: Problem.self)?.requestId == "r-7")
        let own = await agentFailure(response, configuration: usesSnakeCase) {
            $0.errorDecoder = .json(Problem.self, decoder: JSONReader())
        }
        #expect(own?.code == .unacceptableStatus && own?.body == nil)
    }

    @Test func errorRecoveryTurnsAFailureIntoAResponse() async throws {
        let fixture = AgentFixture {
            $0.errorRecovery = { error, description in
                guard error.code == .unacceptableStatus else { return nil }
                return Response(
                    status: 200, body: .data(Data(#"{"nick":"guest","level":0}"#.utf8)),
                    url: error.response?.url ?? HTTPURL())
            }
        }
        fixture.transport.on(.get, "/users", .json("{}", status: .notFound))
        let user = try await fixture.with(GetUser(id: 1)).value()
        #expect(user == User(nick: "guest", level: 0))
        fixture.transport.on(
            .get, "/users", .failure(RequestError(.offline, stage: .transport, "")))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(GetUser(id: 1)).send()
        }
        #expect(error?.code == .offline)
    }

    @Test func userMessageDiffersFromTheDescription() async {
        let message: @Sendable (RequestError) -> String? = { error in
            let status = error.status.map { " \($0.code)" } ?? ""
            return switch error.code {
            case .unacceptableStatus: "Not today. (\(error.code)\(status))"
            case .undecodable: "Please try again. (\(error.code)\(status))"
            default: nil
            }
        }
        let error = await agentFailure(
            .json("{}", status: .gone), configuration: { $0.userMessage = message })
        #expect(error?.localizedDescription == "Not today. (unacceptableStatus 410)")
        #expect(error?.description.contains("status 410 (expected 200..<300)") == true)
        let json: (inout RequestDescription) -> Void = { $0.acceptance.format = .json }
        let other = await agentFailure(
            .json("{"), configuration: { $0.userMessage = message }, json)
        #expect(other?.userMessage == "Please try again. (undecodable 200)")
        let offline = ScriptedResponse.failure(RequestError(.offline, stage: .transport, "No."))
        let unnamed = await agentFailure(offline, configuration: { $0.userMessage = message })
        #expect(unnamed?.code == .offline && unnamed?.userMessage == nil)
        let plain = await failure(.json("{"), json)
        #expect(plain?.code == .undecodable && plain?.userMessage == nil)
    }

    private func agentFailure(
        _ response: ScriptedResponse, configuration configure: (inout Configuration) -> Void,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        await AgentFixture(configure).failure(of: response, describe)
    }

    private func failure(
        _ response: ScriptedResponse, _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        await AgentFixture().failure(of: response, describe)
    }
}
