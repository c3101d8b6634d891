//! Every bound of the reader, by name. What is larger is refused with a sentence, not read until memory ends.

/// Largest machine file, in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// Deepest nesting of lists and maps.
pub const DEPTH_MAX: usize = 64;
/// Most values in a file, keys included.
pub const NODES_MAX: usize = 200_000;
/// Most states, transitions, events, counters, activities or variables: each is counted in 16 bits, one value is spare.
pub const ITEMS_MAX: usize = 65_534;
/// Most targets of one transition.
pub const TARGETS_MAX: usize = 64;
/// Longest name of anything, in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Longest duration, in milliseconds: ten years.
pub const DURATION_MS_MAX: u64 = 10 * 365 * 24 * 60 * 60 * 1000;
