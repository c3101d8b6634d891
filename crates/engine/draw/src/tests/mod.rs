//! Pictures of charts built by hand: invariants of every layout, checked on chosen and on random charts.

mod build;
mod charts;

use super::{
    BoxKind, Edge, Highlight, Options, Picture, Rect, StateBox, Theme, layout, svg,
    text::{self, Weight},
    words,
};
use interlock_chart::Chart;

/// Checks the invariants that hold for every picture.
#[track_caller]
fn check(chart: &Chart) -> Picture {
    let picture = layout(chart, &Highlight::default());
    check_nesting(chart, &picture);
    check_labels(&picture);
    check_edges(&picture);
    let text = svg(chart, &Options::default());
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    assert_eq!(document.root_element().attribute("role"), Some("img"));
    assert!(document.descendants().all(|node| node.tag_name().name() != "script"));
    picture
}

#[track_caller]
fn check_nesting(chart: &Chart, picture: &Picture) {
    let whole = Rect { x: 0.0, y: 0.0, w: picture.width, h: picture.height };
    let rect = |state: interlock_chart::model::StateId| {
        if state == Chart::ROOT { whole } else { picture.boxes[state.index() - 1].rect }
    };
    assert_eq!(picture.boxes.len() + 1, chart.states.len());
    for state in &chart.states {
        for (index, &child) in state.children.iter().enumerate() {
            assert!(rect(state.id).contains(&rect(child)), "{} leaves {}", chart.state(child).name, state.name);
            for &sibling in state.children.iter().skip(index + 1).take(200) {
                assert!(!rect(child).overlaps(&rect(sibling)), "{:?} and {:?} overlap", child, sibling);
            }
        }
    }
    for state in &picture.boxes {
        let history = matches!(state.kind, BoxKind::History | BoxKind::DeepHistory);
        let widest = state.lines.iter().map(|line| line.width);
        let widest = widest.fold(text::width(&state.name, words::NAME, Weight::Bold), f64::max);
        assert!(history || widest <= state.rect.w, "{} does not fit its box", state.name);
    }
}

/// Returns the boxes that nothing may be drawn upon.
fn leaves(picture: &Picture) -> impl Iterator<Item = &StateBox> {
    picture.boxes.iter().filter(|state| !matches!(state.kind, BoxKind::Composite | BoxKind::Parallel | BoxKind::Region))
}

#[track_caller]
fn check_labels(picture: &Picture) {
    let labels: Vec<Rect> =
        picture.edges.iter().filter_map(|edge| edge.label.as_ref()).map(|label| label.rect).collect();
    for (index, label) in labels.iter().enumerate() {
        for state in leaves(picture).map(|state| (state.rect, &state.name)) {
            assert!(!label.overlaps(&state.0), "a label is upon {}", state.1);
        }
        for other in labels.iter().skip(index + 1).take(300) {
            assert!(!label.overlaps(other), "two labels overlap: {label:?} {other:?}");
        }
    }
    for mark in &picture.marks {
        assert!(leaves(picture).all(|state| !state.rect.overlaps(&mark.rect)), "{:?} is upon a state", mark.kind);
    }
    for edge in &picture.edges {
        for line in edge.label.iter().flat_map(|label| label.lines.iter().map(move |line| (line, label))) {
            assert!(line.0.width <= line.1.rect.w, "{:?} does not fit", line.0.parts);
        }
    }
}

#[track_caller]
fn check_edges(picture: &Picture) {
    for edge in &picture.edges {
        for piece in edge.points.windows(2) {
            let (a, b) = (piece[0], piece[1]);
            assert!((a.0 - b.0).abs() < 0.6 || (a.1 - b.1).abs() < 0.6, "a slanted piece {a:?} {b:?}");
            let rect = Rect { x: a.0.min(b.0), y: a.1.min(b.1), w: (a.0 - b.0).abs(), h: (a.1 - b.1).abs() };
            assert!(rect.x >= 0.0 && rect.x + rect.w <= picture.width && rect.y + rect.h <= picture.height);
            if let Some(state) = leaves(picture).find(|state| crosses(&rect, state)) {
                panic!(
                    "{:?} to {:?}: {a:?} {b:?} passes through {} {:?}",
                    edge.source, edge.target, state.name, state.rect
                );
            }
        }
    }
}

