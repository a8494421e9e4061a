// swift-tools-version: 6.2
import Foundation
import PackageDescription

let isStrict = ProcessInfo.processInfo.environment["ERRAND_WARNINGS_AS_ERRORS"] != nil

let settings: [SwiftSetting] =
    [.enableUpcomingFeature("InternalImportsByDefault")]
    + (isStrict ? [.treatAllWarnings(as: .error)] : [])

// A package of its own, so that users of Errand do not resolve its dependencies. It does not depend on Errand: it writes
// Swift that does.
let package = Package(
    name: "OpenAPI",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "ErrandOpenAPI", targets: ["ErrandOpenAPI"]),
        .executable(name: "errand-openapi", targets: ["errand-openapi"]),
        .plugin(name: "ErrandOpenAPIPlugin", targets: ["ErrandOpenAPIPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.0.0")
    ],
    targets: [
        .target(
            name: "ErrandOpenAPI", dependencies: [.product(name: "Yams", package: "Yams")],
            swiftSettings: settings),
        .executableTarget(
            name: "errand-openapi", dependencies: ["ErrandOpenAPI"], swiftSettings: settings),
        .plugin(
            name: "ErrandOpenAPIPlugin",
            capability: .command(
                intent: .custom(
                    verb: "errand-openapi",
                    description: "Writes endpoint classes and models from an OpenAPI document."),
                permissions: [
                    .writeToPackageDirectory(reason: "It writes the generated Swift sources.")
                ]),
            dependencies: ["errand-openapi"]),
        .testTarget(
            name: "ErrandOpenAPITests", dependencies: ["ErrandOpenAPI"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
