// swift-tools-version: 6.2
// What ErrandJSON is measured with: its peers in one process, in turns. A package of its own, so
// that users of Errand resolve nothing of it.
import Foundation
import PackageDescription

// simdjson (Debian: libsimdjson-dev) is measured too where it is installed.
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