/// Returns true if a piece of an edge passes through a box by more than touching it.
fn crosses(piece: &Rect, state: &StateBox) -> bool {
    const TOUCH: f64 = 1.0;
    let inner = Rect {
        x: state.rect.x + TOUCH,
        y: state.rect.y + TOUCH,
        w: state.rect.w - 2.0 * TOUCH,
        h: state.rect.h - 2.0 * TOUCH,
    };
    piece.x < inner.x + inner.w
        && piece.x + piece.w > inner.x
        && piece.y < inner.y + inner.h
        && piece.y + piece.h > inner.y
}

#[test]
fn a_short_machine_flows_from_its_dot_to_its_ends() {
    let chart = charts::fix_until_green();
    let picture = check(&chart);
    let top = |name: &str| picture.boxes.iter().find(|state| state.name == name).expect("drawn").rect.y;
    assert!(top("changing") < top("testing"));
    assert!(top("testing") < top("fixed"));
    assert_eq!(top("fixed"), top("failed"));
    assert_eq!(top("fixed"), top("aborted"));
}

#[test]
fn edges_between_the_same_states_share_one_label() {
    let chart = charts::fix_until_green();
    let picture = layout(&chart, &Highlight::default());
    let drawn: usize = picture.edges.iter().map(|edge| edge.transitions.len()).sum();
    assert_eq!(drawn, chart.transitions.len());
    let text = svg(&chart, &Options::default());
    assert!(text.contains("failed<tspan class=\"accent\"> ×5</tspan>"), "{text}");
}

#[test]
fn nesting_history_and_regions_satisfy_the_layout_invariants() {
    let picture = check(&charts::regions());
    assert_eq!(picture.separators.len(), 1);
    assert!(picture.boxes.iter().any(|state| state.kind == BoxKind::DeepHistory));
}

#[test]
fn built_in_machines_satisfy_the_layout_invariants() {
    for name in ["brain", "coder", "firmware", "notebook", "prd"] {
        let source = interlock_chart::library::load(name, std::path::Path::new("no-project-here")).expect("built in");
        let chart = source.read().chart.unwrap_or_else(|| panic!("{name} cannot be read"));
        let picture = check(&chart);
        let drawn: usize = picture.edges.iter().map(|edge| edge.transitions.len()).sum();
        let with_target = chart.transitions.iter().filter(|one| !one.targets.is_empty()).count();
        assert!(drawn >= with_target, "{name}: {drawn} of {with_target} transitions are drawn");
    }
}

#[test]
fn ten_edges_into_one_state_end_in_one_trunk() {
    let (chart, hub) = charts::hub(10);
    let picture = check(&chart);
    let into: Vec<&Edge> = picture.edges.iter().filter(|edge| edge.target == hub).collect();
    assert_eq!(into.len(), 10);
    let mut ends: Vec<String> =
        into.iter().filter_map(|edge| edge.points.last()).map(|end| format!("{end:.1?}")).collect();
    ends.sort();
    ends.dedup();
    assert!(ends.len() <= 3, "{ends:?}");
}

#[test]
fn random_charts_are_laid_out_without_overlaps() {
    for seed in 0..150 {
        let chart = charts::random(seed, 4 + (seed as usize % 27));
        if std::panic::catch_unwind(|| check(&chart)).is_err() {
            panic!("seed {seed}");
        }
    }
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    for seed in [3, 17] {
        let options = Options { theme: Theme::Dark, ..Options::default() };
        assert_eq!(svg(&charts::random(seed, 25), &options), svg(&charts::random(seed, 25), &options));
    }
}

#[test]
fn charts_with_thousands_of_states_are_drawn() {
    for chart in
        [charts::wide(2_000), charts::chain(1_000), charts::deep(300), charts::hub(600).0, charts::random(1, 2_000)]
    {
        let picture = layout(&chart, &Highlight::default());
        check_nesting(&chart, &picture);
        assert!(super::render::svg(&chart, &picture, &Options::default()).ends_with("</svg>\n"));
    }
}

