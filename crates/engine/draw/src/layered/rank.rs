//! The layer of each node: cycles are broken, then the longest path decides.
//!
//! A file usually lists its states in the order of the main flow, so that order decides which edge of a cycle leads
//! back, unless a walk from the first state finds clearly fewer such edges.

/// Returns the rank of each of `count` nodes. `first` is the initial node. Edges may form cycles.
pub(crate) fn ranks(count: usize, edges: &[(usize, usize)], first: Option<usize>) -> Vec<usize> {
    let graph = Graph::new(count, edges);
    let walked = graph.walk(first);
    let components = graph.components();
    let mut written: Vec<usize> = (0..count).collect();
    written.sort_by_key(|&node| (components[node], Some(node) != first, node));
    let (by_file, by_walk) = (places(&written), places(&walked));
    let (file_back, walk_back) = (backward(edges, &by_file), backward(edges, &by_walk));
    let place = if file_back <= walk_back + walk_back / 3 + 1 { by_file } else { by_walk };
    let forward: Vec<(usize, usize)> = (edges.iter().filter(|(from, to)| from != to))
        .map(|&(from, to)| if place[from] < place[to] { (from, to) } else { (to, from) })
        .collect();
    balanced(longest(count, &forward, &place), &Graph::new(count, &forward), &place)
}

fn places(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, &node) in order.iter().enumerate() {
        places[node] = place;
    }
    places
}

fn backward(edges: &[(usize, usize)], place: &[usize]) -> usize {
    edges.iter().filter(|&&(from, to)| place[from] > place[to]).count()
}

fn longest(count: usize, forward: &[(usize, usize)], place: &[usize]) -> Vec<usize> {
    let mut sorted = forward.to_vec();
    sorted.sort_by_key(|&(from, _)| place[from]);
    let mut rank = vec![0; count];
    for (from, to) in sorted {
        rank[to] = rank[to].max(rank[from] + 1);
    }
    rank
}

/// Moves a node down if more edges lead down from it than up to it, as far as those edges allow.
fn balanced(mut rank: Vec<usize>, forward: &Graph, place: &[usize]) -> Vec<usize> {
    const SWEEPS: usize = 3;
    let mut order: Vec<usize> = (0..rank.len()).collect();
    order.sort_by_key(|&node| std::cmp::Reverse(place[node]));
    for _ in 0..SWEEPS {
        for &node in &order {
            let (above, below) = (&forward.before[node], &forward.after[node]);
            let lowest = below.iter().map(|&next| rank[next]).min();
            if let Some(lowest) = lowest.filter(|_| below.len() > above.len()) {
                rank[node] = rank[node].max(lowest.saturating_sub(1));
            }
        }
    }
    rank
}

struct Graph {
    after: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn new(count: usize, edges: &[(usize, usize)]) -> Self {
        let mut graph = Graph { after: vec![Vec::new(); count], before: vec![Vec::new(); count] };
        for &(from, to) in edges {
            graph.after[from].push(to);
            graph.before[to].push(from);
        }
        graph
    }

    /// Returns all nodes in reverse postorder of a depth-first walk that begins at the first node.
    fn walk(&self, first: Option<usize>) -> Vec<usize> {
        let mut order = postorder(&self.after, first.into_iter().chain(0..self.after.len()));
        order.reverse();
        order
    }

    /// Returns for each node the number of its strongly connected component, in topological order (Kosaraju).
    fn components(&self) -> Vec<usize> {
        let mut component = vec![usize::MAX; self.after.len()];
        let mut number = 0;
        for root in self.walk(None) {
            let mut open = vec![root];
            let mut found = false;
            while let Some(node) = open.pop() {
                if component[node] == usize::MAX {
                    component[node] = number;
                    found = true;
                    open.extend(&self.before[node]);
                }
            }
            number += usize::from(found);
        }
        component
    }
}

/// Walks depth-first without recursion, because a chart may be a chain of thousands of states.
fn postorder(after: &[Vec<usize>], roots: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen = vec![false; after.len()];
    let mut order = Vec::with_capacity(after.len());
    for root in roots {
        let mut open = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            open.push((root, after[root].len()));
        }
        // Later edges are followed first, so that the reversed order has the targets of earlier edges earlier.
        while let Some((node, left)) = open.last_mut() {
            match left.checked_sub(1) {
                Some(next) => {
                    *left = next;
                    let next = after[*node][next];
                    if !std::mem::replace(&mut seen[next], true) {
                        open.push((next, after[next].len()));
                    }
                }
                None => {
                    order.push(*node);
                    open.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(count: usize, edges: &[(usize, usize)], expected: &[usize]) {
        assert_eq!(ranks(count, edges, Some(0)), expected);
    }

    #[test]
    fn a_chain_gets_increasing_ranks() {
        check(4, &[(0, 1), (1, 2), (2, 3)], &[0, 1, 2, 3]);
    }

    #[test]
    fn the_edge_that_closes_a_cycle_leads_back_up() {
        check(3, &[(0, 1), (1, 2), (2, 0)], &[0, 1, 2]);
    }

    #[test]
    fn a_hub_is_below_the_last_of_its_sources() {
        check(5, &[(0, 1), (1, 2), (2, 3), (0, 4), (1, 4), (2, 4), (4, 1)], &[0, 1, 2, 3, 3]);
    }

    #[test]
    fn states_written_in_reverse_still_flow_from_the_first() {
        check(4, &[(0, 3), (3, 2), (2, 1)], &[0, 3, 2, 1]);
    }

    #[test]
    fn a_source_without_predecessor_is_next_to_its_target() {
        check(5, &[(0, 1), (1, 2), (2, 3), (4, 3)], &[0, 1, 2, 3, 2]);
    }
}
