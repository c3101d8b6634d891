//! Deadlines and repeated events, in virtual time.

mod deadlines;
mod once;
mod scene;
