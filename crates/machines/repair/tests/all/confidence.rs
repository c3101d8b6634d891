//! Confidence: a plausible repair is not a proven one.

use interlock_repair::{MEASURED_MAX, Template, believed, confidence};

const TEMPLATES: [Template; 6] = [
    Template::Boundary,
    Template::Volatile,
    Template::Number,
    Template::Delete,
    Template::Combined,
    Template::MissingStatement,
];

#[test]
fn fewer_than_four_covering_cases_never_reach_the_threshold_of_success() {
    for template in TEMPLATES {
        for covering in 0..4 {
            for total in [covering, 4, 20, 1000] {
                assert!(confidence(template, covering, total) < 0.8, "{template} {covering} of {total}");
            }
        }
    }
}

#[test]
fn more_cases_never_lower_the_confidence_and_deleting_is_never_believed() {
    for template in TEMPLATES {
        let by_cases: Vec<f64> = (0..30).map(|covering| confidence(template, covering, 30)).collect();
        assert!(by_cases.is_sorted(), "{template}: {by_cases:?}");
        assert!(by_cases.iter().all(|value| (0.0..=0.95).contains(value)), "{template}: {by_cases:?}");
    }
    assert!(confidence(Template::Delete, 100, 100) < 0.5);
}

#[test]
fn a_boundary_that_many_cases_cover_is_believed() {
    assert!(confidence(Template::Boundary, 12, 22) >= 0.8);
    assert!(confidence(Template::Boundary, 5, 22) < confidence(Template::Boundary, 12, 22));
}

#[test]
fn impossible_counts_are_clamped() {
    assert_eq!(confidence(Template::Boundary, 50, 2), confidence(Template::Boundary, 2, 2));
    assert!(confidence(Template::Boundary, 0, 0) < 0.8);
}

#[test]
fn passing_tests_never_exceed_the_measured_maximum() {
    for template in TEMPLATES.map(Some).into_iter().chain([None]) {
        let by_witnesses: Vec<f64> = (0..100).map(|witnesses| believed(template, witnesses)).collect();
        assert!(by_witnesses.is_sorted(), "{template:?}: {by_witnesses:?}");
        assert!(
            by_witnesses.iter().all(|value| (0.0..=MEASURED_MAX).contains(value)),
            "{template:?}: {by_witnesses:?}"
        );
    }
    assert_eq!(believed(Some(Template::Boundary), 22), MEASURED_MAX);
    assert_eq!(believed(None, 1), 0.19, "a model has no better odds than the first patch that passes");
}
