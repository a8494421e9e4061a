import ErrandOpenAPI
import Foundation

/// The arguments of the program.
struct Command {
    static let usage = """
        usage: errand-openapi DOCUMENT --output FOLDER [options]
               errand-openapi serve DOCUMENT [--port PORT]

          --name NAME          the name of the service; default: from the title
          --access LEVEL       internal (default), package or public
          --files DIVISION     tag (default), operation or one
          --tags NAME,…        only the operations with these tags, and what they need
          --paths PREFIX,…     only the operations whose path begins with one of these
          --operations ID,…    only these operations
          --validators         check responses against their schemas
          --mocks FOLDER       write responses for tests
          --module NAME        the module that they import; default: the name of the service
          --rename OLD=NEW,…   names of types, by the names of schemas and operations
          --check              write nothing; fail if the files differ
          --quiet              print errors and refusals, no notes and no summary
        """

    private var document = ""
    private var output = ""
    private var mocks = ""
    private var options = Generator.Options()
    private var checksOnly = false
    private var isQuiet = false

    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        func value(of option: String) throws(Failure) -> String {
            guard let value = rest.popFirst() else {
                throw Failure(message: "\(option) needs a value.\n\(Self.usage)")
            }
            return value
        }
        func list(of option: String) throws(Failure) -> [String] {
            try value(of: option).split(separator: ",").map(String.init)
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": throw Failure(message: Self.usage, status: 0)
            case "--output", "-o": output = try value(of: argument)
            case "--name": options.name = try value(of: argument)
            case "--access":
                guard let access = Generator.Options.Access(rawValue: try value(of: argument))
                else {
                    throw Failure(message: "--access is internal, package or public.")
                }
                options.access = access
            case "--files":
                guard let files = Generator.Options.Files(rawValue: try value(of: argument)) else {
                    throw Failure(message: "--files is tag, operation or one.")
                }
                options.files = files
            case "--tags": options.tags = Set(try list(of: argument))
            case "--paths": options.paths = try list(of: argument)
            case "--operations": options.operations = Set(try list(of: argument))
            case "--rename":
                for pair in try list(of: argument) {
                    let names = pair.split(separator: "=").map(String.init)
                    guard names.count == 2 else {
                        throw Failure(message: "--rename is OLD=NEW.")
                    }
                    options.names[names[0]] = names[1]
                }
            case "--validators": options.validates = true
            case "--mocks":
                mocks = try value(of: argument)
                options.mocks = true
            case "--module": options.module = try value(of: argument)
            case "--check": checksOnly = true
            case "--quiet": isQuiet = true
            default:
                guard !argument.hasPrefix("-"), document.isEmpty else {
                    throw Failure(message: "\(argument) is unknown.\n\(Self.usage)")
                }
                document = argument
            }
        }
        guard !document.isEmpty, !output.isEmpty else { throw Failure(message: Self.usage) }
    }

    /// Runs the command; returns the exit status.
    func run() throws(Failure) -> Int32 {
        let result = Generator(options: options, load: SourceFile.text).generate(document)
        for problem in result.problems where !isQuiet || problem.kind != .note {
            FileHandle.standardError.write(Data("\(problem)\n".utf8))
        }
        guard !result.hasErrors else { return 1 }
        let folder = SourceFolder(path: output)
        if checksOnly {
            var differences = folder.differences(from: result.files)
            if options.mocks {
                differences += SourceFolder(path: mocks).differences(from: result.mocks)
            }
            for difference in differences { print(difference) }
            return differences.isEmpty ? 0 : 1
        }
        try folder.write(result.files)
        if options.mocks { try SourceFolder(path: mocks).write(result.mocks) }
        if !isQuiet {
            print(
                "\(result.endpoints) of \(result.operations) operations, \(result.types) types, "
                    + "\(result.files.count) files")
        }
        return 0
    }
}
