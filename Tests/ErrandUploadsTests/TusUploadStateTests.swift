import ErrandHTTP
import Foundation
import Testing

@testable import ErrandUploads

/// The decisions of an upload, without input and output.
struct TusUploadStateTests {
    typealias Plan = TusUploadState.Plan
    typealias Remote = TusUploadState.Remote

    static let url = "https://a.test/files/1"

    static func plan(_ change: (inout Plan) -> Void = { _ in }) -> Plan {
        var plan = Plan(length: 10)
        plan.retry = .attempts(3)
        change(&plan)
        return plan
    }

    static func response(
        _ status: Int, offset: Int64? = nil, _ change: (inout TusResponse) -> Void = { _ in }
    ) -> TusUploadState.Event {
        var response = TusResponse(status: status)
        response.offset = offset
        if status == 201 { response.location = url }
        change(&response)
        let error = RequestError(.unacceptableStatus, stage: .validate, "Status \(status).")
        return .response(response, response.isSuccess ? nil : error)
    }

    static let lost = TusUploadState.Event.failure(
        RequestError(.connectionLost, stage: .transport, "Lost."), isTransient: true)
    static let options = response(204) {
        $0.versions = ["1.0.0"]
        $0.extensions = ["creation", "termination", "checksum"]
        $0.algorithms = ["md5", "sha1", "sha256"]
        $0.maximumSize = 100
    }

    /// Runs events in order; returns the state and the last decision.
    static func run(
        by plan: Plan = plan(), from remote: Remote? = nil, isChanged: Bool = false,
        _ events: TusUploadState.Event...
    ) -> TusUploadState.Decision {
        var state = TusUploadState(plan)
        var decision = state.start(remote, isChanged: isChanged)
        for event in events { decision = state.handle(event) }
        return decision
    }

    static func remote(_ offset: Int64 = 0, sent: Int64 = 10) -> Remote {
        Remote(url: url, offset: offset, sent: sent, canTerminate: true)
    }

    private func request(_ decision: TusUploadState.Decision) -> TusRequest? {
        if case .send(let request) = decision.operation { request } else { nil }
    }

    private func code(_ decision: TusUploadState.Decision) -> RequestError.Code? {
        if case .fail(let error) = decision.operation { error.code } else { nil }
    }

    private func isFinished(_ decision: TusUploadState.Decision) -> Bool {
        if case .finish = decision.operation { true } else { false }
    }

    private func append(_ offset: Int64, _ length: Int64) -> TusRequest {
        .append(url: Self.url, .init(offset: offset, length: length))
    }

    // MARK: - Creation

    @Test func newUploadIsDiscoveredCreatedAndSent() {
        #expect(request(Self.run()) == .options)
        #expect(request(Self.run(Self.options)) == .create(length: 10))
        let created = Self.run(Self.options, Self.response(201))
        #expect(request(created) == append(0, 10))
        var remote = Self.remote(0, sent: 10)
        // A later run may use checksums.
        remote.algorithm = "sha256"
        #expect(created.journal == .write(remote))
        let end = Self.run(Self.options, Self.response(201), Self.response(204, offset: 10))
        #expect(isFinished(end))
        #expect(end.journal == .remove)
    }

    @Test func emptyFileIsCompleteWhenItIsCreated() {
        let plan = Self.plan { $0.length = 0 }
        let end = Self.run(by: plan, Self.options, Self.response(201))
        #expect(isFinished(end))
        #expect(end.journal == .remove)
    }

    @Test(arguments: [400, 403, 404, 405, 406, 501])
    func serverWithoutOptionsIsUsed(status: Int) {
        #expect(request(Self.run(Self.response(status))) == .create(length: 10))
    }

    @Test(arguments: [401, 429, 500, 503])
    func otherErrorOfOptionsEndsTheRun(status: Int) {
        #expect(code(Self.run(Self.response(status))) == .unacceptableStatus)
    }

