import ErrandHTTP
import Testing

@testable import ErrandUploads

/// The decisions about a creation that the server has postponed.
struct TusCreationTests {
    private typealias Scripts = TusUploadStateTests

    private static func busy(
        _ status: Int = 503, after pause: Duration? = .seconds(7)
    ) -> TusUploadState.Event {
        Scripts.response(status) { $0.retryAfter = pause }
    }

    private func request(_ decision: TusUploadState.Decision) -> TusRequest? {
        if case .send(let request) = decision.operation { request } else { nil }
    }

    private func code(_ decision: TusUploadState.Decision) -> RequestError.Code? {
        if case .fail(let error) = decision.operation { error.code } else { nil }
    }

    @Test(arguments: [429, 503])
    func postponedCreationIsSentAgain(status: Int) {
        let pause = Scripts.run(Scripts.options, Self.busy(status))
        guard case .pause(1, .seconds(7), _) = pause.operation else {
            Issue.record("No pause.")
            return
        }
        #expect(pause.journal == .none)
        let again = Scripts.run(Scripts.options, Self.busy(status), .pauseEnded)
        #expect(request(again) == .create(length: 10))
    }

    @Test func postponedCreationIsLimitedByThePolicy() {
        let last = Scripts.run(
            Scripts.options, Self.busy(), .pauseEnded, Self.busy(), .pauseEnded, Self.busy())
        #expect(code(last) == .unacceptableStatus)
        let single = Scripts.plan { $0.retry = .none }
        #expect(code(Scripts.run(by: single, Scripts.options, Self.busy())) == .unacceptableStatus)
        let long = Self.busy(after: .seconds(61))
        #expect(code(Scripts.run(Scripts.options, long)) == .unacceptableStatus)
        let other = Scripts.plan { $0.retry.retryableStatusCodes = [500] }
        #expect(code(Scripts.run(by: other, Scripts.options, Self.busy())) == .unacceptableStatus)
    }

    /// The server may have created the upload.
    @Test func otherRefusalOfTheCreationEndsTheRun() {
        let events = [
            Self.busy(429, after: nil), Self.busy(503, after: nil), Self.busy(500), Self.busy(502),
            Self.busy(409), Self.busy(423),
        ]
        for event in events {
            #expect(code(Scripts.run(Scripts.options, event)) == .unacceptableStatus)
        }
        #expect(
            code(Scripts.run(Scripts.options, Self.busy(), .pauseEnded, Scripts.lost))
                == .connectionLost)
    }

    @Test func creationThatTheRetryStepRepeatedIsNotSentAgain() {
        guard case .response(let response, var error?) = Self.busy() else {
            Issue.record("No response.")
            return
        }
        error.attempts = 1
        let once = Scripts.run(Scripts.options, .response(response, error), .pauseEnded)
        #expect(request(once) == .create(length: 10))
        error.attempts = 2
        let repeated = Scripts.run(Scripts.options, .response(response, error))
        #expect(code(repeated) == .unacceptableStatus)
    }

    @Test func createdUploadHasAllAttempts() {
        var state = TusUploadState(Scripts.plan())
        _ = state.start(nil, isChanged: false)
        for event in [
            Scripts.options, Self.busy(), .pauseEnded, Self.busy(), .pauseEnded,
            Scripts.response(201), Scripts.lost, .pauseEnded, Scripts.response(200, offset: 0),
        ] {
            _ = state.handle(event)
        }
        guard case .pause(2, nil, _) = state.handle(Scripts.lost).operation else {
            Issue.record("No pause.")
            return
        }
    }

    @Test func cancellationEndsThePauseBeforeTheCreation() {
        let cancelled = TusUploadState.Event.failure(.cancelled, isTransient: false)
        #expect(code(Scripts.run(Scripts.options, Self.busy(), cancelled)) == .cancelled)
    }

    /// The creation that replaces a missing upload is not preceded by a second OPTIONS.
    @Test func postponedReplacementIsSentAgain() {
        let again = Scripts.run(
            from: Scripts.remote(4), Scripts.response(404), Scripts.options, Self.busy(),
            .pauseEnded)
        #expect(request(again) == .create(length: 10))
    }
}
