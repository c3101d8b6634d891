//! The report on a machine that is too big states that, and the number of configurations explored. That is not a pass.

use crate::show;
use expect_test::expect;
use interlock_checker::{Options, check};

/// Twelve switches that a person may flip: 4,096 configurations, none of them with a problem.
fn switches() -> String {
    let mut source = "machine: switches\nversion: 1\nevents:\n  stop: { from: user }\n".to_owned();
    (0..12).for_each(|at| source += &format!("  flip{at}: {{ from: user }}\n"));
    source += "initial: all\nstates:\n  done: { type: final, outcome: success }\n  all:\n    type: parallel\n    on: { stop: done }\n    states:\n";
    for at in 0..12 {
        source += &format!(
            "      s{at}: {{ initial: off{at}, states: {{ off{at}: {{ on: {{ flip{at}: on{at} }} }}, on{at}: {{ on: {{ flip{at}: off{at} }} }} }} }}\n"
        );
    }
    source + "properties:\n  - terminates: true\n  - possible: done\n"
}

#[test]
fn everything_is_explored_if_the_limit_allows() {
    expect![[r#"
        proved: 4097 configurations
        between inputs: 1 transitions, 0 activities, 0 judgements
        whole run: no bound
        waits in off0, on0, off1, on1, off2, on2, off3, on3, off4, on4, off5, on5, off6, on6, off7, on7, off8, on8, off9, on9, off10, on10, off11, on11
        yes terminates
        yes possible done
    "#]].assert_eq(&show::report(&switches()));
}

#[test]
fn a_machine_too_big_to_explore_is_not_proved() {
    let options = Options { configurations_max: 1_000, exact_max: 1_000, ..Options::default() };
    let report = check(show::chart(&switches()), &options);
    assert!(!report.ok && report.properties.iter().all(|proof| !proof.ok));
    expect![[r#"
        not proved: 1005 configurations
        between inputs: no bound
        whole run: no bound
        waits in off0, on0, off1, on1, off2, on2, off3, on3, off4, on4, off5, on5, off6, on6, off7, on7, off8, on8, off9, on9, off10, on10, off11, on11
        NO  terminates
        NO  possible done
        E0604 too many configurations to explore all; 1005 configurations seen
    "#]].assert_eq(&show::show(&report));
}
