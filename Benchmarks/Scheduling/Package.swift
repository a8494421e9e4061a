// swift-tools-version: 6.2
// What it costs to let requests wait. A package of its own, so that users of Errand resolve nothing of it.
import PackageDescription

let package = Package(
    name: "SchedulingBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "errand", path: "../..")],
    targets: [
        .executableTarget(
            name: "SchedulingBench",
            dependencies: [.product(name: "ErrandCore", package: "errand")])
    ],
    swiftLanguageModes: [.v6]
)
