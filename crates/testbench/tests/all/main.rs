//! Tests of what runs firmware, with real parts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod expect;
