// swift-tools-version: 6.2
import Foundation
import PackageDescription

let isStrict = ProcessInfo.processInfo.environment["ERRAND_WARNINGS_AS_ERRORS"] != nil

let strict: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

let errand: [Target.Dependency] = [
    .product(name: "Errand", package: "errand"),
    .product(name: "ErrandTesting", package: "errand"),
]

// One package for all examples, so that Errand is built once.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "errand", path: "..", traits: [.defaults, "Inspector"]),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "Airline",
            dependencies: errand + [
                .product(name: "ErrandInspector", package: "errand"),
                .product(name: "ErrandWorkflows", package: "errand"), "Terminal",
            ],
            path: "Airline/Sources/Airline",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Hub", dependencies: errand + ["Terminal"], path: "Hub", exclude: ["README.md"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Fetch",
            dependencies: [
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
                .product(name: "ErrandProgressLine", package: "errand"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Fetch/Sources", swiftSettings: strict
        ),
        .executableTarget(
            name: "Chat",
            dependencies: [
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandInspector", package: "errand"),
            ],
            path: "Chat/Sources", swiftSettings: strict
        ),
        .executableTarget(
            name: "Petstore", dependencies: errand + ["Terminal"], path: "Petstore",
            exclude: ["README.md", "openapi.yaml"], swiftSettings: strict
        ),
        // The output of the examples: aligned lines and counted checks.
        .target(name: "Terminal", path: "Terminal", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
