//! Pictures of the visited part: nothing else is drawn, and it fits a page.

use super::*;
use interlock_chart::yaml;

const MACHINE: &str = "\
machine: press
version: 1
events:
  cut: { from: user }
  jam: { from: user }
  bent: { from: user }
  ready: { from: user }
  cleared: { from: user }
  take: { from: user }
initial: work
on: { error: { target: broken } }
states:
  work:
    initial: cut
    states:
      cut: { on: { cut: bend, jam: clear } }
      bend: { on: { bent: cut, ready: packed } }
      clear: { on: { cleared: cut } }
  store: { initial: shelf, states: { shelf: { on: { take: packed } }, floor: { on: { take: packed } } } }
  packed: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

fn chart() -> Chart {
    yaml::read(MACHINE).chart.unwrap()
}

/// Moves by the names of states: from, event, to.
fn walked(chart: &Chart, moves: &[(&str, &str, &str)]) -> Visits {
    let id = |name: &str| chart.find_state(name).unwrap();
    let mut visits = Visits::default();
    visits.add(chart, &[], &[], &[id("work"), id("cut")]);
    for (from, event, to) in moves {
        let target = id(to);
        let fits = |one: &&interlock_chart::model::Transition| {
            one.targets == [target] && one.events.iter().any(|it| it.text == *event)
        };
        let taken = chart.transitions.iter().find(fits).unwrap().id;
        visits.add(chart, &[taken], &[id(from)], &[target]);
    }
    visits
}

#[test]
fn states_that_were_not_visited_are_not_drawn() {
    let chart = chart();
    let visits = walked(&chart, &[("cut", "cut", "bend"), ("bend", "ready", "packed")]);
    for text in [svg(&chart, &visits, Theme::Light), mermaid(&chart, &visits)] {
        for name in ["cut", "bend", "work", "packed"] {
            assert!(text.contains(name), "{name}: {text}");
        }
        for name in ["clear", "shelf", "store", "broken", "jam"] {
            assert!(!text.contains(name), "{name}: {text}");
        }
    }
}

#[test]
fn transitions_have_counts_if_they_were_taken_more_than_once() {
    let chart = chart();
    let round = [("cut", "cut", "bend"), ("bend", "bent", "cut")];
    let visits = walked(&chart, &[round, round].concat());
    let text = svg(&chart, &visits, Theme::Light);
    assert_eq!(text.matches("2×").count(), 2, "{text}");
    assert!(mermaid(&chart, &visits).contains("s2 --> s3 : cut (2×)"), "{}", mermaid(&chart, &visits));
}

#[test]
fn a_transition_of_the_machine_is_drawn_from_the_state_that_it_left() {
    let chart = chart();
    let visits = walked(&chart, &[("cut", "cut", "bend"), ("bend", "error", "broken")]);
    let text = svg(&chart, &visits, Theme::Light);
    assert!(text.contains("bend → broken") && !text.contains("any state"), "{text}");
}

#[test]
fn a_composite_that_was_never_entered_by_default_has_no_initial_dot() {
    let chart = chart();
    let mut visits = Visits::default();
    let id = |name: &str| chart.find_state(name).unwrap();
    visits.add(&chart, &[], &[], &[id("work"), id("cut")]);
    let dots = |visits: &Visits| svg(&chart, visits, Theme::Light).matches("class=\"dot").count();
    assert_eq!(dots(&visits), 2);
    let into = chart.transitions.iter().find(|one| one.events.iter().any(|it| it.text == "cleared")).unwrap().id;
    let mut other = Visits::default();
    other.add(&chart, &[], &[], &[id("packed")]);
    other.add(&chart, &[into], &[id("packed")], &[id("work"), id("cut")]);
    assert!(dots(&other) < 2, "{other:?}");
}

