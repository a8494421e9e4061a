import Errand
import Foundation

/// An airline's API as endpoint classes, with a server in this process.
///
/// The program prints each request, checks the results, and exits with status 0 only if all checks
/// pass. With `--inspect` it also opens a port for the inspector's page, prints its URL, and ends when
/// Enter is pressed.
@main
enum Airline {
    @MainActor
    static func main() async {
        do {
            let journey = try await Journey()
            let hasPassed = try await journey.run(
                isInspected: CommandLine.arguments.contains("--inspect"))
            exit(hasPassed ? 0 : 1)
        } catch {
            print("airline: could not start: \(error)")
            exit(1)
        }
    }
}
