import Foundation
import PackagePlugin

/// The command plugin.
///
///     swift package errand-openapi openapi.yaml --output Sources/Hub
@main
struct ErrandOpenAPIPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let tool = try context.tool(named: "errand-openapi")
        let process = Process()
        process.executableURL = tool.url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            Diagnostics.error("errand-openapi failed with status \(process.terminationStatus)")
            return
        }
    }
}
