//! The built-in machines are proved with exactly these figures, and the list of proved definitions matches the current
//! machines.
//!
//! `UPDATE_EXPECT=1 cargo test -p interlock-checker --test all builtin` rewrites the list and the figures, and only from
//! machines that are proved.

use std::{path::Path, sync::Arc};

use expect_test::{expect, expect_file};
use interlock_chart::library;
use interlock_checker::{Bound, Options, Report, check, is_proved_builtin};

fn bound(bound: Option<Bound>) -> String {
    bound.map_or("none".to_owned(), |bound| {
        format!("{} transitions, {} activities, {} judgements", bound.transitions, bound.activities, bound.judgements)
    })
}

fn figures(report: &Report) -> String {
    let exact = if report.exact { "exact" } else { "upper" };
    format!(
        "{}: {} properties, {} configurations\n  in {} explorations {} configurations, {} ways\n  between inputs ({exact}): {}\n  whole run: {}\n  waits in {}\n",
        report.machine,
        report.properties.len(),
        report.explored,
        report.total.explorations,
        report.total.configurations,
        report.total.ways,
        bound(report.bound),
        bound(report.run_bound),
        report.waits.join(", "),
    )
}

#[test]
fn every_built_in_machine_is_proved_with_unchanged_figures() {
    let (mut list, mut all) = (String::new(), String::new());
    for name in library::builtin_names() {
        let chart = Arc::new(library::load(name, Path::new("/")).unwrap().read().chart.unwrap());
        let report = check(chart.clone(), &Options::default());
        assert!(report.ok && report.problems.is_empty(), "{name}: {:?}", report.problems);
        list.push_str(&format!("{name} {}\n", chart.hash));
        all.push_str(&figures(&report));
    }
    expect![[r#"
        brain: 15 properties, 399648 configurations
          in 7 explorations 927622 configurations, 6802172 ways
          between inputs (upper): 767 transitions, 649 activities, 251 judgements
          whole run: none
          waits in AWAITING_CHECKS, AWAITING_USER, AWAITING_DEPLOY
        coder: 18 properties, 5314 configurations
          in 5 explorations 133289 configurations, 636466 ways
          between inputs (upper): 2201 transitions, 1574 activities, 629 judgements
          whole run: none
          waits in IDLE, INTAKE_ASKED, STEP_ASKED, REPAIR_ASKED, PLAN_ASKED, CALL_ASKED, COMMIT_ASKED
        firmware: 22 properties, 92423 configurations
          in 7 explorations 284592 configurations, 1515299 ways
          between inputs (upper): 10041 transitions, 9028 activities, 1902 judgements
          whole run: 15488 transitions, 13643 activities, 2636 judgements
          waits in 
        notebook: 8 properties, 14952 configurations
          in 3 explorations 128383 configurations, 586751 ways
          between inputs (upper): 280206927 transitions, 98821191 activities, 0 judgements
          whole run: none
          waits in idle, workflow_completed, error, cancelled
        prd: 13 properties, 4046 configurations
          in 3 explorations 125073 configurations, 628631 ways
          between inputs (upper): 8801 transitions, 6173 activities, 7 judgements
          whole run: none
          waits in READY, CONFIRMING, BLOCKED
    "#]]
    .assert_eq(&all);
    expect_file!["../../src/proved.txt"].assert_eq(&list);
}

#[test]
fn only_the_exact_definition_counts_as_proved() {
    let chart = library::load("prd", Path::new("/")).unwrap().read().chart.unwrap();
    assert!(is_proved_builtin("prd", &chart.hash));
    assert!(!is_proved_builtin("coder", &chart.hash));
    assert!(!is_proved_builtin("prd", &chart.hash[1..]));
}
