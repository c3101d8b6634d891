//! Graph algorithms: strongly connected components and reverse reachability.
//!
//! Everything here works on plain numbers: nodes are `0..n`, and the caller decides which edges count.

/// Reversed edges as lists: the start of each node's edges, and the nodes they come from.
#[derive(Debug)]
pub(crate) struct Reverse {
    first: Vec<u32>,
    from: Vec<u32>,
}

impl Reverse {
    /// Builds the reversed edges.
    pub(crate) fn of(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0; nodes + 1];
        edges.clone().for_each(|(_, to)| first[to as usize + 1] += 1);
        (0..nodes).for_each(|node| first[node + 1] += first[node]);
        let mut next = first.clone();
        let mut from = vec![0; first[nodes] as usize];
        for (source, to) in edges {
            let at = &mut next[to as usize];
            from[*at as usize] = source;
            *at += 1;
        }
        Reverse { first, from }
    }

    /// Returns, per node, true if it leads to one of the goals.
    pub(crate) fn leading_to(&self, goals: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut leads = vec![false; self.first.len() - 1];
        let mut queue: Vec<u32> = goals.collect();
        queue.iter().for_each(|&node| leads[node as usize] = true);
        while let Some(node) = queue.pop() {
            let (from, to) = (self.first[node as usize], self.first[node as usize + 1]);
            for &before in &self.from[from as usize..to as usize] {
                if !std::mem::replace(&mut leads[before as usize], true) {
                    queue.push(before);
                }
            }
        }
        leads
    }
}

/// The strongly connected components of a graph.
#[derive(Debug)]
pub(crate) struct Components {
    /// Each node's component. Components are numbered so that edges lead to the same or a lower number.
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

const UNSEEN: u32 = u32::MAX;

/// Tarjan's algorithm without recursion. `edges(node, at)` is the target of the node's `at`-th edge: `None` if there
/// are no more edges, `Some(None)` if that edge does not count.
pub(crate) fn components(nodes: usize, edges: impl Fn(u32, usize) -> Option<Option<u32>>) -> Components {
    let mut search = Tarjan {
        order: vec![UNSEEN; nodes],
        low: vec![0; nodes],
        of: vec![UNSEEN; nodes],
        stack: Vec::new(),
        next: 0,
        count: 0,
    };
    let mut work: Vec<(u32, usize)> = Vec::new();
    for root in 0..nodes as u32 {
        if search.order[root as usize] != UNSEEN {
            continue;
        }
        search.open(root);
        work.push((root, 0));
        while let Some((node, at)) = work.pop() {
            match edges(node, at) {
                Some(None) => work.push((node, at + 1)),
                Some(Some(to)) => {
                    work.push((node, at + 1));
                    if search.order[to as usize] == UNSEEN {
                        search.open(to);
                        work.push((to, 0));
                    } else if search.of[to as usize] == UNSEEN {
                        search.lower(node, search.order[to as usize]);
                    }
                }
                None => {
                    search.close(node);
                    if let Some(&(parent, _)) = work.last() {
                        search.lower(parent, search.low[node as usize]);
                    }
                }
            }
        }
    }
    Components { of: search.of, count: search.count as usize }
}

struct Tarjan {
    order: Vec<u32>,
    low: Vec<u32>,
    of: Vec<u32>,
    stack: Vec<u32>,
    next: u32,
    count: u32,
}

impl Tarjan {
    fn open(&mut self, node: u32) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = &mut self.low[node as usize];
        *low = (*low).min(to);
    }

    fn close(&mut self, node: u32) {
        if self.low[node as usize] != self.order[node as usize] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.of[member as usize] = self.count;
            if member == node {
                break;
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_numbered_against_edge_direction() {
        // The graph: 0 -> 1 <-> 2 -> 3, 3 -> 3
        let edges: [&[u32]; 4] = [&[1], &[2], &[1, 3], &[3]];
        let found = components(4, |node, at| edges[node as usize].get(at).copied().map(Some));
        assert_eq!(found.count, 3);
        assert_eq!(found.of[1], found.of[2]);
        assert!(found.of[0] > found.of[1] && found.of[1] > found.of[3]);
    }

    #[test]
    fn reverse_reachability_is_found() {
        let reverse = Reverse::of(5, [(0, 1), (1, 2), (3, 4)].into_iter());
        assert_eq!(reverse.leading_to([2].into_iter()), [true, true, true, false, false]);
    }
}
