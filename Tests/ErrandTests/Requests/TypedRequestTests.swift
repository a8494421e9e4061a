import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Plain, typed and download endpoints below one base class of a service.
@Suite(.limited) struct TypedRequestTests {
    private class HubRequest: BaseRequest {
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.json.keys = .snakeCase
            request.headers[.custom("X-Hub")] = "1"
            request.json.path = ["data"]
            request.download?.existingFile = .fail
        }
    }

    private struct Pilot: Decodable, Equatable {
        var nickName: String
    }

    private final class Ping: HubRequest {
        override var url: EndpointURL { "ping" }
    }

    private final class GetPilot: HubRequest, DecodableOutput {
        typealias Output = Pilot
        private(set) var seen: Pilot?
        override var url: EndpointURL { "pilot" }
        override func didFinish() { seen = output }
    }

    private class List<Item: Decodable & Sendable>: HubRequest, DecodableOutput {
        typealias Output = [Item]
    }

    private final class GetPilots: List<Pilot> {
        override var url: EndpointURL { "pilots" }
    }

    private final class Motto: HubRequest, TypedRequest {
        override var url: EndpointURL { "motto" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .text
        }
        var decoder: ResponseDecoder<String> { .string }
    }

    // Models with these names are frequent; a member type of the base class would hide them.
    private struct Event: Decodable, Equatable {
        var id: Int
    }

    private struct Success: Decodable, Equatable {
        var events: [Event]
    }

    private final class GetEvents: HubRequest, DecodableOutput {
        typealias Output = Success
        override var url: EndpointURL { "events" }
        func first(of output: Success) -> Event? { output.events.first }
    }

    private class Photo: HubRequest, FileOutput {
        let destination: URL
        init(to destination: URL) { self.destination = destination }
        var download: DownloadPlan { .to(destination) }
        override var url: EndpointURL { "photo" }
    }

    private let fixture = AgentFixture()
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws {
        temporary = try TemporaryFolder("typed")
        fixture.transport.on(.get, "/ping", .json("{}"))
        fixture.transport.on(.get, "/pilot", .json(#"{"data":{"nick_name":"amelia"}}"#))
        fixture.transport.on(.get, "/pilots", .json(#"{"data":[{"nick_name":"amelia"}]}"#))
        fixture.transport.on(
            .get, "/motto",
            ScriptedResponse(headers: [.contentType: "text/plain"], body: Data("up".utf8)))
        fixture.transport.on(
            .get, "/photo",
            ScriptedResponse(headers: [.contentType: "image/jpeg"], body: Data("photo".utf8)))
    }

    private func error(of request: BaseRequest) async -> RequestError? {
        await #expect(throws: RequestError.self) { try await request.send(on: fixture.agent) }
    }

    @Test func everyKindOfEndpointSharesOneBaseClass() async throws {
        let (agent, file) = (fixture.agent, folder.appendingPathComponent("a.jpg"))
        #expect(try await Ping().send(on: agent).status == .ok)
        #expect(try await GetPilot().value(on: agent) == Pilot(nickName: "amelia"))
        #expect(try await GetPilots().value(on: agent) == [Pilot(nickName: "amelia")])
        #expect(try await Motto().value(on: agent) == "up")
        #expect(try await Photo(to: file).value(on: agent).file == file)
        #expect(try Data(contentsOf: file) == Data("photo".utf8))
        let hub = fixture.transport.requests.map { $0.headers[.init("X-Hub")!] }
        #expect(hub == Array(repeating: "1", count: 5))
    }

    @Test func namesOfModelsAreFree() async throws {
        fixture.transport.on(.get, "/events", .json(#"{"data":{"events":[{"id":7}]}}"#))
        let request = GetEvents()
        let output = try await request.value(on: fixture.agent)
        #expect(request.first(of: output) == Event(id: 7))
    }

    @Test func downloadUsesTheSettingsOfItsBaseClass() async throws {
        let file = folder.appendingPathComponent("b.jpg")
        try Data("old".utf8).write(to: file)
        let error = await error(of: Photo(to: file))
        #expect(error?.code == .fileFailed && error?.message.contains("already exists") == true)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func outputIsSetBeforeTheHookAndClearedByAFailure() async throws {
        let request = GetPilot()
        #expect(request.output == nil)
        try await request.send(on: fixture.agent)
        #expect(request.seen == Pilot(nickName: "amelia") && request.output == request.seen)
        fixture.transport.on(.get, "/pilot", .json("{}", status: .badGateway))
        _ = await error(of: request)
        #expect(request.output == nil)
    }

    @Test func membersOfCompositesAreDecoded() async throws {
        let pilot = GetPilot()
        let file = folder.appendingPathComponent("c.jpg")
        let members: [any TypedRequest] = [pilot, Motto(), Photo(to: file)]
        try await BatchRequest(members).send(on: fixture.agent)
        #expect(members.compactMap { $0.output as Any? }.count == 3)
        let values = try await BatchRequest.Typed(GetPilot(), Motto(), GetPilots())
            .value(on: fixture.agent)
        #expect(values.0.nickName == "amelia" && values.1 == "up" && values.2.count == 1)
        let chain = ChainRequest()
        chain.add(GetPilots()).then { $0.output?.first == nil ? nil : Motto() }
        try await chain.send(on: fixture.agent)
        #expect((chain.requests.last as? Motto)?.output == "up")
    }

    @Test func absentOptionalOutputDiffersFromNoOutput() async throws {
        final class Maybe: HubRequest, DecodableOutput {
            typealias Output = Pilot?
            override var url: EndpointURL { "maybe" }
            override func configure(_ request: inout RequestDescription) {
                super.configure(&request)
                request.json.path = []
            }
        }
        fixture.transport.on(.get, "/maybe", ScriptedResponse(status: .noContent))
        let request = Maybe()
        #expect(request.output == nil)
        #expect(try await request.value(on: fixture.agent) == nil)
        #expect(request.output == .some(nil))
    }

    // MARK: - Mistakes, found before anything is sent

    private func isRefused(_ error: RequestError?, _ code: RequestError.Code, _ text: String)
        -> Bool
    {
        error?.code == code && error?.stage == .build && error?.message.contains(text) == true
            && fixture.transport.requests.isEmpty
    }

    @Test func downloadWithADecoderOfItsOwnIsRefused() async {
        final class Parsed: HubRequest, FileOutput {
            override var url: EndpointURL { "photo" }
            var download: DownloadPlan { .to(URL(fileURLWithPath: "/nowhere/x")) }
            var decoder: ResponseDecoder<DownloadedFile> {
                ResponseDecoder { _ in DownloadedFile(file: URL(fileURLWithPath: "/"), bytes: 0) }
            }
        }
        let error = await error(of: Parsed())
        #expect(isRefused(error, .invalidCombination, "Parsed is a download with a decoder"))
    }

    @Test func malformedDigestAndDestinationAreRefused() async {
        final class Short: Photo {
            override var download: DownloadPlan { .to(destination) { $0.sha256 = "abc" } }
        }
        let digest = await error(of: Short(to: folder))
        #expect(isRefused(digest, .invalidConfiguration, "64 hexadecimal digits"))
        let remote = await error(of: Photo(to: URL(string: "https://example.com/x")!))
        #expect(isRefused(remote, .fileFailed, "not a file URL"))
    }

    @Test func conformanceOfASubclassUsesItsFile() async throws {
        final class Plain: BaseRequest, FileOutput {
            let download: DownloadPlan
            init(to destination: URL) { download = .to(destination) }
            override var url: EndpointURL { "photo" }
        }
        let file = folder.appendingPathComponent("d.jpg")
        #expect(try await Plain(to: file).value(on: fixture.agent).file == file)
    }
}
