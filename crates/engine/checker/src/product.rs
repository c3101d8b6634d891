//! Runs a property's monitor alongside the machine: the graph of configurations times the values of one monitor.
//!
//! The graph has been explored once and records the observations of every edge, so a property only has to walk over it.
//! The walk is breadth-first, so the first breach found is a shortest one.

use interlock_chart::model::Property;

use crate::{
    explore::{Edge, Graph},
    monitor,
    story::Leg,
    watch::Roles,
};

/// A configuration with a value of the monitor, and the edge by which it was first reached.
#[derive(Clone, Copy, Debug)]
struct Visit {
    node: u32,
    value: u32,
    /// The previous visit, and the edge taken from it.
    from: u32,
    edge: u32,
}

/// Everything that a monitor can see.
#[derive(Debug)]
pub(crate) struct Product<'g> {
    graph: &'g Graph,
    visits: Vec<Visit>,
    /// Per meaning and value: the value after it, with true if it breaks the property.
    table: Vec<(u32, bool)>,
    values: u32,
    /// The first edge that breaks the property, and the visit it leaves from.
    broken: Option<(u32, u32)>,
}

impl<'g> Product<'g> {
    pub(crate) fn of(graph: &'g Graph, property: &Property, roles: &Roles) -> Self {
        let values = monitor::values(property);
        let after = |seen: &[crate::watch::Bits], value: u32| {
            let (mut value, mut is_broken) = (value, false);
            seen.iter().for_each(|seen| is_broken |= monitor::advance(property, roles, &mut value, *seen));
            (value, is_broken)
        };
        let table = (graph.meanings.iter())
            .flat_map(|meaning| (0..values).map(move |value| (&meaning.seen, value)))
            .map(|(seen, value)| after(seen, value))
            .collect();
        let mut product = Product { graph, visits: Vec::new(), table, values, broken: None };
        product.walk();
        product
    }

    fn walk(&mut self) {
        let mut is_seen = vec![false; self.graph.len() * self.values as usize];
        let mut visit = |visits: &mut Vec<Visit>, one: Visit, values: u32| {
            let at = one.node as usize * values as usize + one.value as usize;
            if !std::mem::replace(&mut is_seen[at], true) {
                visits.push(one);
            }
        };
        visit(&mut self.visits, Visit { node: 0, value: 0, from: 0, edge: 0 }, self.values);
        let mut at = 0;
        while at < self.visits.len() {
            let Visit { node, value, .. } = self.visits[at];
            let first = self.graph.first_edge[node as usize];
            for (offset, edge) in self.graph.edges_of(node).iter().enumerate() {
                let number = first + offset as u32;
                let (after, is_broken) = self.after(edge, value);
                if is_broken {
                    self.broken = Some((at as u32, number));
                    return;
                }
                visit(
                    &mut self.visits,
                    Visit { node: edge.to, value: after, from: at as u32, edge: number },
                    self.values,
                );
            }
            at += 1;
        }
    }

    /// Returns the monitor's value after an edge, with true if the edge breaks the property.
    pub(crate) fn after(&self, edge: &Edge, value: u32) -> (u32, bool) {
        self.table[edge.meaning as usize * self.values as usize + value as usize]
    }

    /// Returns a shortest path that breaks the property.
    pub(crate) fn breach(&self) -> Option<Vec<Leg>> {
        let (visit, edge) = self.broken?;
        let mut way = self.way_to(visit as usize);
        way.push((self.visits[visit as usize].node, self.graph.edges[edge as usize]));
        Some(way)
    }

    /// Every configuration that is reached with this value, by distance, with its index among the visits.
    pub(crate) fn nodes_with(&self, value: u32) -> impl Iterator<Item = (usize, u32)> + '_ {
        let visits = self.visits.iter().enumerate();
        visits.filter(move |(_, visit)| visit.value == value).map(|(at, visit)| (at, visit.node))
    }

    /// Returns a shortest path to a visit.
    pub(crate) fn way_to(&self, mut visit: usize) -> Vec<Leg> {
        let mut legs = Vec::new();
        while visit != 0 {
            let Visit { from, edge, .. } = self.visits[visit];
            legs.push((self.visits[from as usize].node, self.graph.edges[edge as usize]));
            visit = from as usize;
        }
        legs.reverse();
        legs
    }
}