/// The way of a firmware run that repairs a bug at the first attempt.
const REPAIR: &[(&str, &str, &str)] = &[
    ("IDLE", "task_request", "LOAD_CONFIG"),
    ("LOAD_CONFIG", "config_loaded", "BASELINE_SNAPSHOT"),
    ("BASELINE_SNAPSHOT", "snapshot_taken", "BASELINE_RUN"),
    ("BASELINE_RUN", "baseline_measured", "LOG_TRIAGE"),
    ("LOG_TRIAGE", "triaged", "SIMILAR_CASES"),
    ("SIMILAR_CASES", "similar_found", "SOURCES"),
    ("SOURCES", "sources_read", "ROOT_CAUSE_HYPOTHESIS"),
    ("ROOT_CAUSE_HYPOTHESIS", "hypotheses_made", "CHANGE_IMPACT_ESTIMATE"),
    ("CHANGE_IMPACT_ESTIMATE", "patch_plan_ok", "GENERATE_PATCH"),
    ("GENERATE_PATCH", "templates_wanted", "TEMPLATE_SEARCH"),
    ("TEMPLATE_SEARCH", "patch_generated", "POLICY_CHECK"),
    ("POLICY_CHECK", "patch_valid", "ROLLBACK_POINT"),
    ("ROLLBACK_POINT", "rollback_point_made", "APPLY_DIFF"),
    ("APPLY_DIFF", "workspace_updated", "BUILD_SETUP"),
    ("BUILD_SETUP", "build_env_ready", "BUILD_RUN"),
    ("BUILD_RUN", "build_ok", "RESOURCE_ALLOC"),
    ("RESOURCE_ALLOC", "resource_allocated", "FLASH_OR_DEPLOY"),
    ("FLASH_OR_DEPLOY", "deployed", "HEALTH_CHECK"),
    ("HEALTH_CHECK", "env_ready", "TEST_RUN"),
    ("TEST_RUN", "test_finished", "FETCH_LOGS"),
    ("FETCH_LOGS", "logs_fetched", "NORMALIZE"),
    ("NORMALIZE", "tests_passed", "ATTACH_ARTIFACTS"),
    ("ATTACH_ARTIFACTS", "result_normalized", "RESULT_ANALYSIS"),
    ("RESULT_ANALYSIS", "PASS", "MEASURE_ROUND"),
    ("MEASURE_ROUND", "round_measured", "CONTROL_RUNS"),
    ("CONTROL_RUNS", "controls_agreed", "PLAUSIBLE_FIX"),
    ("PLAUSIBLE_FIX", "approve", "DELIVER"),
    ("DELIVER", "delivered", "SUCCESS"),
];

/// The same way through the built-in machine.
fn repaired(chart: &Chart) -> Visits {
    let mut visits = Visits::default();
    let id = |name: &str| chart.find_state(name).unwrap_or_else(|| panic!("{name}"));
    visits.add(chart, &[], &[], &[id("IDLE")]);
    for &(from, event, to) in REPAIR {
        let (from, to) = (id(from), id(to));
        let around =
            |state: StateId| -> Vec<StateId> { std::iter::once(state).chain(chart.ancestors(state)).collect() };
        let fits = |one: &&interlock_chart::model::Transition| {
            let leads = one.targets.iter().any(|target| around(to).contains(target));
            around(from).contains(&one.source) && leads && one.events.iter().any(|it| it.text == event)
        };
        let taken = chart.transitions.iter().find(fits).unwrap_or_else(|| panic!("{event}")).id;
        let old = around(from);
        let entered: Vec<StateId> = around(to).into_iter().filter(|state| !old.contains(state)).rev().collect();
        visits.add(chart, &[taken], &[from], &entered);
    }
    visits
}

#[test]
fn a_long_way_is_readable_on_a_page() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines");
    let chart = interlock_chart::library::load("firmware", &root).unwrap().read().chart.unwrap();
    let text = svg(&chart, &repaired(&chart), Theme::Light);
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    let number = |name: &str| root.attribute(name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (number("width"), number("height"));
    assert!(width <= PAGE_WIDTH_MAX + 0.1 && height <= PAGE_HEIGHT_MAX + 0.1, "{width} x {height}");
    let drawn: f64 = root.attribute("viewBox").unwrap().split(' ').nth(2).unwrap().parse().unwrap();
    assert!(width / drawn >= page::READABLE_SCALE_MIN, "the text is scaled by {}", width / drawn);
    assert!(
        root.children().filter(|node| node.has_tag_name((root.tag_name().namespace().unwrap(), "svg"))).count() > 1
    );
}

#[test]
fn columns_cut_no_box_and_no_text() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../machines");
    let chart = interlock_chart::library::load("firmware", &root).unwrap().read().chart.unwrap();
    let (part, highlight) = part::of(&chart, &repaired(&chart), Detail::Flat);
    let picture = layout(&part, &highlight);
    let text = page::svg(&part, &picture, &Options { highlight, ..Options::default() }, &page::fitted(&picture));
    let document = roxmltree::Document::parse(&text).unwrap();
    let windows = document.root_element().children().filter_map(|node| node.attribute("viewBox"));
    let ends: Vec<f64> = windows.map(|window| window.split(' ').nth(1).unwrap().parse().unwrap()).skip(1).collect();
    assert!(!ends.is_empty(), "{text}");
    let labels = picture.edges.iter().filter_map(|edge| edge.label.as_ref()).map(|label| label.rect);
    for rect in picture.boxes.iter().map(|state| state.rect).chain(labels) {
        assert!(ends.iter().all(|end| *end <= rect.y || *end >= rect.y + rect.h), "{rect:?} is cut: {ends:?}");
    }
}
