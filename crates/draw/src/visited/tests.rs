//! Pictures of the visited part: nothing else is drawn, and it fits a page.

use super::*;
use interlock_chart::yaml;

const MACHINE: &str = "\
machine: press
version: 1
initial: work
on: { error: { target: broken } }
states:
  work:
    initial: cut
    states:
      cut: { on: { cut: bend, jam: clear } }
      bend: { on: { bent: cut, done: packed } }
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
    let visits = walked(&chart, &[("cut", "cut", "bend"), ("bend", "done", "packed")]);
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

#[test]
fn a_long_way_fits_a_page() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines");
    let source = interlock_chart::library::load("firmware", &root).unwrap();
    let chart = source.read().chart.unwrap();
    let mut visits = Visits::default();
    // One region of everything: the first child of each composite, and the first way out of each.
    let mut state = chart.states.iter().find(|state| !state.invokes.is_empty()).unwrap().id;
    visits.add(&chart, &[], &[], &[state]);
    for _ in 0..40 {
        let around = std::iter::once(state).chain(chart.ancestors(state).filter(|&outer| outer != Chart::ROOT));
        let out = around.flat_map(|state| chart.state(state).transitions.clone());
        let Some(id) = out.into_iter().find(|&id| !chart.transition(id).targets.is_empty()) else { break };
        let mut next = chart.transition(id).targets[0];
        let mut entered = vec![next];
        while let Some(first) = super::super::bundle::beginnings(&chart, next).first() {
            next = *first;
            entered.push(next);
        }
        visits.add(&chart, &[id], &[state], &entered);
        state = next;
    }
    let text = svg(&chart, &visits, Theme::Light);
    let document = roxmltree::Document::parse(&text).unwrap();
    let width: f64 = document.root_element().attribute("width").unwrap().parse().unwrap();
    assert!(visits.entered.len() > 8 && width <= PAGE_WIDTH_MAX, "{width} for {} states", visits.entered.len());
}
