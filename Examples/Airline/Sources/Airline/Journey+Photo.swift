import Errand
import Foundation

// An interrupted and resumed download, a batch, a sign-up chain, a graph, and a response with the wrong shape.
extension Journey {
    func photo() async throws {
        let whole = server.photo.body
        do {
            try await API.photo(to: state.photo).value(on: agent)
            checks.check("the connection is interrupted", false)
        } catch {
            showEvents()
            screen.line("!", "\(error)", style: .dim)
            checks.check(
                "the error has a code: \(error.code)",
                error.code == .truncatedBody || error.code == .connectionLost)
        }
        checks.check(
            "no file exists at the destination yet",
            !FileManager.default.fileExists(atPath: state.photo.path))

        let file = try await API.photo(to: state.photo).value(on: agent)
        showEvents()
        let request = server.loopback.requests.last
        let range = request?.header("Range") ?? "none"
        let condition = request?.header("If-Range")
        checks.check(
            "the second start requests \(range) with If-Range \(condition ?? "none")",
            range == "bytes=\(whole.count / 2)-" && condition == server.photo.etag
        )
        checks.check(
            "the file is complete: \(whole.count) bytes, equal to the server's",
            try Data(contentsOf: file.file) == whole && file.path == state.photo.path)
        checks.check("no part file remains", try leftovers(beside: file.file).isEmpty)
    }

    func batch() async throws {
        let before = server.loopback.requests.count
        let user = API.Passengers.find(1903)
        let photo = API.photo(to: state.secondPhoto)
        let batch = BatchRequest([user, photo])
        try await batch.send(on: agent)
        showEvents()
        checks.check(
            "both succeed: \(user.output?.nick ?? "no user"), "
                + "\(photo.output?.file.lastPathComponent ?? "no file")",
            batch.results.count == 2 && user.output != nil
                && (try? Data(contentsOf: state.secondPhoto)) == server.photo.body)
        checks.check(
            "one response from the cache, one from the server",
            user.response?.isFromCache == true && server.loopback.requests.count - before == 1)
    }

    func signUp() async throws {
        let chain = API.signUp("wilbur", password: "kitty-hawk")
        let user = try await chain.value(on: agent)
        showEvents()
        let register = chain.requests.first as? Register
        checks.check(
            "wilbur is passenger \(register?.userId ?? 0), and the user info has this number",
            chain.requests.count == 3 && user.id == register?.userId)

        let before = server.loopback.requests.count
        do {
            _ = try await API.signUp("octave", password: "chicago").value(on: agent)
            checks.check("a wrong password ends the sign-up", false)
        } catch {
            showEvents()
            screen.line("!", "\(error)", style: .dim)
            checks.check(
                "the error names the step, and the user info is not sent",
                error.message.contains("step 2 (SignIn, named \"sign in\")")
                    && server.loopback.requests.count - before == 2)
            checks.check(
                "the error has the results before it",
                error.precedingResponses.map { $0.json["nick"].string } == ["octave"])
        }
    }

    func card() async throws {
        let (graph, text) = API.card(of: 1903, photo: state.cardPhoto)
        let card = try await graph.send(on: agent)[text].get()
        showEvents()
        checks.check(
            card,
            card
                == "passenger 1903 with passenger 1904, a photo of \(server.photo.body.count) bytes"
        )
        checks.check(
            "the companion needs the user, and the card needs all three",
            graph.description.contains("companion: GetUser ← user")
                && graph.description.contains("← user, companion, photo"))
    }

    func fares() async throws {
        do {
            try await API.Flights.fares.send(on: agent)
            checks.check("the invalid response is rejected", false)
        } catch {
            showEvents()
            if let fault = error.shapeFault { screen.line("!", "\(fault)", style: .bad) }
            checks.check(
                "the error has the path: \(error.shapeFault?.path ?? "none")",
                error.code == .shapeMismatch
                    && error.shapeFault?.path == "$['flights'][2]['price']")
            checks.check(
                "the error has the response: \(error.response?.data.count ?? 0) bytes, "
                    + "status \(error.status?.code ?? 0)",
                error.response?.json["flights"].count == 3)
        }
    }

    private func leftovers(beside file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            .filter { $0.contains(file.lastPathComponent) && $0 != file.lastPathComponent }
    }
}
