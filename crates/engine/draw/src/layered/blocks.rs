//! Four horizontal placements after Brandes and Köpf, extended so that wires need not end in the middle of a node.
//!
//! Each placement aligns every node with its median neighbour in one direction, packs the resulting blocks to one side,
//! and keeps long wires straight. The result is the mean of the two middle positions of each node, which is symmetric
//! and keeps the alignments that the placements share.

use super::{End, NodeKind, Sheet, gap};

/// Computes a horizontal position for every node.
pub(super) fn balanced(sheet: &Sheet) -> Vec<f64> {
    let crossing = conflicts(sheet);
    let spine = Spine::new(sheet).links();
    let mut ways: Vec<Vec<f64>> = Vec::new();
    for downwards in [true, false] {
        for mirrored in [false, true] {
            ways.push(Way::new(sheet, &crossing, &spine, downwards, mirrored).places());
        }
    }
    let bounds: Vec<(f64, f64)> = ways.iter().map(|way| bounds(sheet, way)).collect();
    let narrowest =
        (0..ways.len()).min_by(|&a, &b| (bounds[a].1 - bounds[a].0).total_cmp(&(bounds[b].1 - bounds[b].0)));
    let Some((low, high)) = narrowest.map(|way| bounds[way]) else { return Vec::new() };
    for (index, way) in ways.iter_mut().enumerate() {
        // The placements that are packed to the left share their left edge, the others share their right edge.
        let shift = if index % 2 == 0 { low - bounds[index].0 } else { high - bounds[index].1 };
        way.iter_mut().for_each(|x| *x += shift);
    }
    (0..sheet.nodes.len())
        .map(|node| {
            let mut places = [ways[0][node], ways[1][node], ways[2][node], ways[3][node]];
            places.sort_by(f64::total_cmp);
            (places[1] + places[2]) / 2.0
        })
        .collect()
}

fn bounds(sheet: &Sheet, places: &[f64]) -> (f64, f64) {
    let nodes = sheet.nodes.iter().zip(places);
    nodes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (node, x)| {
        (low.min(x - node.left), high.max(x + node.right))
    })
}

fn is_thin(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Label | NodeKind::Dummy | NodeKind::Port)
}

/// Returns for each link whether it crosses a piece of a long wire. Long wires have priority.
fn conflicts(sheet: &Sheet) -> Vec<bool> {
    let (up, _) = sheet.neighbours();
    let mut place = vec![0; sheet.nodes.len()];
    sheet.layers.iter().for_each(|layer| layer.iter().enumerate().for_each(|(index, &node)| place[node] = index));
    let mut crossing = vec![false; sheet.links.len()];
    for (above, layer) in sheet.layers.iter().zip(sheet.layers.iter().skip(1)) {
        let (mut low, mut begin) = (0, 0);
        for (index, &node) in layer.iter().enumerate() {
            let inner = inner_neighbour(sheet, &up[node], node);
            if inner.is_none() && index + 1 < layer.len() {
                continue;
            }
            let high = inner.map_or(above.len(), |other| place[other]);
            for &link in layer[begin..=index].iter().flat_map(|&node| &up[node]) {
                let (upper, lower) = (sheet.links[link].upper.node, sheet.links[link].lower.node);
                let inner = is_thin(sheet.nodes[upper].kind) && is_thin(sheet.nodes[lower].kind);
                crossing[link] = !inner && (place[upper] < low || place[upper] > high);
            }
            (low, begin) = (high, index + 1);
        }
    }
    crossing
}

/// Returns the upper neighbour that a thin node continues.
fn inner_neighbour(sheet: &Sheet, up: &[usize], node: usize) -> Option<usize> {
    let upper = |link: &usize| sheet.links[*link].upper.node;
    let kind = |node: usize| sheet.nodes[node].kind;
    let thin = || up.iter().map(upper).filter(|&other| is_thin(kind(node)) && is_thin(kind(other)));
    thin().find(|&other| kind(other) == NodeKind::Dummy).or_else(|| thin().next())
}

