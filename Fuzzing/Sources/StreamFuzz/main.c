// libFuzzer's main function calls LLVMFuzzerTestOneInput in StreamParsersFuzz.swift.
typedef int errand_empty_translation_unit;
