//! The layout of one composite state: nodes in layers from top to bottom, wires between them.
//!
//! Real nodes are on even layers, labels on the odd layers between them. A wire that is longer than one layer passes
//! through dummy nodes. Wires to the same target share their dummies, so ten edges into one state are drawn as a trunk
//! with branches. The steps: `rank` (the layer of each node), `order` (within a layer, few crossings), `place`
//! (horizontal positions, long wires straight), `route` (vertical positions and the course of every wire).
//!
//! The module knows nothing about states: `compose` builds the [`Sheet`] and reads the result.

mod blocks;
mod order;
mod place;
pub(crate) mod rank;
mod route;

use std::collections::BTreeMap;

/// The role of a node in the layout. It decides the minimum distance to other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// A state or a sign.
    Solid,
    /// The label of a wire.
    Label,
    /// A point that a wire passes through.
    Dummy,
    /// The point at which a wire crosses the composite's border.
    Port,
    /// The composite's name, at the left of the first layer.
    Header,
}

/// A node of the sheet.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) layer: usize,
    /// The extent to the left of `x`.
    pub(crate) left: f64,
    /// The extent to the right of `x`, including things beside the node.
    pub(crate) right: f64,
    /// Half of the width in which wires may end.
    pub(crate) half: f64,
    pub(crate) h: f64,
    /// True if the node is at the bottom of its layer, near the nodes that it leads to.
    pub(crate) low: bool,
    /// The horizontal middle of the part in which wires end.
    pub(crate) x: f64,
    /// The vertical position of the node's top edge.
    pub(crate) y: f64,
}

/// One end of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct End {
    pub(crate) node: usize,
    /// The exact position relative to the node's `x`. `None` allows any position.
    pub(crate) offset: Option<f64>,
}

/// Wires with the same net lead to the same target and may run together. The flag is true if they lead upwards.
pub(crate) type Net = (u32, bool);

/// A piece of a wire from one layer to the next.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) upper: End,
    pub(crate) lower: End,
    pub(crate) net: Net,
    /// The points of the link from top to bottom.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A wire: its links in order from its source. The flag of a link is true if the wire follows it downwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    pub(crate) links: Vec<(usize, bool)>,
    pub(crate) label: Option<usize>,
}

/// The input of the layout, completed with its result.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) layers: Vec<Vec<usize>>,
    /// The layer whose order is fixed, because parallel regions stay in file order.
    pub(crate) kept: Option<usize>,
    dummies: BTreeMap<(usize, Net), usize>,
    known: BTreeMap<(usize, usize, Net, i64, i64), usize>,
}

