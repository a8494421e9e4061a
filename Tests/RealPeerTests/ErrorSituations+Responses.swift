import Errand
import ErrandTesting
import ErrandUploads
import ErrandWorkflows
import Foundation
import HTTPTypes
import TestSupport

// Errors that a response, a file, the caller or a composite causes.
extension ErrorSituations {
    func checking(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .unacceptableStatus:
            return await failure(
                receiving: LoopbackResponse(status: 404, body: Data("no such pilot".utf8)))
        case .unacceptableContentType:
            return await failure(of: GetPlane(), receiving: response("<html>", type: "text/html"))
        case .emptyBody:
            return await failure(
                of: GetPilot { $0.validator = (["name": .string] as JSONShape).requiringBody },
                receiving: LoopbackResponse(status: 204))
        case .shapeMismatch:
            return await failure(
                of: GetPilot { $0.validator = ["pilots": .array(of: ["name": .string])] },
                receiving: response(#"{"pilots": [{"name": "Amelia"}, {"name": 7}]}"#))
        case .rejected:
            return await failure(
                of: GetPilot { $0.acceptance.rules = [ResponseRule { _ in .reject(Problem()) }] },
                receiving: response("{}"))
        case .undecodable:
            return await failure(of: GetPlane(), receiving: response(#"{"name": "Vega"}"#))
        case .processingFailed:
            return await failure(
                of: GetPilot { $0.responseProcessors = [{ _ in throw Problem() }] },
                receiving: response("{}"))
        default: return nil
        }
    }

    func files(_ code: RequestError.Code) async throws -> RequestError? {
        let film = folder.url.appendingPathComponent("film.mkv")
        try? FileManager.default.removeItem(at: film)
        switch code {
        case .fileFailed:
            try Data("an earlier film".utf8).write(to: film)
            return await failure(
                of: GetFilm(folder) { $0.existingFile = .fail }, receiving: response("film"))
        case .resumeFailed: return try await uploadFailure()
        case .digestMismatch:
            let digest = String(repeating: "0", count: 64)
            return await failure(
                of: GetFilm(folder) { $0.sha256 = digest }, receiving: response("film"))
        case .insufficientSpace:
            let head = LoopbackHeader("Content-Length", "\(1 << 60)")
            return await failure(
                of: GetFilm(folder),
                receiving: LoopbackResponse(
                    steps: [.head(status: 200, headers: [head]), .hold(Gate())],
                    keepsConnection: false))
        default: return nil
        }
    }

    func others(_ code: RequestError.Code) async throws -> RequestError? {
        switch code {
        case .cancelled: return try await cancelledFailure()
        case .authenticationFailed:
            let agent = agent {
                $0.authenticators = [
                    "api.example.com": .bearer {
                        "expired"
                    } refresh: {
                        throw Problem()
                    }
                ]
            }
            return await failure(receiving: LoopbackResponse(status: 401), on: agent)
        case .batchFailed: return try await batchFailure()
        case .chainFailed:
            let chain = ChainRequest()
            chain.add(GetPilot()).then { _ -> GetPlane in throw Problem() }
            return await failure(of: chain, receiving: response("{}"))
        case .graphFailed:
            let graph = RequestGraph()
            let plane = graph.add(GetPlane(), named: "plane")
            graph.compute(after: plane, named: "seats") { _ -> Int in throw Problem() }
            return await failure(
                of: graph, receiving: response(#"{"name": "Vega", "seats": 6}"#))
        default: return nil
        }
    }

    /// The error of a batch that is started again before its end.
    @MainActor
    private func batchFailure() async throws -> RequestError? {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let agent = agent()
        let batch = BatchRequest([GetPilot()])
        let task = batch.start(on: agent)
        var refusal: RequestError?
        do throws(RequestError) { try await batch.send(on: agent) } catch { refusal = error }
        gate.open()
        _ = await task.outcome()
        await agent.shutdown()
        return refusal
    }

    private func response(_ text: String, type: String = "application/json") -> LoopbackResponse {
        LoopbackResponse(headers: ["Content-Type": type], body: text)
    }

    /// The error of an upload that is continued with another file.
    private func uploadFailure() async throws -> RequestError? {
        let movie = folder.url.appendingPathComponent("movie.mp4")
        try Data(count: 1000).write(to: movie)
        server.otherwise { request in
            switch request.method {
            case "POST":
                LoopbackResponse(
                    status: 201, headers: ["Location": "/files/1", "Tus-Resumable": "1.0.0"])
            case "OPTIONS": LoopbackResponse(status: 404)
            default: .reset
            }
        }
        _ = await failure(of: UploadMovie(movie))
        try Data(count: 2000).write(to: movie)
        return await failure(of: UploadMovie(movie))
    }

    private func cancelledFailure() async throws -> RequestError? {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse().held(by: gate) }
        let agent = agent()
        let task = agent.start(GetPilot().makeDescription())
        try await gate.reached()
        task.cancel()
        let outcome = await task.outcome()
        gate.open()
        await agent.shutdown()
        return outcome.error
    }
}

private final class UploadMovie: ResumableUploadRequest {
    let movie: URL
    init(_ movie: URL) {
        self.movie = movie
        super.init()
    }

    override var url: EndpointURL { "files" }
    override var file: URL { movie }
    override var startsOver: Bool { false }
}
