import Foundation

/// A client of a code-hosting service, with a server in this process.
///
/// The program runs all steps, or those that the arguments name. It prints each request, checks
/// the results, and exits with status 0 only if all checks pass.
@main
enum Main {
    @MainActor
    static func main() async {
        let names = Array(CommandLine.arguments.dropFirst())
        let known = Tour.steps.map(\.name)
        guard names.allSatisfy(known.contains) else {
            print("usage: Hub [step ...]\nsteps: \(known.joined(separator: " "))")
            exit(2)
        }
        do {
            let tour = try await Tour()
            let hasPassed = await tour.run(names)
            exit(hasPassed ? 0 : 1)
        } catch {
            print("hub: could not start: \(error)")
            exit(1)
        }
    }
}