    @Test func fileAboveTheMaximumIsRefusedBeforeTheCreation() {
        let event = Self.response(204) { $0.maximumSize = 9 }
        #expect(code(Self.run(event)) == .bodyTooLarge)
        let exact = Self.response(204) { $0.maximumSize = 10 }
        #expect(request(Self.run(exact)) == .create(length: 10))
    }

    @Test func otherVersionAndMissingExtensionAreRefused() {
        #expect(code(Self.run(Self.response(204) { $0.versions = ["0.2.2"] })) == .unsupported)
        let event = Self.response(204) {
            $0.versions = ["1.0.0"]
            $0.extensions = ["termination"]
        }
        #expect(code(Self.run(event)) == .unsupported)
        #expect(code(Self.run(Self.options, Self.response(412))) == .unsupported)
    }

    @Test func creationWithoutLocationFails() {
        let event = Self.response(201) { $0.location = nil }
        #expect(code(Self.run(Self.options, event)) == .badServerResponse)
    }

    @Test func refusedCreationIsNotRepeated() {
        #expect(code(Self.run(Self.options, Self.response(413))) == .bodyTooLarge)
        #expect(code(Self.run(Self.options, Self.response(503))) == .unacceptableStatus)
        // The server may have created the upload: another one would be left behind.
        #expect(code(Self.run(Self.options, Self.lost)) == .connectionLost)
    }

    // MARK: - Checksums

    @Test func bestListedAlgorithmIsUsed() {
        let plan = Self.plan { $0.checksum = .ifSupported }
        func algorithm(_ event: TusUploadState.Event) -> String? {
            guard
                case .append(_, let piece) = request(Self.run(by: plan, event, Self.response(201)))
            else { return "nothing was sent" }
            return piece.algorithm
        }
        #expect(algorithm(Self.options) == "sha256")
        #expect(algorithm(Self.response(204) { $0.algorithms = ["sha1"] }) == "sha1")
        #expect(algorithm(Self.response(204) { $0.algorithms = ["crc32"] }) == nil)
        #expect(algorithm(Self.response(404)) == nil)
    }

    @Test func requiredChecksumNeedsAListedAlgorithm() {
        let plan = Self.plan { $0.checksum = .required }
        #expect(code(Self.run(by: plan, Self.response(204))) == .unsupported)
        #expect(code(Self.run(by: plan, Self.response(404))) == .unsupported)
        #expect(request(Self.run(by: plan, Self.options)) == .create(length: 10))
    }

