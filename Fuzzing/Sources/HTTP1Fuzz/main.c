// libFuzzer's main function calls LLVMFuzzerTestOneInput in ResponseParserFuzz.swift.
typedef int errand_empty_translation_unit;
