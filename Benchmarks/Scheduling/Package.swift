// swift-tools-version: 6.2
// A benchmark of waiting requests. A separate package, so that users of Errand do not resolve its
// dependencies.
import PackageDescription

let package = Package(
    name: "SchedulingBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .executableTarget(
            name: "SchedulingBench",
            dependencies: [
                .product(name: "ErrandCore", package: "errand"),
                .product(name: "ErrandTransport", package: "errand"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
