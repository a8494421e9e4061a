import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Duplicate policies of streams, and the settings that streams refuse.
@Suite(.limited) struct StreamDuplicateTests {
    private let fixture = AgentFixture()
    private let gate = Gate()

    private func feed(_ policy: RequestDescription.SendingOptions.Duplicates) -> InlineRequest {
        InlineRequest("feed") { $0.sending.duplicates = policy }
    }

    private func script() {
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), .text("b")))
    }

    @Test func rejectRefusesUntilTheEndOfTheStream() async throws {
        script()
        let first = try await feed(.reject).stream(on: fixture.agent)
        #expect(await fixture.refusal(feed(.reject))?.code == .duplicate)
        #expect(fixture.transport.requestCount == 1)
        gate.open()
        #expect(await first.readToEnd().text == "ab")
        let second = try await feed(.reject).stream(on: fixture.agent)
        #expect(await second.readToEnd().text == "ab")
        #expect(fixture.agent.activeTasks.isEmpty)
    }

    @Test func rejectIsOverWhenTheStreamIsLeft() async throws {
        script()
        let first = try await feed(.reject).stream(on: fixture.agent)
        for try await _ in first.bytes { break }
        await first.task.untilEnded()
        _ = try await feed(.reject).stream(on: fixture.agent)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func queuedStreamsFollowOneAnother() async throws {
        script()
        let agent = fixture.agent
        let first = try await feed(.queue).stream(on: agent)
        let second = Task { try await feed(.queue).stream(on: agent).readToEnd().text }
        try await fixture.untilQueued()
        #expect(fixture.transport.requestCount == 1)
        gate.open()
        #expect(await first.readToEnd().text == "ab")
        #expect(try await second.value == "ab")
        #expect(fixture.transport.requestCount == 2 && agent.activeTasks.isEmpty)
    }

    @Test func aQueuedStreamFollowsACancelledOne() async throws {
        script()
        let agent = fixture.agent
        let first = try await feed(.queue).stream(on: agent)
        let cancelled = Task { try await feed(.queue).stream(on: agent) }
        try await fixture.untilQueued(1)
        let third = Task { try await feed(.queue).stream(on: agent).readToEnd().text }
        try await fixture.untilQueued(2)
        cancelled.cancel()
        await #expect(throws: RequestError.self) { try await cancelled.value }
        first.task.cancel()
        gate.open()
        #expect(try await third.value == "ab")
        await first.task.untilEnded()
        #expect(fixture.transport.requestCount == 2 && agent.activeTasks.isEmpty)
    }

    @Test func cancelPreviousEndsTheEarlierStream() async throws {
        script()
        let first = try await feed(.cancelPrevious).stream(on: fixture.agent)
        let second = try await feed(.cancelPrevious).stream(on: fixture.agent)
        let reading = await first.readToEnd()
        #expect(reading.error?.code == .cancelled && reading.chunks == 0)
        gate.open()
        #expect(await second.readToEnd().text == "ab")
        // The end of the first one did not remove the second.
        #expect(fixture.agent.activeTasks.isEmpty && fixture.transport.inFlight == 0)
    }

    @Test func aStreamIsNoDuplicateOfARequest() async throws {
        script()
        let first = try await feed(.reject).stream(on: fixture.agent)
        let task = fixture.agent.start(
            InlineRequest("feed") {
                $0.sending.duplicates = .reject
                $0.acceptance.format = .any
            }.makeDescription())
        gate.open()
        #expect(try await task.response().string == "ab")
        #expect(await first.readToEnd().text == "ab")
    }

    // MARK: - Refused settings

    /// A setting that needs the complete body.
    enum Setting: String, CaseIterable, Sendable {
        case duplicates = "sending.duplicates", validator, rules = "acceptance.rules"
        case responseProcessors, removesNulls = "json.removesNulls"
        case format = "acceptance.format", compoundFormat, download

        func apply(_ description: inout RequestDescription) {
            switch self {
            case .duplicates: description.sending.duplicates = .join
            case .validator: description.validator = ["a": .number]
            case .rules:
                description.acceptance.rules = [ResponseRule { _ in .accept }]
            case .responseProcessors:
                description.responseProcessors = [{ _ in }]
            case .removesNulls: description.json.removesNulls = true
            case .format: description.acceptance.format = .custom { _ in }
            case .compoundFormat:
                description.acceptance.format = .firstOf([.json, .firstOf([.custom { _ in }])])
            case .download:
                description.download = DownloadPlan(
                    to: FileManager.default.temporaryDirectory
                        .appendingPathComponent("errand-refused"))
            }
        }

        /// The word that names the setting in the error.
        var word: String {
            self == .compoundFormat ? "acceptance.format" : rawValue
        }
    }

    @Test(arguments: Setting.allCases)
    func settingsThatNeedTheBodyAreRefused(setting: Setting) async {
        let error = await fixture.refusal(InlineRequest("feed") { setting.apply(&$0) })
        #expect(error?.code == .invalidCombination && error?.stage == .build)
        #expect(error?.message.contains("InlineRequest is streamed") == true)
        #expect(error?.message.contains(setting.word) == true)
        #expect(fixture.transport.requestCount == 0 && fixture.agent.activeTasks.isEmpty)
        #expect(fixture.events.names.count { $0 == "ended" } == 1)
    }

    @Test func settingsOfTheConfigurationThatNeedTheBodyAreRefused() async {
        let changes: [(inout Configuration) -> Void] = [
            { $0.responseProcessors = [{ _ in }] },
            { $0.responseRules = [ResponseRule { _ in .accept }] },
        ]
        for change in changes {
            let fixture = AgentFixture(change)
            #expect(await fixture.refusal(Feed())?.code == .invalidCombination)
            #expect(fixture.transport.requestCount == 0)
        }
    }

    @Test(arguments: [
        RequestDescription.Acceptance.Format.any, .text, .json, .propertyList, .xml,
        .firstOf([.json]),
    ])
    func formatsWithoutAClosureAreAccepted(format: RequestDescription.Acceptance.Format)
        async throws
    {
        fixture.transport.on(.get, "/feed", .stream(.text("not JSON")))
        let stream = try await InlineRequest("feed") { $0.acceptance.format = format }.stream(
            on: fixture.agent)
        #expect(await stream.readToEnd().text == "not JSON")
    }
}