/// The links that are drawn straight: each leads from a box to the next box in the direction of the flow. If there are
/// several candidates, the link with the longest onward flow is taken, or else the middle one.
struct Spine<'a> {
    sheet: &'a Sheet,
    up: Vec<Vec<usize>>,
    down: Vec<Vec<usize>>,
    place: Vec<usize>,
    /// The lowest layer that the flow reaches from each node.
    lowest: Vec<usize>,
}

impl<'a> Spine<'a> {
    fn new(sheet: &'a Sheet) -> Self {
        let (up, down) = sheet.neighbours();
        let mut place = vec![0; sheet.nodes.len()];
        let mut lowest: Vec<usize> = sheet.nodes.iter().map(|node| node.layer).collect();
        for layer in sheet.layers.iter().rev() {
            for (index, &node) in layer.iter().enumerate() {
                place[node] = index;
                let flow = down[node].iter().map(|&link| &sheet.links[link]).filter(|link| !link.net.1);
                lowest[node] = flow.map(|link| lowest[link.lower.node]).fold(lowest[node], usize::max);
            }
        }
        Spine { sheet, up, down, place, lowest }
    }

    /// Returns for each node the straight link below it and the straight link above it.
    fn links(&self) -> [Vec<Option<usize>>; 2] {
        let count = self.sheet.nodes.len();
        [
            (0..count).map(|node| self.link(node, true)).collect(),
            (0..count).map(|node| self.link(node, false)).collect(),
        ]
    }

    fn link(&self, node: usize, below: bool) -> Option<usize> {
        if self.sheet.nodes[node].kind != NodeKind::Solid {
            return None;
        }
        let links = if below { &self.down } else { &self.up };
        let other =
            |link: usize| if below { self.sheet.links[link].lower.node } else { self.sheet.links[link].upper.node };
        let is_box = |node: usize| self.sheet.nodes[node].kind == NodeKind::Solid && !self.sheet.nodes[node].low;
        let leads_to_box =
            |&link: &usize| is_box(other(link)) || links[other(link)].iter().any(|&link| is_box(other(link)));
        let mut near: Vec<usize> =
            links[node].iter().copied().filter(|&link| !self.sheet.links[link].net.1).filter(leads_to_box).collect();
        if below {
            let furthest = near.iter().map(|&link| self.lowest[other(link)]).max();
            near.retain(|&link| Some(self.lowest[other(link)]) == furthest);
        }
        near.sort_by_key(|&link| self.place[other(link)]);
        near.get(near.len().saturating_sub(1) / 2).copied()
    }
}

/// A neighbour in the direction of the alignment.
struct Neighbour {
    node: usize,
    /// The neighbour's index in its layer, plus the fraction of its width at which the link ends.
    at: f64,
    /// The horizontal offset from the neighbour to the node at which the link is straight.
    shift: f64,
    link: usize,
}

struct Way<'a> {
    sheet: &'a Sheet,
    crossing: &'a [bool],
    /// The straight link below and the straight link above each node, by node.
    spine: &'a [Vec<Option<usize>>; 2],
    downwards: bool,
    mirrored: bool,
    layers: Vec<Vec<usize>>,
    place: Vec<usize>,
    neighbours: Vec<Vec<Neighbour>>,
    /// The first node of each node's block, and the node's position relative to it.
    root: Vec<usize>,
    shift: Vec<f64>,
}

impl<'a> Way<'a> {
    fn new(
        sheet: &'a Sheet,
        crossing: &'a [bool],
        spine: &'a [Vec<Option<usize>>; 2],
        downwards: bool,
        mirrored: bool,
    ) -> Self {
        let mut layers = sheet.layers.clone();
        if !downwards {
            layers.reverse();
        }
        if mirrored {
            layers.iter_mut().for_each(|layer| layer.reverse());
        }
        let count = sheet.nodes.len();
        let mut place = vec![0; count];
        layers.iter().for_each(|layer| layer.iter().enumerate().for_each(|(index, &node)| place[node] = index));
        let neighbours = std::iter::repeat_with(Vec::new).take(count).collect();
        let (root, shift) = ((0..count).collect(), vec![0.0; count]);
        let mut way = Way { sheet, crossing, spine, downwards, mirrored, layers, place, neighbours, root, shift };
        way.meet();
        way
    }

