// swift-tools-version: 6.2
// Benchmarks of waiting requests, and of batches and chains. A separate package, so that users of Errand do not resolve its
// dependencies.
import PackageDescription

let package = Package(
    name: "SchedulingBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .target(
            name: "BenchSupport",
            dependencies: [
                .product(name: "ErrandCore", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
            ]),
        .executableTarget(
            name: "SchedulingBench",
            dependencies: ["BenchSupport", .product(name: "ErrandCore", package: "errand")]),
        .executableTarget(
            name: "CompositeBench",
            dependencies: [
                "BenchSupport", .product(name: "Errand", package: "errand"),
                .product(name: "ErrandWorkflows", package: "errand"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
