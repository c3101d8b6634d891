//! The fuzz target of the reader `robot`; `scripts/fuzz.sh` runs it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| interlock_fuzz::results::read("robot", bytes));
