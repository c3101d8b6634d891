//! Horizontal positions: `blocks` aligns the nodes, then wires are straightened if there is room, and disconnected
//! parts are moved near the rest.

use super::{End, NodeKind, Sheet, blocks, gap, spread};

pub(super) fn place(sheet: &mut Sheet) {
    let places = blocks::balanced(sheet);
    sheet.nodes.iter_mut().zip(places).for_each(|(node, x)| node.x = x);
    let mut placer = Placer::new(sheet);
    placer.settle();
    for _ in 0..3 {
        placer.straighten();
    }
    placer.gather();
    placer.pin_headers();
    placer.shift();
}

struct Placer<'a> {
    up: Vec<Vec<usize>>,
    down: Vec<Vec<usize>>,
    /// The index of each node in its layer.
    index: Vec<usize>,
    sheet: &'a mut Sheet,
}

impl<'a> Placer<'a> {
    fn new(sheet: &'a mut Sheet) -> Self {
        let (up, down) = sheet.neighbours();
        let mut index = vec![0; sheet.nodes.len()];
        for layer in &sheet.layers {
            for (place, &node) in layer.iter().enumerate() {
                index[node] = place;
            }
        }
        Placer { up, down, index, sheet }
    }

    /// Returns the minimum distance between the middles of two neighbours.
    fn distance(&self, left: usize, right: usize) -> f64 {
        let (left, right) = (&self.sheet.nodes[left], &self.sheet.nodes[right]);
        left.right + gap(left.kind, right.kind) + right.left
    }

    fn distances(&self, layer: &[usize]) -> Vec<f64> {
        layer.windows(2).map(|pair| self.distance(pair[0], pair[1])).collect()
    }

    /// Enforces the minimum distances, which the mean of several placements can miss by rounding.
    fn settle(&mut self) {
        for layer in self.sheet.layers.clone() {
            let wanted: Vec<(f64, f64)> = layer.iter().map(|&node| (self.sheet.nodes[node].x, 1.0)).collect();
            for (&node, x) in layer.iter().zip(spread(&wanted, &self.distances(&layer))) {
                self.sheet.nodes[node].x = x;
            }
        }
    }

    /// Aligns chains of labels and dummies vertically. If the whole chain does not fit, it is aligned piece by piece.
    fn straighten(&mut self) {
        let (above, below) = self.chains();
        for (first, above) in above.iter().enumerate() {
            if above.is_some() || !self.is_thin(first) {
                continue;
            }
            let chain: Vec<usize> = std::iter::successors(Some(first), |&node| below[node]).collect();
            self.straighten_chain(&chain);
        }
    }

    fn is_thin(&self, node: usize) -> bool {
        matches!(self.sheet.nodes[node].kind, NodeKind::Label | NodeKind::Dummy | NodeKind::Port)
    }

