import ErrandOpenAPI
import Foundation

/// Writes endpoint classes and models from an OpenAPI document.
@main
enum Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do throws(Failure) {
            if arguments.first == "serve" {
                exit(try ServeCommand(Array(arguments.dropFirst())).run())
            }
            exit(try Command(arguments).run())
        } catch {
            FileHandle.standardError.write(Data("errand-openapi: \(error.message)\n".utf8))
            exit(error.status)
        }
    }
}

/// A reason to end without output.
struct Failure: Error {
    var message: String
    var status: Int32 = 2
}
