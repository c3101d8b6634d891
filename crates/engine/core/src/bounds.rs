//! Every bound of the engine, by name.

/// Rounds of one macrostep before the engine stops it and raises `error.execution`. A round is a microstep, or an
/// internal event that no transition takes. Machines that come to rest need only a handful of rounds.
pub const MACROSTEP_ROUNDS_MAX: u32 = 1_000;

/// Further rounds for handling that error. If the machine still does not come to rest, the run ends as failed.
pub const RESCUE_ROUNDS_MAX: u32 = 100;

/// Longest text that a template may produce, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Deepest nesting of a value that a machine computes. The limit keeps the stored form within the nesting that JSON
/// readers accept.
pub const VALUE_DEPTH_MAX: usize = 100;

/// Most list items and map fields, counted at every level, of a value that a machine computes.
pub const VALUE_ITEMS_MAX: usize = 1_000_000;

/// Longest delay of a `send` or a timeout: a hundred years, in milliseconds.
pub const DELAY_MS_MAX: u64 = 100 * 366 * 24 * 3_600_000;

/// Steps of one evaluation: the items that `in`, `+` and macros such as `all` and `map` iterate over; nested loops
/// multiply. The limit takes a second or two and is far beyond the needs of a machine's expressions. `check` and runs
/// share it, so that a replay gives the same result.
pub const EVALUATION_STEPS_MAX: u64 = 2_000_000;