#[test]
fn a_highlighted_path_is_numbered_and_the_rest_is_faint() {
    let chart = charts::fix_until_green();
    let path: Vec<_> =
        chart.transitions.iter().filter(|one| one.source != Chart::ROOT).map(|one| one.id).take(3).collect();
    let options = Options { theme: Theme::Light, highlight: Highlight::path(&chart, &path), ..Options::default() };
    let text = svg(&chart, &options);
    roxmltree::Document::parse(&text).expect("well-formed");
    for number in 1..=3 {
        assert!(text.contains(&format!(">{number}</text>")), "step {number} has no badge");
    }
    assert!(text.contains("edge marked") && text.contains("edge rest") && text.contains("state rest"));
}

#[test]
fn names_are_escaped_and_shortened() {
    let mut build = build::Build::new("a<b>&\"c\"");
    build.chart.summary = "<script>alert(1)</script> & more \u{1}".to_owned();
    let long = build.top(&"VERY_LONG_NAME_".repeat(40));
    let wide = build.top("状态机".repeat(50).as_str());
    build.edge(long, "]]>&<event>", &[wide]).guard = build::guard("context.a < 3 && context.b > '</text>'");
    let picture = check(&build.finish());
    assert!(picture.boxes.iter().all(|state| state.name.ends_with('…') && state.rect.w < 320.0));
}

#[test]
fn an_empty_chart_is_drawn_as_a_title() {
    let picture = check(&build::Build::new("empty").finish());
    assert!(picture.boxes.is_empty() && picture.height > 0.0);
}

/// Draws a chart for a page with some states collapsed. Returns the drawn states with their fold, and the transitions.
fn folded(chart: &Chart, names: &[&str]) -> (Vec<(String, Option<String>)>, Vec<usize>) {
    let collapsed = names.iter().map(|&name| name.to_owned()).collect();
    let text = svg(chart, &Options { is_part_of_page: true, collapsed, ..Options::default() });
    let document = roxmltree::Document::parse(&text).expect("well-formed");
    let text = |node: &roxmltree::Node<'_, '_>, name: &str| node.attribute(name).map(str::to_owned);
    let states = document.descendants().filter_map(|node| Some((text(&node, "data-state")?, text(&node, "data-fold"))));
    let numbers = document.descendants().filter_map(|node| text(&node, "data-transitions"));
    let mut numbers: Vec<usize> =
        numbers.flat_map(|all| all.split(' ').map(|one| one.parse().expect("a number")).collect::<Vec<_>>()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    (states.collect(), numbers)
}

#[test]
fn a_collapsed_state_is_one_box_with_the_transitions_that_leave_it() {
    let chart = charts::regions();
    let (whole, all) = folded(&chart, &[]);
    assert_eq!(whole.len() + 1, chart.states.len());
    let fold = |states: &[(String, Option<String>)], name: &str| {
        states.iter().find(|(state, _)| state == name).and_then(|(_, fold)| fold.clone())
    };
    assert_eq!((fold(&whole, "mode").as_deref(), fold(&whole, "eco")), (Some("open"), None));
    let (part, left) = folded(&chart, &["mode", "full", "eco", "nowhere"]);
    assert_eq!(fold(&part, "mode").as_deref(), Some("closed"));
    assert!(
        ["eco", "full", "warm", "hot", "history"].iter().all(|hidden| !part.iter().any(|(name, _)| name == hidden))
    );
    assert_eq!(whole.len() - part.len(), 5);
    let is_hidden = |id: &usize| {
        let transition = &chart.transitions[*id];
        let mode = chart.find_state("mode").expect("a state");
        let is_in = |state| state == mode || chart.is_descendant(state, mode);
        is_in(transition.source) && transition.targets.iter().all(|target| is_in(*target))
    };
    let expected: Vec<usize> = all.into_iter().filter(|id| !is_hidden(id)).collect();
    assert_eq!(left, expected, "transitions keep their numbers");
}

#[test]
fn collapsed_charts_satisfy_the_layout_invariants() {
    for seed in 0..60 {
        let chart = charts::random(seed, 6 + (seed as usize % 25));
        let composites = chart.states.iter().skip(1).filter(|state| !state.children.is_empty());
        let names = composites.step_by(1 + seed as usize % 3).map(|state| state.name.clone()).collect();
        if std::panic::catch_unwind(|| check(&super::collapse::chart(&chart, &names))).is_err() {
            panic!("seed {seed}");
        }
    }
}