    @Test func requiredChecksumAppliesToAContinuedUpload() {
        let plan = Self.plan { $0.checksum = .required }
        #expect(code(Self.run(by: plan, from: Self.remote(4))) == .unsupported)
        var remote = Self.remote(4)
        remote.algorithm = "sha1"
        let next = Self.run(by: plan, from: remote, Self.response(200, offset: 4))
        #expect(
            request(next)
                == .append(url: Self.url, .init(offset: 4, length: 6, algorithm: "sha1")))
    }

    @Test func pieceWithAMismatchIsSentAgain() {
        let plan = Self.plan { ($0.checksum, $0.retry) = (.required, .none) }
        var state = TusUploadState(plan)
        _ = state.start(nil, isChanged: false)
        _ = state.handle(Self.options)
        let first = request(state.handle(Self.response(201)))
        guard case .pause = state.handle(Self.response(460)).operation else {
            Issue.record("The piece was not retried.")
            return
        }
        _ = state.handle(.pauseEnded)
        #expect(request(state.handle(Self.response(200, offset: 0))) == first)
        #expect(code(state.handle(Self.response(460))) == .digestMismatch)
    }

    // MARK: - Pieces

    @Test func fileIsSentInPieces() {
        let plan = Self.plan { $0.pieceSize = 4 }
        var state = TusUploadState(plan)
        _ = state.start(nil, isChanged: false)
        _ = state.handle(Self.options)
        #expect(request(state.handle(Self.response(201))) == append(0, 4))
        #expect(request(state.handle(Self.response(204, offset: 4))) == append(4, 4))
        #expect(request(state.handle(Self.response(204, offset: 8))) == append(8, 2))
        #expect(isFinished(state.handle(Self.response(204, offset: 10))))
        #expect(state.resumedOffset == 0)
    }

    @Test func serverMayTakeAPartOfAPiece() {
        let decision = Self.run(Self.options, Self.response(201), Self.response(204, offset: 3))
        #expect(request(decision) == append(3, 7))
    }

    @Test func offsetBeyondTheSentBytesFails() {
        let plan = Self.plan { $0.pieceSize = 4 }
        let sent = Self.run(
            by: plan, Self.options, Self.response(201), Self.response(204, offset: 5))
        #expect(code(sent) == .resumeFailed)
        let located = Self.run(
            by: plan, Self.options, Self.response(201), Self.lost, .pauseEnded,
            Self.response(200, offset: 5))
        #expect(code(located) == .resumeFailed)
    }

    @Test func missingOffsetIsAskedFor() {
        let decision = Self.run(Self.options, Self.response(201), Self.response(204))
        #expect(request(decision) == .offset(url: Self.url))
    }

    @Test func serverWithoutProgressEndsTheRun() {
        var state = TusUploadState(Self.plan())
        _ = state.start(nil, isChanged: false)
        _ = state.handle(Self.options)
        var decision = state.handle(Self.response(201))
        var requests = 0
        while case .send(let request) = decision.operation, requests < 100 {
            requests += 1
            if case .append = request {
                decision = state.handle(Self.response(409))
            } else {
                decision = state.handle(Self.response(200, offset: 0))
            }
        }
        #expect(code(decision) == .resumeFailed)
        #expect(requests == 2 * TusUploadState.maximumConflicts + 1)
    }

    // MARK: - Resuming

    @Test func journalContinuesAtTheOffsetOfTheServer() {
        var state = TusUploadState(Self.plan())
        let start = state.start(Self.remote(4), isChanged: false)
        #expect(request(start) == .offset(url: Self.url))
        #expect(request(state.handle(Self.response(200, offset: 6))) == append(6, 4))
        #expect(state.resumedOffset == 6)
        #expect(isFinished(state.handle(Self.response(204, offset: 10))))
    }

    @Test func completeUploadIsNotSentAgain() {
        let end = Self.run(from: Self.remote(4), Self.response(200, offset: 10))
        #expect(isFinished(end))
        #expect(end.journal == .remove)
    }

    @Test func serverCannotClaimBytesThatWereNotSent() {
        let decision = Self.run(from: Self.remote(4, sent: 6), Self.response(200, offset: 10))
        #expect(code(decision) == .resumeFailed)
        #expect(decision.journal == .none)
    }

    @Test func otherLengthOnTheServerFails() {
        let event = Self.response(200, offset: 4) { $0.length = 11 }
        #expect(code(Self.run(from: Self.remote(4), event)) == .resumeFailed)
    }

    @Test func headWithoutOffsetFails() {
        #expect(code(Self.run(from: Self.remote(4), Self.response(200))) == .badServerResponse)
    }

    @Test(arguments: [404, 410])
    func goneUploadIsCreatedAgainOnce(status: Int) {
        let again = Self.run(from: Self.remote(4), Self.response(status))
        #expect(request(again) == .options)
        #expect(again.journal == .remove)
        let twice = Self.run(
            from: Self.remote(4), Self.response(status), Self.options, Self.response(201),
            Self.response(status))
        #expect(code(twice) == .resumeFailed)
        #expect(twice.journal == .remove)
        let never = Self.run(
            by: Self.plan { $0.startsOver = false }, from: Self.remote(4), Self.response(status))
        #expect(code(never) == .resumeFailed)
        #expect(never.journal == .none)
    }

    /// The clock of this device may be wrong.
    @Test(arguments: [true, false])
    func serverDecidesWhetherAnUploadHasExpired(startsOver: Bool) {
        let plan = Self.plan { $0.startsOver = startsOver }
        var remote = Self.remote(4)
        remote.expires = .distantPast
        let start = Self.run(by: plan, from: remote)
        #expect(request(start) == .offset(url: Self.url))
        #expect(start.journal == .none)
        let live = Self.run(by: plan, from: remote, Self.response(200, offset: 6))
        #expect(request(live) == append(6, 4))
        let expired = Self.run(by: plan, from: remote, Self.response(410))
        #expect(request(expired) == (startsOver ? .options : nil))
        #expect(code(expired) == (startsOver ? nil : .resumeFailed))
    }

    @Test func changedFileReplacesTheUpload() {
        let old = Self.run(from: Self.remote(4), isChanged: true)
        #expect(request(old) == .terminate(url: Self.url))
        #expect(old.journal == .none)
        for event in [Self.response(204), Self.response(404), Self.lost] {
            let next = Self.run(from: Self.remote(4), isChanged: true, event)
            #expect(request(next) == .options)
            #expect(next.journal == .remove)
        }
        var remote = Self.remote(4)
        remote.canTerminate = false
        #expect(request(Self.run(from: remote, isChanged: true)) == .options)
        let plan = Self.plan { $0.startsOver = false }
        #expect(code(Self.run(by: plan, from: Self.remote(4), isChanged: true)) == .resumeFailed)
    }

    // MARK: - Failures

    @Test func interruptionAsksForTheOffsetAfterAPause() {
        let pause = Self.run(Self.options, Self.response(201), Self.lost)
        guard case .pause(1, nil, _) = pause.operation else {
            Issue.record("No pause.")
            return
        }
        let located = Self.run(Self.options, Self.response(201), Self.lost, .pauseEnded)
        #expect(request(located) == .offset(url: Self.url))
    }

    @Test func progressResetsTheAttempts() {
        var state = TusUploadState(Self.plan { $0.retry = .attempts(2) })
        _ = state.start(nil, isChanged: false)
        _ = state.handle(Self.options)
        _ = state.handle(Self.response(201))
        for offset in Int64(1)...9 {
            _ = state.handle(Self.lost)
            _ = state.handle(.pauseEnded)
            #expect(
                request(state.handle(Self.response(200, offset: offset)))
                    == append(offset, 10 - offset))
        }
        _ = state.handle(Self.lost)
        _ = state.handle(.pauseEnded)
        _ = state.handle(Self.response(200, offset: 9))
        #expect(code(state.handle(Self.lost)) == .connectionLost)
    }

    @Test func lockedUploadIsRetriedByThePolicy() {
        let once = Self.run(
            by: Self.plan { $0.retry = .none }, from: Self.remote(4), Self.response(423))
        #expect(code(once) == .unacceptableStatus)
        let event = Self.response(423) { $0.retryAfter = .seconds(7) }
        guard case .pause(1, .seconds(7), _) = Self.run(from: Self.remote(4), event).operation
        else {
            Issue.record("No pause.")
            return
        }
        let long = Self.response(423) { $0.retryAfter = .seconds(61) }
        #expect(code(Self.run(from: Self.remote(4), long)) == .unacceptableStatus)
    }

    @Test func earlyRefusalIsNotRetried() {
        let decision = Self.run(Self.options, Self.response(201), Self.response(413))
        #expect(code(decision) == .bodyTooLarge)
        #expect(decision.journal == .none)
    }

    @Test func cancellationEndsEveryStep() {
        let cancelled = TusUploadState.Event.failure(.cancelled, isTransient: false)
        #expect(code(Self.run(cancelled)) == .cancelled)
        #expect(code(Self.run(Self.options, cancelled)) == .cancelled)
        #expect(code(Self.run(Self.options, Self.response(201), cancelled)) == .cancelled)
        #expect(code(Self.run(from: Self.remote(4), cancelled)) == .cancelled)
        #expect(code(Self.run(from: Self.remote(4), isChanged: true, cancelled)) == .cancelled)
        let pausing = Self.run(Self.options, Self.response(201), Self.lost, cancelled)
        #expect(code(pausing) == .cancelled)
        #expect(pausing.journal == .none)
    }
}
