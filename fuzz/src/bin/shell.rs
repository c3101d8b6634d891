//! The reader's fuzz target; `scripts/fuzz.sh` runs it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| interlock_fuzz::shell(bytes));
