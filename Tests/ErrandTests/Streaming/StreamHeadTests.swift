import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Everything that concerns the head is done before `stream()` returns.
@Suite(.limited) struct StreamHeadTests {
    private let never = Gate()

    @Test func redirectsAreFollowedWithTheirCookies() async throws {
        let fixture = AgentFixture()
        let redirect: HTTPFields = [.location: "/other", .setCookie: "a=1; Path=/"]
        fixture.transport.on(
            .get, "/feed", ScriptedResponse(status: .found, headers: redirect, body: Data("x".utf8))
        )
        fixture.transport.on(
            .get, "/other", .stream([.setCookie: "b=2; Path=/"], .text("body"), .hold(never)))
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(stream.response.url.path == "/other" && stream.response.timings.count == 2)
        #expect(stream.response.isStreamed && stream.response.data.isEmpty)
        #expect(fixture.transport.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
        // The cookie of the final head is in the jar before its body has ended.
        let another = Task { try await Feed().stream(on: fixture.agent) }
        _ = try await another.value
        #expect(fixture.transport.requests.last?.headers[.cookie]?.contains("b=2") == true)
        stream.task.cancel()
    }

    @Test func credentialsAreRenewedAfterA401() async throws {
        let token = RefreshableToken()
        let fixture = AgentFixture {
            $0.authenticators["*.example.com"] = .bearer {
                token.current
            } refresh: {
                token.refresh()
            }
        }
        fixture.transport.respond { request in
            request.headers[.authorization] == "Bearer new"
                ? .stream(.text("body")) : ScriptedResponse(status: .unauthorized)
        }
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(stream.response.status == .ok && fixture.transport.requestCount == 2)
        #expect(await stream.readToEnd().text == "body")
        #expect(fixture.events.names.count { $0 == "credentialsRenewed" } == 1)
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func failuresBeforeTheHeadAreRetried() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        fixture.transport.on(
            .get, "/feed", .json("{}", status: .serviceUnavailable),
            .failure(RequestError(.connectionLost, stage: .transport, "Lost.")),
            .stream(.text("body")))
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(stream.response.attempts == 3 && stream.response.timings.count == 3)
        #expect(await stream.readToEnd().text == "body")
        #expect(fixture.transport.requestCount == 3)
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func aFailureAfterTheHeadIsNotRetried() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        let stream = try await fixture.feed(.interruption)
        let reading = await stream.readToEnd()
        #expect(reading.error?.code == .connectionLost && reading.error?.bytesReceived == 0)
        #expect(fixture.transport.requestCount == 1)
        try await fixture.expectOneEnd(stream.task, .connectionLost)
    }

    @Test func theErrorOfARefusedStatusHasTheBody() async throws {
        struct Problem: Decodable, Sendable { var title: String }
        let fixture = AgentFixture {
            $0.userMessage = { $0.code == .unacceptableStatus ? "Not there." : nil }
        }
        fixture.transport.on(
            .get, "/x", .json(#"{"title":"gone"}"#, status: .notFound))
        let error = await fixture.refusal(
            InlineRequest("x") { $0.errorDecoder = .json(Problem.self) })
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.string == #"{"title":"gone"}"#)
        #expect(error?.body(as: Problem.self)?.title == "gone")
        #expect(error?.localizedDescription == "Not there.")
        #expect(error?.endpoint == "InlineRequest" && error?.bytesReceived == nil)
        #expect(fixture.agent.activeTasks.isEmpty && fixture.transport.inFlight == 0)
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func theBodyOfARefusedResponseIsBounded() async throws {
        let fixture = AgentFixture { $0.transportOptions.maximumBytesInMemory = 10 }
        let head = ResponseHead(status: .notFound, httpVersion: .http11)
        fixture.transport.on(
            .get, "/feed",
            ScriptedResponse(steps: [
                .head(head), .text("0123456789"), .text("x"), .hold(never),
            ]))
        let error = await fixture.refusal(Feed())
        // The rest is not received, and the error is that of the status.
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(error?.response?.string == "0123456789")
        #expect(fixture.agent.activeTasks.isEmpty && fixture.transport.inFlight == 0)
        // An accepted body may have any size.
        let stream = try await AgentFixture {
            $0.transportOptions.maximumBytesInMemory = 10
        }.feed(.text("0123456789"), .text("0123456789"))
        #expect(await stream.readToEnd().bytes.count == 20)
    }

    @Test func theErrorOfARefusedContentTypeHasTheBody() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/x", .stream([.contentType: "text/html"], .text("<p>")))
        let error = await fixture.refusal(
            InlineRequest("x") { $0.acceptance.contentTypes = ["text/event-stream"] })
        #expect(error?.code == .unacceptableContentType && error?.response?.string == "<p>")
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test(arguments: ["text/html", "image/png", "application/octet-stream", nil])
    func automaticContentTypesAcceptAll(type: String?) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/users", .stream(type.map { [.contentType: $0] } ?? [:], .text("<p>")))
        // Also if the endpoint is typed: it decodes no output.
        let stream = try await GetUser(id: 1).stream(on: fixture.agent)
        #expect(await stream.readToEnd().text == "<p>")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func anAcceptedFailureStatusIsStreamed() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        let head = ResponseHead(status: .serviceUnavailable, httpVersion: .http11)
        fixture.transport.on(.get, "/x", ScriptedResponse(steps: [.head(head), .text("down")]))
        let stream = try await InlineRequest("x") {
            $0.acceptance.statuses = StatusCodes(200..<600)
        }.stream(on: fixture.agent)
        #expect(stream.response.status == .serviceUnavailable)
        #expect(await stream.readToEnd().text == "down")
        #expect(fixture.transport.requestCount == 1)
    }

    /// Redirects and 401 are collected, because a step may need them; the body is given from memory.
    @Test(arguments: [304, 302, 401]) func anAcceptedStatusOfAStepIsReadFromMemory(
        status: Int
    ) async throws {
        let fixture = AgentFixture()
        let head = ResponseHead(status: .init(code: status), httpVersion: .http11)
        fixture.transport.on(
            .get, "/x", ScriptedResponse(steps: [.head(head), .text("a"), .text("b")]))
        let stream = try await InlineRequest("x") {
            $0.acceptance.statuses = StatusCodes(200..<500)
        }.stream(on: fixture.agent)
        #expect(stream.response.status.code == status && stream.response.isStreamed)
        #expect(await stream.readToEnd().text == "ab")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func errorRecoveryReplacesTheStream() async throws {
        let fixture = AgentFixture {
            $0.errorRecovery = { error, _ in
                Response(status: .ok, body: .data(Data("instead".utf8)), url: HTTPURL())
            }
        }
        fixture.transport.on(.get, "/feed", .json("{}", status: .notFound))
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(await stream.readToEnd().text == "instead")
        try await fixture.expectOneEnd(stream.task, nil)
    }
}
