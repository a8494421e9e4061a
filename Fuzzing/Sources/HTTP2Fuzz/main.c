// libFuzzer's main function calls LLVMFuzzerTestOneInput in FramingFuzz.swift.
typedef int errand_empty_translation_unit;
