import Errand
import Foundation

/// An airline's API as endpoint classes, carried out against a server in this process.
///
/// It prints what happens, checks every claim it makes, and ends with 0 only if all of them are
/// true.
@main
enum Airline {
    @MainActor
    static func main() async {
        do {
            let journey = try await Journey()
            let isFine = await journey.run()
            exit(isFine ? 0 : 1)
        } catch {
            print("the airline could not open: \(error)")
            exit(1)
        }
    }
}
