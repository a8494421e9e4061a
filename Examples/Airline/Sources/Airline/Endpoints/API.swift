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

    static func photo(to file: URL) -> GetPhoto { GetPhoto(to: file) }
}
