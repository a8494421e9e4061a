import Errand
import Foundation

/// An airline's API as endpoint classes, with a server in this process.
///
/// The program prints each request, checks the results, and exits with status 0 only if all checks
/// pass.
@main
enum Airline {
    @MainActor
    static func main() async {
        do {
            let journey = try await Journey()
            let hasPassed = await journey.run()
            exit(hasPassed ? 0 : 1)
        } catch {
            print("airline: could not start: \(error)")
            exit(1)
        }
    }
}
