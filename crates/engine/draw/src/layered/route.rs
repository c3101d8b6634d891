//! Vertical positions, and the course of every wire: down, across in a lane, down.
//!
//! Between two layers each wire that moves sideways gets a lane. Wires of one net that meet share a lane. The other
//! lanes are ordered so that few wires cross.

use std::collections::BTreeMap;

use super::{End, Net, NodeKind, Sheet, spread};

/// The minimum distance between the end of a wire and a box's corner.
pub(super) const CORNER: f64 = 12.0;
/// The distance between two wires that end on the same side of a box.
const ENDS_APART: f64 = 13.0;
const LANE: f64 = 9.0;
const ABOVE_LANES: f64 = 9.0;
/// Room for an arrowhead below the last lane.
const BELOW_LANES: f64 = 15.0;
const NO_LANES: f64 = 15.0;
const NO_LANES_THIN: f64 = 7.0;
/// A layer taller than this contains a composite, so its nodes are aligned at the top.
const TALL: f64 = 150.0;

pub(super) fn route(sheet: &mut Sheet) -> (f64, f64) {
    let ends = ends(sheet);
    let count = sheet.layers.len();
    let mut between: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, link) in sheet.links.iter().enumerate() {
        between[sheet.nodes[link.upper.node].layer].push(index);
    }
    let mut lanes = vec![0; sheet.links.len()];
    let lane_counts: Vec<usize> = between.iter().map(|links| assign_lanes(sheet, links, &ends, &mut lanes)).collect();
    let bands = bands(sheet, &lane_counts);
    for (layer, &band) in bands.iter().enumerate() {
        for index in 0..sheet.layers[layer].len() {
            let node = sheet.layers[layer][index];
            sheet.nodes[node].y = height(sheet, node, band);
        }
    }
    for index in 0..sheet.links.len() {
        sheet.links[index].points = course(sheet, index, ends[index], lanes[index], &bands);
    }
    let width = sheet.nodes.iter().map(|node| node.x + node.right).fold(0.0, f64::max);
    (width, bands.last().map_or(0.0, |band| band.1))
}

/// Returns the position of a node's top edge within its layer.
fn height(sheet: &Sheet, node: usize, (top, bottom): (f64, f64)) -> f64 {
    let node = &sheet.nodes[node];
    let raised = bottom - top > TALL || sheet.kept == Some(node.layer) || node.kind == NodeKind::Header;
    match () {
        () if node.low => bottom - node.h,
        () if raised => top,
        () => top + (bottom - top - node.h) / 2.0,
    }
}

/// Returns for each link the horizontal positions at which it leaves the upper node and enters the lower node.
fn ends(sheet: &Sheet) -> Vec<(f64, f64)> {
    let (up, down) = sheet.neighbours();
    let mut ends = vec![(0.0, 0.0); sheet.links.len()];
    for node in 0..sheet.nodes.len() {
        let lower = up[node].iter().map(|&link| (link, sheet.links[link].lower, sheet.links[link].upper)).collect();
        for (link, x) in side(sheet, node, lower) {
            ends[link].1 = x;
        }
        let upper = down[node].iter().map(|&link| (link, sheet.links[link].upper, sheet.links[link].lower)).collect();
        for (link, x) in side(sheet, node, upper) {
            ends[link].0 = x;
        }
    }
    ends
}

/// Returns the positions of all links on one side of a node: straight if possible, in the order of their other ends.
fn side(sheet: &Sheet, node: usize, links: Vec<(usize, End, End)>) -> Vec<(usize, f64)> {
    let node = &sheet.nodes[node];
    if node.kind != NodeKind::Solid {
        return links.into_iter().map(|(link, own, _)| (link, node.x + own.offset.unwrap_or(0.0))).collect();
    }
    let reach = (node.half - CORNER).max(0.0);
    let (low, high) = (node.x - reach, node.x + reach);
    let mut wanted: Vec<Wanted> = (links.into_iter())
        .map(|(link, own, other)| {
            let away = sheet.nodes[other.node].x + other.offset.unwrap_or(0.0);
            let fixed = own.offset.map(|offset| node.x + offset);
            Wanted { link, x: fixed.unwrap_or(away.clamp(low, high)), away, fixed: fixed.is_some() }
        })
        .collect();
    wanted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.away.total_cmp(&b.away)));
    let gaps = wanted.len().max(2) - 1;
    let apart = ENDS_APART.min(2.0 * reach / gaps as f64);
    let weight = |want: &Wanted| if want.fixed { 1e6 } else { 1.0 };
    let places = spread(&wanted.iter().map(|want| (want.x, weight(want))).collect::<Vec<_>>(), &vec![apart; gaps]);
    let mut sides = Vec::with_capacity(wanted.len());
    for (index, (want, x)) in wanted.iter().zip(places).enumerate() {
        let rest = wanted.len() - 1 - index;
        let inside = x.min(high - rest as f64 * apart).max(low + index as f64 * apart);
        sides.push((want.link, if want.fixed { want.x } else { inside }));
    }
    sides
}

/// The wanted position of a link on one side of a node.
struct Wanted {
    link: usize,
    x: f64,
    /// The horizontal position of the other end.
    away: f64,
    /// True if the position cannot be changed.
    fixed: bool,
}

/// Wires that run in one lane: their positions above it and below it.
struct Group {
    tops: Vec<f64>,
    bottoms: Vec<f64>,
    low: f64,
    high: f64,
    links: Vec<usize>,
}

impl Group {
    fn overlaps(&self, other: &Group) -> bool {
        const MARGIN: f64 = 6.0;
        self.low < other.high + MARGIN && other.low < self.high + MARGIN
    }