    fn meet(&mut self) {
        let downwards = self.downwards;
        let sign = if self.mirrored { -1.0 } else { 1.0 };
        let at = |end: End| sign * end.offset.unwrap_or(0.0);
        for (index, link) in self.sheet.links.iter().enumerate() {
            let (own, other) = if downwards { (link.lower, link.upper) } else { (link.upper, link.lower) };
            let part = 0.45 * at(other) / self.sheet.nodes[other.node].half.max(1.0);
            let at_place = self.place[other.node] as f64 + part;
            let neighbour = Neighbour { node: other.node, at: at_place, shift: at(other) - at(own), link: index };
            self.neighbours[own.node].push(neighbour);
        }
        for (node, neighbours) in self.neighbours.iter_mut().enumerate() {
            let kind = |node: usize| self.sheet.nodes[node].kind;
            // A trunk continues as a trunk, regardless of the wires that join it here.
            if is_thin(kind(node)) && neighbours.iter().any(|other| kind(other.node) == NodeKind::Dummy) {
                neighbours.retain(|other| kind(other.node) == NodeKind::Dummy);
            }
            // A box is aligned with the box above it, not with the middle of all its predecessors.
            let own = self.spine[usize::from(downwards)][node];
            if neighbours.iter().any(|other| Some(other.link) == own) {
                neighbours.retain(|other| Some(other.link) == own);
            }
            neighbours.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
    }

    fn places(mut self) -> Vec<f64> {
        self.align();
        let blocks = self.pack();
        let sign = if self.mirrored { -1.0 } else { 1.0 };
        (0..self.root.len()).map(|node| sign * (blocks[self.root[node]] + self.shift[node])).collect()
    }

    fn align(&mut self) {
        let mut taken = vec![false; self.root.len()];
        for layer in &self.layers {
            let mut last = -1.0;
            for &node in layer {
                let neighbours = &self.neighbours[node];
                let Some(most) = neighbours.len().checked_sub(1) else { continue };
                for neighbour in &neighbours[most / 2..=most.div_ceil(2)] {
                    let wanted = self.spine[usize::from(!self.downwards)][neighbour.node];
                    let free = self.root[node] == node
                        && !taken[neighbour.node]
                        && !self.crossing[neighbour.link]
                        && wanted.is_none_or(|link| link == neighbour.link);
                    if free && last < self.place[neighbour.node] as f64 {
                        taken[neighbour.node] = true;
                        self.root[node] = self.root[neighbour.node];
                        self.shift[node] = self.shift[neighbour.node] + neighbour.shift;
                        last = self.place[neighbour.node] as f64;
                    }
                }
            }
        }
    }

    /// Packs the blocks to the left, then moves blocks that have room towards the block on their right.
    fn pack(&self) -> Vec<f64> {
        let count = self.root.len();
        let (mut after, mut before) = (vec![Vec::new(); count], vec![0_usize; count]);
        for pair in self.layers.iter().flat_map(|layer| layer.windows(2)) {
            let (left, right) = (self.root[pair[0]], self.root[pair[1]]);
            after[left].push((right, self.distance(pair[0], pair[1]) + self.shift[pair[0]] - self.shift[pair[1]]));
            before[right] += 1;
        }
        let mut order: Vec<usize> = (0..count).filter(|&node| self.root[node] == node && before[node] == 0).collect();
        let mut places = vec![0.0_f64; count];
        let mut next = 0;
        while let Some(&block) = order.get(next) {
            next += 1;
            for &(right, distance) in &after[block] {
                places[right] = places[right].max(places[block] + distance);
                before[right] -= 1;
                if before[right] == 0 {
                    order.push(right);
                }
            }
        }
        for &block in order.iter().rev() {
            let room = after[block].iter().map(|&(right, distance)| places[right] - distance).reduce(f64::min);
            places[block] = room.map_or(places[block], |room| room.max(places[block]));
        }
        places
    }

    /// Returns the minimum distance between two neighbours in the order of this placement.
    fn distance(&self, first: usize, second: usize) -> f64 {
        let (left, right) = if self.mirrored { (second, first) } else { (first, second) };
        let (left, right) = (&self.sheet.nodes[left], &self.sheet.nodes[right]);
        left.right + gap(left.kind, right.kind) + right.left
    }
}