impl Sheet {
    /// Adds a node that reaches equally far to both sides, plus `beside` on the right, and returns its index.
    pub(crate) fn node(&mut self, kind: NodeKind, layer: usize, w: f64, beside: f64, h: f64) -> usize {
        let half = w / 2.0;
        self.nodes.push(Node { kind, layer, left: half, right: half + beside, half, h, low: false, x: 0.0, y: 0.0 });
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// Adds a wire between two layers. Its label is next to its source.
    pub(crate) fn wire(&mut self, upper: End, lower: End, label: Option<(f64, f64)>, net: Net) -> Wire {
        let (top, bottom) = (self.nodes[upper.node].layer, self.nodes[lower.node].layer);
        let label_layer = if net.1 { bottom.saturating_sub(1) } else { top + 1 };
        let mut wire = Wire::default();
        let mut above = upper;
        for layer in top + 1..bottom {
            let node = match label {
                Some((w, h)) if layer == label_layer => {
                    wire.label = Some(self.node(NodeKind::Label, layer, w, 0.0, h));
                    self.nodes.len() - 1
                }
                _ => self.dummy(layer, net),
            };
            let below = End { node, offset: None };
            wire.links.push((self.link(above, below, net), true));
            above = below;
        }
        wire.links.push((self.link(above, lower, net), true));
        if net.1 {
            wire.links.reverse();
            wire.links.iter_mut().for_each(|link| link.1 = false);
        }
        wire
    }

    /// Adds a wire between two nodes of one layer. It passes through a label below them.
    pub(crate) fn turn(&mut self, from: End, to: End, label: Option<(f64, f64)>, net: Net) -> Wire {
        let (w, h) = label.unwrap_or((24.0, 0.0));
        let node = self.node(NodeKind::Label, self.nodes[from.node].layer + 1, w.max(24.0), 0.0, h);
        let out = self.link(from, End { node, offset: Some(-w / 4.0) }, net);
        let back = self.link(to, End { node, offset: Some(w / 4.0) }, net);
        Wire { links: vec![(out, true), (back, false)], label: Some(node) }
    }

    fn dummy(&mut self, layer: usize, net: Net) -> usize {
        if let Some(&node) = self.dummies.get(&(layer, net)) {
            return node;
        }
        let node = self.node(NodeKind::Dummy, layer, 0.0, 0.0, 0.0);
        self.dummies.insert((layer, net), node);
        node
    }

    fn link(&mut self, upper: End, lower: End, net: Net) -> usize {
        let place = |end: End| end.offset.map_or(i64::MIN, |offset| (offset * 16.0) as i64);
        let key = (upper.node, lower.node, net, place(upper), place(lower));
        let links = &mut self.links;
        *self.known.entry(key).or_insert_with(|| {
            links.push(Link { upper, lower, net, points: Vec::new() });
            links.len() - 1
        })
    }

    /// Computes the layout and returns its width and height. The top left corner is at the origin.
    pub(crate) fn arrange(&mut self) -> (f64, f64) {
        order::order(self);
        place::place(self);
        route::route(self)
    }

    /// Returns the points of a wire from its source to its target.
    pub(crate) fn course(&self, wire: &Wire) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        for &(link, downwards) in &wire.links {
            let link = &self.links[link].points;
            match downwards {
                true => points.extend(link.iter().copied()),
                false => points.extend(link.iter().rev().copied()),
            }
        }
        points
    }

    /// Returns for each node its links to the layer above and its links to the layer below.
    fn neighbours(&self) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
        let (mut up, mut down) = (vec![Vec::new(); self.nodes.len()], vec![Vec::new(); self.nodes.len()]);
        for (index, link) in self.links.iter().enumerate() {
            down[link.upper.node].push(index);
            up[link.lower.node].push(index);
        }
        (up, down)
    }
}

/// Returns the minimum gap between two neighbours in a layer.
fn gap(a: NodeKind, b: NodeKind) -> f64 {
    use NodeKind::{Dummy, Header, Label, Port, Solid};
    match (a, b) {
        (Solid, Solid) => 30.0,
        (Header, _) | (_, Header) => 18.0,
        (Solid, _) | (_, Solid) => 18.0,
        (Label, Label) => 14.0,
        (Dummy | Port | Label, Dummy | Port | Label) => 14.0,
    }
}

/// Returns the positions nearest to the wanted ones (by weighted squares) that keep the order and the minimum
/// distances.
fn spread(wanted: &[(f64, f64)], distances: &[f64]) -> Vec<f64> {
    let mut shift = 0.0;
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(wanted.len());
    let mut shifts = Vec::with_capacity(wanted.len());
    for (index, &(want, weight)) in wanted.iter().enumerate() {
        shift += if index > 0 { distances[index - 1] } else { 0.0 };
        shifts.push(shift);
        let mut pool = (want - shift, weight, 1);
        while let Some(&(mean, heavy, count)) = pools.last().filter(|last| last.0 > pool.0) {
            pools.pop();
            let total = heavy + pool.1;
            pool = ((mean * heavy + pool.0 * pool.1) / total, total, count + pool.2);
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|&(mean, _, count)| std::iter::repeat_n(mean, count));
    means.zip(shifts).map(|(mean, shift)| mean + shift).collect()
}