    /// Returns the cost of placing this group's lane above the other's.
    fn cost_above(&self, other: &Group) -> usize {
        const NEAR: f64 = 5.0;
        const CLASH: usize = 50;
        let inside = |group: &Group, x: f64| x > group.low - NEAR && x < group.high + NEAR;
        let crossings = self.bottoms.iter().filter(|&&x| inside(other, x)).count()
            + other.tops.iter().filter(|&&x| inside(self, x)).count();
        let clashes =
            (self.bottoms.iter()).filter(|&&bottom| other.tops.iter().any(|top| (top - bottom).abs() < NEAR)).count();
        crossings + CLASH * clashes
    }
}

/// Assigns a lane to each link between two layers and returns the number of lanes.
fn assign_lanes(sheet: &Sheet, links: &[usize], ends: &[(f64, f64)], lanes: &mut [usize]) -> usize {
    let groups = groups(sheet, links, ends);
    let mut lane_of = vec![0; groups.len()];
    const MANY: usize = 1200;
    if groups.len() > MANY {
        const CROWDED: usize = 40;
        lane_of.iter_mut().enumerate().for_each(|(index, lane)| *lane = index % CROWDED);
    } else {
        let order = sequence(&groups);
        for (place, &group) in order.iter().enumerate() {
            let above = order[..place].iter().filter(|&&other| groups[other].overlaps(&groups[group]));
            lane_of[group] = above.map(|&other| lane_of[other] + 1).max().unwrap_or(0);
        }
    }
    for (group, &lane) in groups.iter().zip(&lane_of) {
        group.links.iter().for_each(|&link| lanes[link] = lane);
    }
    lane_of.iter().map(|lane| lane + 1).max().unwrap_or(0)
}

fn groups(sheet: &Sheet, links: &[usize], ends: &[(f64, f64)]) -> Vec<Group> {
    let mut groups: BTreeMap<(Net, usize, usize), Group> = BTreeMap::new();
    for &index in links {
        let link = &sheet.links[index];
        let (top, bottom) = ends[index];
        if (top - bottom).abs() < 0.5 {
            continue;
        }
        let meeting = if link.net.1 { link.upper } else { link.lower };
        let thin =
            matches!(sheet.nodes[meeting.node].kind, NodeKind::Dummy | NodeKind::Port) || meeting.offset.is_some();
        let key = (link.net, meeting.node, if thin { usize::MAX } else { index });
        let group = groups.entry(key).or_insert_with(|| Group {
            tops: Vec::new(),
            bottoms: Vec::new(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            links: Vec::new(),
        });
        group.tops.push(top);
        group.bottoms.push(bottom);
        group.low = group.low.min(top.min(bottom));
        group.high = group.high.max(top.max(bottom));
        group.links.push(index);
    }
    groups.into_values().collect()
}

/// Returns the order of lanes from top to bottom. Cycles are broken at the lowest cost.
fn sequence(groups: &[Group]) -> Vec<usize> {
    let count = groups.len();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for a in 0..count {
        for b in a + 1..count {
            if !groups[a].overlaps(&groups[b]) {
                continue;
            }
            let (first, second) = (groups[a].cost_above(&groups[b]), groups[b].cost_above(&groups[a]));
            let (upper, lower) = if first <= second { (a, b) } else { (b, a) };
            below[upper].push(lower);
            waiting[lower] += 1;
        }
    }
    let mut order = Vec::with_capacity(count);
    let mut done = vec![false; count];
    while let Some(next) = (0..count).filter(|&group| !done[group]).min_by_key(|&group| waiting[group]) {
        done[next] = true;
        order.push(next);
        for &lower in &below[next] {
            waiting[lower] = waiting[lower].saturating_sub(1);
        }
    }
    order
}

/// Returns the top and bottom of each layer.
fn bands(sheet: &Sheet, lane_counts: &[usize]) -> Vec<(f64, f64)> {
    let mut bands = Vec::with_capacity(sheet.layers.len());
    let mut y = 0.0;
    for (layer, nodes) in sheet.layers.iter().enumerate() {
        let height = nodes.iter().map(|&node| sheet.nodes[node].h).fold(0.0, f64::max);
        bands.push((y, y + height));
        y += height;
        let filled = |layer: usize| {
            let solid = |&&node: &&usize| !matches!(sheet.nodes[node].kind, NodeKind::Dummy | NodeKind::Port);
            sheet.layers.get(layer).is_some_and(|nodes| nodes.iter().any(|node| solid(&node)))
        };
        let later = (layer + 1..sheet.layers.len()).any(|next| !sheet.layers[next].is_empty());
        y += match lane_counts[layer] {
            _ if !later || nodes.is_empty() => 0.0,
            0 if filled(layer) && filled(layer + 1) => NO_LANES,
            0 => NO_LANES_THIN,
            lanes => ABOVE_LANES + (lanes - 1) as f64 * LANE + BELOW_LANES,
        };
    }
    bands
}

fn course(sheet: &Sheet, link: usize, (top, bottom): (f64, f64), lane: usize, bands: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let link = &sheet.links[link];
    let (upper, lower) = (&sheet.nodes[link.upper.node], &sheet.nodes[link.lower.node]);
    let thin = |kind: NodeKind| matches!(kind, NodeKind::Dummy | NodeKind::Port);
    let (band_top, band_bottom) = bands[upper.layer];
    let start = if thin(upper.kind) { band_top } else { upper.y + upper.h };
    let end = if thin(lower.kind) { bands[lower.layer].0 } else { lower.y };
    if (top - bottom).abs() < 0.5 {
        return vec![(top, start), (bottom, end)];
    }
    let across = band_bottom + ABOVE_LANES + lane as f64 * LANE;
    vec![(top, start), (top, across), (bottom, across), (bottom, end)]
}
