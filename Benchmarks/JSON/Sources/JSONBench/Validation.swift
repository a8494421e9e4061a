import ErrandJSON
import Foundation

/// Benchmarks of validation.
///
/// They measure a shape on a parsed document, and a derived shape compared with a hand-written one.
extension Bench {
    func addValidation<Model: Codable>(_ measure: inout Measure, _ model: Model.Type) {
        let data = document.data
        guard let json = try? JSON(parsing: data) else { return }
        let written = document.kind.shape
        measure.add("errand validate") { keep(written.matches(json)) }
        guard let derived = try? JSONShape(of: model) else { return }
        precondition(derived.firstFault(in: json) == nil)
        measure.add("errand validate, derived") { keep(derived.matches(json)) }
        measure.add("errand parse + derived") {
            if let json = try? JSON(parsing: data) { keep(derived.matches(json)) }
        }
    }

    func reportValidation(_ speeds: Speeds) {
        for job in ["errand validate", "errand validate, derived", "errand parse + derived"] {
            guard let speed = speeds[job] else { continue }
            var line = "  " + job.padding(toLength: 24, withPad: " ", startingAt: 0)
            line += String(format: "%8.1f", speed)
            if let ratio = speeds.ratio(job, over: "errand parse") {
                line += String(format: "  %6.2f x errand parse", ratio)
            }
            print(line)
        }
    }
}
