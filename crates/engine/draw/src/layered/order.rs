//! The order within each layer. Sweeps down and up move every node near its neighbours, and the best order found is
//! kept.

use super::{NodeKind, Sheet};

/// The work budget of all sweeps together, counted in links. A large sheet gets fewer sweeps, and the number is always
/// bounded.
const WORK_MAX: usize = 3_000_000;
const SWEEPS_MAX: usize = 28;
const SWEEPS_MIN: usize = 2;

pub(super) fn order(sheet: &mut Sheet) {
    let mut sorter = Sorter::new(sheet);
    sorter.begin();
    let sweeps = (WORK_MAX / (sheet.links.len() * 4 + 1)).clamp(SWEEPS_MIN, SWEEPS_MAX);
    let mut best = (sorter.crossings(), sorter.layers.clone());
    let mut stale = 0;
    for sweep in 0..sweeps {
        sorter.sweep(sweep);
        let crossings = sorter.crossings();
        stale += 1;
        if crossings < best.0 {
            best = (crossings, sorter.layers.clone());
            stale = 0;
        }
        if best.0 == 0 || stale > 10 {
            break;
        }
    }
    sheet.layers = best.1;
}

/// A neighbour: the node, and the position on it at which the link ends, from -0.5 to 0.5.
type Neighbour = (usize, f64);

struct Sorter<'a> {
    sheet: &'a Sheet,
    layers: Vec<Vec<usize>>,
    place: Vec<usize>,
    up: Vec<Vec<Neighbour>>,
    down: Vec<Vec<Neighbour>>,
}

impl<'a> Sorter<'a> {
    fn new(sheet: &'a Sheet) -> Self {
        let count = sheet.nodes.len();
        let mut sorter = Sorter {
            sheet,
            layers: sheet.layers.clone(),
            place: vec![0; count],
            up: vec![Vec::new(); count],
            down: vec![Vec::new(); count],
        };
        let part =
            |end: super::End| end.offset.map_or(0.0, |offset| 0.45 * offset / sheet.nodes[end.node].half.max(1.0));
        for link in &sheet.links {
            sorter.down[link.upper.node].push((link.lower.node, part(link.lower)));
            sorter.up[link.lower.node].push((link.upper.node, part(link.upper)));
        }
        sorter
    }

    /// Sets the first order: a depth-first walk from the top, with ties in document order.
    fn begin(&mut self) {
        let mut seen = vec![false; self.place.len()];
        let mut met: Vec<Vec<usize>> = vec![Vec::new(); self.layers.len()];
        for root in self.layers.iter().flatten().copied() {
            let mut open = vec![root];
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) {
                    met[self.sheet.nodes[node].layer].push(node);
                    open.extend(self.down[node].iter().rev().map(|next| next.0));
                }
            }
        }
        for (index, layer) in met.into_iter().enumerate() {
            if self.sheet.kept != Some(index) {
                self.layers[index] = layer;
            }
            self.renumber(index);
        }
    }

    fn renumber(&mut self, layer: usize) {
        // The header stays leftmost: lines into the composite pass on its right.
        let sheet = self.sheet;
        self.layers[layer].sort_by_key(|&node| sheet.nodes[node].kind != NodeKind::Header);
        for (place, &node) in self.layers[layer].iter().enumerate() {
            self.place[node] = place;
        }
    }

    fn sweep(&mut self, sweep: usize) {
        let count = self.layers.len();
        let downwards = sweep.is_multiple_of(2);
        let by_median = sweep % 4 < 2;
        for step in 1..count {
            let layer = if downwards { step } else { count - 1 - step };
            if self.sheet.kept != Some(layer) {
                self.sort(layer, downwards, by_median);
                self.exchange(layer);
            }
        }
    }

    /// Sorts the nodes that have neighbours on one side by these neighbours. The other nodes keep their places.
    fn sort(&mut self, layer: usize, downwards: bool, by_median: bool) {
        let mut sorted: Vec<(f64, usize)> = Vec::new();
        for &node in &self.layers[layer] {
            let neighbours = if downwards { &self.up[node] } else { &self.down[node] };
            if let Some(key) = self.key(neighbours, by_median) {
                sorted.push((key, node));
            }
        }
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut next = sorted.into_iter().map(|(_, node)| node);
        let mut nodes = std::mem::take(&mut self.layers[layer]);
        for node in &mut nodes {
            let neighbours = if downwards { &self.up[*node] } else { &self.down[*node] };
            if !neighbours.is_empty() {
                *node = next.next().unwrap_or(*node);
            }
        }
        self.layers[layer] = nodes;
        self.renumber(layer);
    }

    fn key(&self, neighbours: &[Neighbour], by_median: bool) -> Option<f64> {
        let mut at: Vec<f64> = neighbours.iter().map(|&(node, part)| self.place[node] as f64 + part).collect();
        at.sort_by(f64::total_cmp);
        let middle = at.len() / 2;
        match at.len() {
            0 => None,
            count if by_median && count % 2 == 1 => Some(at[middle]),
            _ if by_median => Some((at[middle - 1] + at[middle]) / 2.0),
            count => Some(at.iter().sum::<f64>() / count as f64),
        }
    }

    /// Exchanges adjacent nodes of a layer while that reduces the number of crossings.
    fn exchange(&mut self, layer: usize) {
        const ROUNDS: usize = 3;
        const WIDE: usize = 400;
        if self.layers[layer].len() > WIDE {
            return;
        }
        for _ in 0..ROUNDS {
            let mut better = false;
            for place in 1..self.layers[layer].len() {
                let (a, b) = (self.layers[layer][place - 1], self.layers[layer][place]);
                let pinned = self.sheet.nodes[a].kind == NodeKind::Header;
                if !pinned && self.saved(a, b) > 0 {
                    self.layers[layer].swap(place - 1, place);
                    (self.place[a], self.place[b]) = (place, place - 1);
                    better = true;
                }
            }
            if !better {
                break;
            }
        }
    }

    /// Returns the number of crossings that are saved if two adjacent nodes change places.
    fn saved(&self, a: usize, b: usize) -> i64 {
        let side = |left: &[Neighbour], right: &[Neighbour]| {
            let at = |neighbour: &Neighbour| self.place[neighbour.0] as f64 + neighbour.1;
            let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (at(l), at(r))));
            pairs.map(|(l, r)| i64::from(l > r) - i64::from(l < r)).sum::<i64>()
        };
        side(&self.up[a], &self.up[b]) + side(&self.down[a], &self.down[b])
    }

    fn crossings(&self) -> usize {
        self.layers.iter().map(|layer| self.crossings_below(layer)).sum()
    }

    /// Counts the crossings between a layer and the next as inversions, with a Fenwick tree.
    fn crossings_below(&self, layer: &[usize]) -> usize {
        let mut ends: Vec<usize> = Vec::new();
        for &node in layer {
            let mut below: Vec<usize> = self.down[node].iter().map(|&(next, _)| self.place[next]).collect();
            below.sort_unstable();
            ends.extend(below);
        }
        let mut tree = vec![0_usize; ends.iter().max().map_or(0, |&max| max + 2)];
        let mut crossings = 0;
        for (count, &end) in ends.iter().enumerate() {
            let mut before = 0;
            let mut index = end + 1;
            while index > 0 {
                before += tree[index];
                index &= index - 1;
            }
            crossings += count - before;
            index = end + 1;
            while index < tree.len() {
                tree[index] += 1;
                index += index & index.wrapping_neg();
            }
        }
        crossings
    }
}
