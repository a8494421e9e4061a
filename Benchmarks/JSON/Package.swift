// swift-tools-version: 6.2
// Benchmarks of ErrandJSON against other JSON libraries, in one process. A separate package, so
// that users of Errand do not resolve its dependencies.
import Foundation
import PackageDescription

// simdjson (Debian: libsimdjson-dev) is included if it is installed.
let hasSimdjson = FileManager.default.fileExists(atPath: "/usr/include/simdjson.h")
let peers: [Target.Dependency] = hasSimdjson ? ["CSimdjson"] : []

let package = Package(
    name: "JSONBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../errand")],
    targets: [
        .executableTarget(
            name: "JSONBench",
            dependencies: [
                "CAllocations", .product(name: "ErrandJSON", package: "errand"),
            ] + peers,
            swiftSettings: hasSimdjson ? [.define("SIMDJSON")] : []
        ),
        .target(name: "CAllocations"),
        .executableTarget(
            name: "JSONFuzz", dependencies: [.product(name: "ErrandJSON", package: "errand")]
        ),
    ]
        + (hasSimdjson
            ? [
                .target(
                    name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]
                )
            ] : []),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
