import Errand
import ErrandWorkflows
import Foundation

/// The airline's endpoints, grouped by subject.
///
/// Each call creates a new endpoint object, so calls share no state.
enum API {
    enum Passengers {
        static func find(_ id: Int) -> GetUser { GetUser(id: id) }

        static func register(_ username: String, password: String) -> Register {
            Register(username: username, password: password)
        }

        static func signIn(_ username: String, password: String) -> SignIn {
            SignIn(username: username, password: password)
        }
    }

    enum Flights {
        static var fares: GetFares { GetFares() }
    }

    /// A chain that registers a passenger, signs in, and reads the user info.
    static func signUp(_ username: String, password: String) -> ChainRequest.Typed<User> {
        ChainRequest.Typed { chain in
            let register = chain.add(
                Passengers.register(username, password: password), named: "register")
            let token = chain.add(
                Passengers.signIn(username, password: password), named: "sign in")
            return chain.add(named: "user info") {
                // No user info without a token, and none of an unknown passenger.
                guard try !token.output.isEmpty, let id = register.member?.userId else {
                    throw RequestError(.rejected, stage: .process, "The sign-up is incomplete.")
                }
                return Passengers.find(id)
            }
        }
    }

    /// A passenger's card: user and photo are loaded at the same time, and the companion as soon as the user is known.
    static func card(
        of id: Int, photo file: URL
    ) -> (graph: RequestGraph, text: RequestGraph.Node<String>) {
        let graph = RequestGraph()
        let user = graph.add(Passengers.find(id), named: "user")
        let photo = graph.add(photo(to: file), named: "photo")
        let companion = graph.add(after: user, named: "companion") { user in
            Passengers.find(user.id + 1)
        }
        let text = graph.compute(after: user, companion, photo, named: "card") {
            user, companion, photo in
            "\(user.nick) with \(companion.nick), a photo of \(photo.bytes) bytes"
        }
        return (graph, text)
    }

    static func photo(to file: URL) -> GetPhoto { GetPhoto(to: file) }
}
