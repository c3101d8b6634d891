//! The conformance suite of engines: an engine is correct if it passes.
//!
//! The crate of an engine calls [`engine_suite!`] with a function that makes an empty [`Store`]; every case becomes a test. A
//! dev-dependency only.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A failed precondition ends the test.

pub mod cases;

use std::sync::Arc;

use interlock_journal::Engine;

/// A store that several processes use. It is removed when the value is dropped.
pub trait Store {
    /// Opens the store as a separate process would. Dropping the engine is the death of that process.
    fn open(&self) -> Arc<dyn Engine>;
}

/// Makes one test of each case. `$new` makes an empty store.
#[macro_export]
macro_rules! engine_suite {
    ($new:expr) => {
        $crate::engine_suite!(
            @ $new,
            appended_records_are_visible_to_every_process_and_chained,
            concurrent_append_is_rejected_as_a_whole,
            a_stale_lease_cannot_append,
            a_run_is_claimed_from_the_dead_and_never_from_the_living,
            a_released_run_can_be_claimed_by_any_worker,
            a_snapshot_shortens_the_tail,
            timers_outlive_the_process_and_wake_only_unowned_runs,
            a_message_reaches_the_owner_and_is_answered_once,
            names_are_unique_and_lists_are_filtered,
            a_big_payload_is_stored_as_evidence,
            a_repeated_append_succeeds_and_writes_nothing,
            a_list_is_read_page_by_page,
            changes_are_read_since_a_number,
            an_owner_is_known_by_its_worker_name,
            evidence_is_shared_and_named_by_its_content,
        );
    };
    (@ $new:expr, $($case:ident,)*) => {
        $(
            #[test]
            fn $case() {
                $crate::cases::$case(&$new());
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_is_in_the_suite() {
        let (cases, suite) = (include_str!("cases.rs"), include_str!("lib.rs"));
        let names: Vec<&str> = cases
            .lines()
            .filter_map(|line| line.strip_prefix("pub fn ")?.split_once("(store: &dyn Store)").map(|(name, _)| name))
            .collect();
        assert!(!names.is_empty());
        for name in names {
            assert!(suite.contains(&format!("            {name},\n")), "{name} is not in `engine_suite!`");
        }
    }
}
