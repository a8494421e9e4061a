import ErrandOpenAPI
import Foundation

/// `errand-openapi serve openapi.yaml --port 0`: a fake service on loopback.
struct ServeCommand {
    static let usage = "usage: errand-openapi serve DOCUMENT [--port PORT]"

    private var document = ""
    private var port = 0

    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--port" {
                guard let text = rest.popFirst(), let number = Int(text),
                    (0...65_535).contains(number)
                else { throw Failure(message: "--port needs a number up to 65535.\n\(Self.usage)") }
                port = number
            } else if argument.hasPrefix("-") || !document.isEmpty {
                throw Failure(message: Self.usage)
            } else {
                document = argument
            }
        }
        guard !document.isEmpty else { throw Failure(message: Self.usage) }
    }

    /// Serves until the process ends; returns the exit status of a document with errors.
    func run() throws(Failure) -> Int32 {
        let (service, problems) = FakeService.read(document, load: SourceFile.text)
        for problem in problems { FileHandle.standardError.write(Data("\(problem)\n".utf8)) }
        guard let service else { return 1 }
        let server = try HTTPServer(port: port)
        print("http://127.0.0.1:\(server.port)")
        fflush(nil)
        server.run { service.respond(to: $0) }
    }
}
