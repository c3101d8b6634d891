//! Every bound of the engine, by name.

/// Rounds of one macrostep (a microstep taken, or an internal event that nobody takes) before the engine gives up and raises
/// `error.execution`. A machine that is meant to rest gets there in a handful.
pub const MACROSTEP_ROUNDS_MAX: u32 = 1_000;

/// Further rounds for dealing with that error. A machine that still does not come to rest is ended as failed.
pub const RESCUE_ROUNDS_MAX: u32 = 100;

/// Longest text that a template may become, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Deepest nesting of a value that a machine computes. Its stored form stays within what JSON readers accept.
pub const VALUE_DEPTH_MAX: usize = 100;

/// Most list items and map fields, counted at every level, of a value that a machine computes.
pub const VALUE_ITEMS_MAX: usize = 1_000_000;

/// Longest delay of a `send` or a timeout: a hundred years, in milliseconds.
pub const DELAY_MS_MAX: u64 = 100 * 366 * 24 * 3_600_000;

/// Steps of one evaluation: items that macros such as `all` and `map`, `in` and `+` go over, nested loops multiplied. A second or two at
/// most, and far beyond what an expression of a machine needs. `check` and runs have the same bound, so that a replay gives the same.
pub const EVALUATION_STEPS_MAX: u64 = 2_000_000;
