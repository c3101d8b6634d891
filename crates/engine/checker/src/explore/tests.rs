//! An exploration that remembers its steps finds the same graph as one that asks the engine every time.

use interlock_testkit::random;

use super::*;

/// Enough for most random machines; larger ones are compared as far as they were explored.
const CONFIGURATIONS_MAX: usize = 3_000;
const MACHINES: u64 = 50;

fn graph(machine: &Machine, exact: &[bool], forgets: bool) -> Graph {
    let (table, lookout) = (Table::of(machine), Lookout::of(machine));
    let mut explorer = Explorer::new(machine, &table, &lookout, exact);
    explorer.run(Allowance { configurations: CONFIGURATIONS_MAX, work: 200_000 }, |explorer| {
        if forgets {
            explorer.memo = Memo::default();
            explorer.inputs.iter_mut().for_each(|inputs| *inputs = None);
        }
    });
    explorer.graph
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edges.iter().map(|edge| (edge.to, edge.meaning)).collect()
}

#[test]
fn remembered_steps_equal_the_engines_steps() {
    let mut compared = 0;
    for machine in (0..MACHINES).filter_map(random::machine) {
        for is_exact in [true, false] {
            let exact = vec![is_exact; machine.chart().counters.len()];
            let (remembers, forgets) = (graph(&machine, &exact, false), graph(&machine, &exact, true));
            assert_eq!(remembers.packed, forgets.packed);
            assert_eq!(edges(&remembers), edges(&forgets));
            assert_eq!(remembers.parents, forgets.parents);
            assert_eq!(remembers.meanings, forgets.meanings);
            assert_eq!(remembers.visited, forgets.visited);
            assert_eq!((remembers.work, remembers.too_much), (forgets.work, forgets.too_much));
            compared += edges(&remembers).len();
        }
    }
    assert!(compared > 10_000, "only {compared} ways were compared: that compares nothing");
}