    /// Returns for each thin node the nodes above and below that it is aligned with.
    fn chains(&self) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
        let count = self.sheet.nodes.len();
        let (mut above, mut below) = (vec![None; count], vec![None; count]);
        let strength = |link: usize| {
            let link = &self.sheet.links[link];
            let dummy = |node: usize| usize::from(self.sheet.nodes[node].kind == NodeKind::Dummy);
            dummy(link.upper.node) + dummy(link.lower.node)
        };
        let mut links: Vec<usize> = (0..self.sheet.links.len())
            .filter(|&link| {
                let link = &self.sheet.links[link];
                self.is_thin(link.upper.node) && self.is_thin(link.lower.node)
            })
            .collect();
        links.sort_by_key(|&link| std::cmp::Reverse(strength(link)));
        for link in links {
            let (upper, lower) = (self.sheet.links[link].upper.node, self.sheet.links[link].lower.node);
            if below[upper].is_none() && above[lower].is_none() {
                below[upper] = Some(lower);
                above[lower] = Some(upper);
            }
        }
        (above, below)
    }

    fn straighten_chain(&mut self, chain: &[usize]) {
        let mut start = 0;
        while start < chain.len() {
            let mut room = self.room(chain[start]);
            let mut end = start + 1;
            while let Some(&node) = chain.get(end) {
                let other = self.room(node);
                let both = (room.0.max(other.0), room.1.min(other.1));
                if both.0 > both.1 {
                    break;
                }
                room = both;
                end += 1;
            }
            self.align(&chain[start..end], room);
            start = end;
        }
    }

    fn align(&mut self, nodes: &[usize], room: (f64, f64)) {
        let ends = [(nodes.first(), &self.up), (nodes.last(), &self.down)];
        let mut room = room;
        let mut wanted: Vec<(f64, f64)> = nodes.iter().map(|&node| (self.sheet.nodes[node].x, 1.0)).collect();
        for (node, links) in ends {
            let Some(&[link]) = node.map(|&node| links[node].as_slice()) else { continue };
            let link = &self.sheet.links[link];
            let end = if Some(&link.lower.node) == node { link.upper } else { link.lower };
            let (middle, slack) = self.reach(end);
            let both = (room.0.max(middle - slack), room.1.min(middle + slack));
            if both.0 <= both.1 {
                room = both;
            }
            // A label that does not fit below its source is placed as near to it as possible.
            let beside = nodes.len() == 1 && slack > 0.0 && both.0 > both.1;
            if slack == 0.0 || beside {
                wanted.push((middle, if beside { 9.0 } else { 2.0 }));
            }
        }
        let x = median(&mut wanted).unwrap_or_default().clamp(room.0, room.1);
        for &node in nodes {
            self.sheet.nodes[node].x = x;
        }
    }

    /// Returns the range on a node in which a straight line may end: the middle and the extent to each side.
    fn reach(&self, end: End) -> (f64, f64) {
        let node = &self.sheet.nodes[end.node];
        match (node.kind, end.offset) {
            (_, Some(offset)) => (node.x + offset, 0.0),
            (NodeKind::Solid, None) => (node.x, (node.half - super::route::CORNER).max(0.0)),
            _ => (node.x, 0.0),
        }
    }

    /// Returns the range in which a node may move if its neighbours stay.
    fn room(&self, node: usize) -> (f64, f64) {
        let layer = &self.sheet.layers[self.sheet.nodes[node].layer];
        let place = self.index[node];
        let x = self.sheet.nodes[node].x;
        let left = place.checked_sub(1).map(|left| layer[left]);
        let low = left.map_or(f64::NEG_INFINITY, |left| self.sheet.nodes[left].x + self.distance(left, node));
        let right = layer.get(place + 1);
        let high = right.map_or(f64::INFINITY, |&right| self.sheet.nodes[right].x - self.distance(node, right));
        (low.min(x), high.max(x))
    }

    /// Moves parts of the sheet that no wire connects with the main part towards it.
    fn gather(&mut self) {
        let part = self.parts();
        let mut sizes = vec![0_usize; self.sheet.nodes.len()];
        part.iter().for_each(|&part| sizes[part] += 1);
        let main = (0..sizes.len()).max_by_key(|&part| (sizes[part], std::cmp::Reverse(part)));
        const ROUNDS: usize = 2;
        for _ in 0..ROUNDS {
            let mut slack = vec![(f64::INFINITY, f64::INFINITY); sizes.len()];
            for node in 0..part.len() {
                let (left, right) = self.slack(node, &part);
                let slack = &mut slack[part[node]];
                *slack = (slack.0.min(left), slack.1.min(right));
            }
            // All parts move at once: each part moves towards a part that stays.
            let moves: Vec<f64> = (slack.iter().enumerate())
                .map(|(part, &(left, right))| match (left.is_finite(), right.is_finite()) {
                    _ if Some(part) == main => 0.0,
                    (true, false) => -left,
                    (false, true) => right,
                    _ => 0.0,
                })
                .collect();
            for node in 0..part.len() {
                self.sheet.nodes[node].x += moves[part[node]];
            }
            self.settle();
        }
    }

    /// Returns the distance that a node may move to the left and to the right until it meets a node of another part.
    fn slack(&self, node: usize, part: &[usize]) -> (f64, f64) {
        let layer = &self.sheet.layers[self.sheet.nodes[node].layer];
        let place = self.index[node];
        let foreign =
            |other: &&usize| part[**other] != part[node] && self.sheet.nodes[**other].kind != NodeKind::Header;
        let x = self.sheet.nodes[node].x;
        let left = place.checked_sub(1).and_then(|left| layer.get(left)).filter(foreign);
        let right = layer.get(place + 1).filter(foreign);
        (
            left.map_or(f64::INFINITY, |&left| x - self.sheet.nodes[left].x - self.distance(left, node)),
            right.map_or(f64::INFINITY, |&right| self.sheet.nodes[right].x - x - self.distance(node, right)),
        )
    }

    /// Returns for each node the first node of its connected part.
    fn parts(&self) -> Vec<usize> {
        let count = self.sheet.nodes.len();
        let mut part = vec![usize::MAX; count];
        for first in 0..count {
            let mut open = vec![first];
            while let Some(node) = open.pop().filter(|_| part[first] == usize::MAX || part[first] == first) {
                if part[node] != usize::MAX {
                    continue;
                }
                part[node] = first;
                open.extend(self.up[node].iter().map(|&link| self.sheet.links[link].upper.node));
                open.extend(self.down[node].iter().map(|&link| self.sheet.links[link].lower.node));
            }
        }
        part
    }

    /// Places the header at the left edge, or further left if a port needs the room.
    fn pin_headers(&mut self) {
        let others = self.sheet.nodes.iter().filter(|node| node.kind != NodeKind::Header);
        let edge = others.map(|node| node.x - node.left).fold(f64::INFINITY, f64::min);
        for node in 0..self.sheet.nodes.len() {
            if self.sheet.nodes[node].kind == NodeKind::Header && edge.is_finite() {
                let (_, high) = self.room(node);
                let left = self.sheet.nodes[node].left;
                self.sheet.nodes[node].x = (edge + left).min(high);
            }
        }
    }

    /// Moves everything so that the left edge is at 0.
    fn shift(&mut self) {
        let edge = self.sheet.nodes.iter().map(|node| node.x - node.left).fold(f64::INFINITY, f64::min);
        if edge.is_finite() {
            self.sheet.nodes.iter_mut().for_each(|node| node.x -= edge);
        }
    }
}

fn median(pulls: &mut [(f64, f64)]) -> Option<f64> {
    pulls.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half: f64 = pulls.iter().map(|pull| pull.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    for (index, &(place, weight)) in pulls.iter().enumerate() {
        sum += weight;
        if (sum - half).abs() < 1e-9 {
            return Some((place + pulls.get(index + 1).map_or(place, |next| next.0)) / 2.0);
        }
        if sum > half {
            return Some(place);
        }
    }
    None
}
