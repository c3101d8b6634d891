//! Every bound of the reader, by name. Larger input is refused with a message instead of exhausting memory.

/// The maximum size of a machine file in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// The maximum nesting depth of lists and maps.
pub const DEPTH_MAX: usize = 64;
/// The maximum number of values in a file, including keys.
pub const NODES_MAX: usize = 200_000;
/// The maximum number of states, transitions, events, counters, activities or variables. Each is counted in 16 bits,
/// and one value is reserved.
pub const ITEMS_MAX: usize = 65_534;
/// The maximum number of targets of one transition.
pub const TARGETS_MAX: usize = 64;
/// The maximum length of a name in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// The maximum duration in milliseconds: ten years.
pub const DURATION_MS_MAX: u64 = 10 * 365 * 24 * 60 * 60 * 1000;
