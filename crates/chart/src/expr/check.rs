//! The type checker.
