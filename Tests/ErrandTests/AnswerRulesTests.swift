import Errand
import ErrandTesting
import Foundation
import Testing

/// What counts as a success, for an endpoint and for an agent.
@Suite(.timeLimit(.minutes(5))) struct AnswerRulesTests {
    private struct Sold: Error {}

    @Test func aSetOrARuleOfStatuses() async {
        let missing = ScriptedAnswer.json("{}", status: .notFound)
        #expect(await failure(missing) { $0.statusCodeValidator = .codes([200, 404]) } == nil)
        #expect(await failure(missing) { $0.statusCodeValidator = .any } == nil)
        let error = await failure(.json("{}")) {
            $0.acceptableStatusCodes = 200..<300
            $0.statusCodeValidator = StatusCodeValidator { $0 % 2 == 1 }
        }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func theAgentsContentTypesCountWhereTheEndpointSaysNothing() async {
        let text = ScriptedAnswer(
            headers: [.contentType: "text/plain"], body: Data(#"{"a":1}"#.utf8))
        let any: (inout Configuration) -> Void = { $0.acceptableContentTypes = .any }
        #expect(await failure(text)?.code == .unacceptableContentType)
        #expect(await outcome(text, agent: any) == nil)
        let own = await outcome(text, agent: any) {
            $0.acceptableContentTypes = .types(["text/html"])
        }
        #expect(own?.code == .unacceptableContentType)
        let suffix = ScriptedAnswer(
            headers: [.contentType: "application/vnd.api+json; charset=utf-8"],
            body: Data("{}".utf8))
        #expect(await failure(suffix) == nil)
    }

    @Test func compoundTakesWhateverFits() async {
        let serializer = ResponseSerializer.compound([.json, .plist])
        let xml = Data(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict/></plist>
            """.utf8)
        let plist = ScriptedAnswer(headers: [.contentType: "application/x-plist"], body: xml)
        #expect(await failure(plist) { $0.responseSerializer = serializer } == nil)
        #expect(await failure(.json("{}")) { $0.responseSerializer = serializer } == nil)
        let error = await failure(.json("{\"a\":")) { $0.responseSerializer = serializer }
        #expect(error?.code == .undecodable)
        let html = ScriptedAnswer(headers: [.contentType: "text/html"], body: xml)
        #expect(
            await failure(html) { $0.responseSerializer = serializer }?.code
                == .unacceptableContentType)
    }

    @Test func businessValidationHasThreeOutcomes() async {
        let validator = BusinessValidator { response in
            switch response.json["code"].int {
            case 0: .accept
            case 9: .drop("superseded")
            default: .reject(Sold())
            }
        }
        #expect(await failure(.json(#"{"code":0}"#)) { $0.businessValidators = [validator] } == nil)
        let rejected = await failure(.json(#"{"code":1}"#)) { $0.businessValidators = [validator] }
        #expect(rejected?.code == .rejected)
        #expect(rejected?.underlying is Sold)
        #expect(rejected?.response?.json["code"].int == 1)
        let dropped = await failure(.json(#"{"code":9}"#)) { $0.businessValidators = [validator] }
        #expect(dropped?.isCancellation == true)
        #expect(dropped?.message.contains("superseded") == true)
    }

    @Test func theAgentsBusinessRulesComeFirstAndMayBeRetried() async throws {
        let world = World {
            $0.retryPolicy = .attempts(2)
            $0.businessValidators = [
                BusinessValidator { $0.json["code"].int == 0 ? .accept : .reject(Sold()) }
            ]
            $0.retryDecider = { $0.error.code == .rejected ? .again(after: .zero) : .asPolicy }
        }
        world.transport.on(.get, "/x", .json(#"{"code":1}"#), .json(#"{"code":0}"#))
        let response = try await world.with(Plain("x")).send()
        #expect(response.attempts == 2)
    }

    @Test func aStoredAnswerThatRulesNoLongerAcceptGoesToTheNetwork() async throws {
        final class Stored: BaseRequest {
            var refused: Int?
            override var url: String { "stored" }
            override var cacheSeconds: Int { 60 }
            override var writesCacheAsynchronously: Bool { false }
            override var businessValidator: BusinessValidator? {
                BusinessValidator { [refused] in
                    $0.json["n"].int == refused ? .reject(Sold()) : .accept
                }
            }
        }
        let world = World()
        world.transport.on(.get, "/stored", .json(#"{"n":1}"#), .json(#"{"n":2}"#))
        let request = world.with(Stored())
        #expect(try await request.send().json["n"].int == 1)
        #expect(try await request.send().source == .cacheFresh)
        request.refused = 1
        let fresh = try await request.send()
        #expect(fresh.json["n"].int == 2 && fresh.source == .network)
        #expect(try await request.send().source == .cacheFresh)
    }

    @Test func nullsAreRemovedAtEveryLevelBehindValidation() async throws {
        final class Sparse: JSONRequest<[String: [Int]]> {
            override var url: String { "x" }
            override var removesNulls: Bool { true }
            override var validator: JSONShape? { ["gone": .null] }
        }
        let world = World()
        world.transport.on(.get, "/x", .json(#"{"gone":null,"list":[1,null,2]}"#))
        let request = world.with(Sparse())
        #expect(try await request.value() == ["list": [1, 2]])
        #expect(request.response?.json["gone"].exists == false)
        #expect(request.response?.string == #"{"gone":null,"list":[1,null,2]}"#)
    }

    @Test func errorsCarryTheirDecodedBody() async {
        struct Problem: Decodable, Sendable { var title: String }
        let answer = ScriptedAnswer.json(#"{"title":"Out of stock"}"#, status: .conflict)
        let own = await failure(answer) { $0.errorDecoder = .json(Problem.self) }
        #expect(own?.body(as: Problem.self)?.title == "Out of stock")
        let agents = await outcome(answer, agent: { $0.errorDecoder = .json(Problem.self) })
        #expect(agents?.body(as: Problem.self)?.title == "Out of stock")
        let other = await failure(.json("[]", status: .conflict)) {
            $0.errorDecoder = .json(Problem.self)
        }
        #expect(other?.code == .unacceptableStatus && other?.body == nil)
    }

    @Test func aFailureCanBecomeAnAnswer() async throws {
        let world = World {
            $0.errorRecovery = { error, description in
                guard error.code == .unacceptableStatus else { return nil }
                return Response(
                    status: 200, body: .data(Data(#"{"nick":"nobody","level":0}"#.utf8)),
                    url: error.response?.url ?? URI())
            }
        }
        world.transport.on(.get, "/users", .json("{}", status: .notFound))
        let user = try await world.with(GetUser(id: 1)).value()
        #expect(user == User(nick: "nobody", level: 0))
        world.transport.on(.get, "/users", .failure(RequestError(.offline, stage: .transport, "")))
        let error = await #expect(throws: RequestError.self) {
            try await world.with(GetUser(id: 1)).send()
        }
        #expect(error?.code == .offline)
    }

    @Test func peopleReadOtherTextsThanLogs() async {
        let messages = ErrorMessages(
            general: "Please try again.", [.unacceptableStatus: "Not today."], showsCode: true)
        let error = await outcome(
            .json("{}", status: .gone), agent: { $0.errorMessages = messages })
        #expect(error?.localizedDescription == "Not today. (unacceptableStatus 410)")
        #expect(error?.description.contains("The server answered 410") == true)
        let other = await outcome(.json("{"), agent: { $0.errorMessages = messages })
        #expect(other?.userMessage == "Please try again. (undecodable 200)")
        #expect(await failure(.json("{"))?.userMessage == nil)
    }

    private func outcome(
        _ answer: ScriptedAnswer, agent configure: (inout Configuration) -> Void,
        _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        let world = World(configure)
        world.transport.on(.get, "/x", answer)
        do {
            try await world.with(InlineRequest("x", describe)).send()
            return nil
        } catch {
            return error
        }
    }

    private func failure(
        _ answer: ScriptedAnswer, _ describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        await outcome(answer, agent: { _ in }, describe)
    }
}
