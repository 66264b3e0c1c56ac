//! Strongly connected components, by Tarjan's algorithm without recursion.

/// The component of each node: a number, or [`NONE`] for nodes left out. A component is numbered after those it leads
/// to.
pub struct Components {
    /// For each node.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

/// In no component.
pub const NONE: u32 = u32::MAX;

/// The components of the nodes below `nodes` that are `inside`; `next` lists where a node leads, also outside.
pub fn components(nodes: usize, inside: impl Fn(usize) -> bool, next: impl Fn(usize, &mut Vec<usize>)) -> Components {
    let mut found = Components { of: vec![NONE; nodes], count: 0 };
    let mut order = vec![0_u32; nodes];
    let mut low = vec![0_u32; nodes];
    let mut time = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    for root in 0..nodes {
        if !inside(root) || order[root] != 0 {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                time += 1;
                (order[node], low[node]) = (time, time);
                open.push(node);
                let mut to = Vec::new();
                next(node, &mut to);
                path.push((node, to, 0));
            }
            let Some((node, to, at)) = path.last_mut() else { break };
            if let Some(&target) = to.get(*at) {
                *at += 1;
                if !inside(target) {
                    continue;
                }
                if order[target] == 0 {
                    enter = Some(target);
                } else if found.of[target] == NONE {
                    low[*node] = low[*node].min(order[target]);
                }
                continue;
            }
            let node = *node;
            path.pop();
            if let Some((above, ..)) = path.last() {
                low[*above] = low[*above].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    found.of[member] = found.count as u32;
                    if member == node {
                        break;
                    }
                }
                found.count += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_cycles_and_numbers_them_backwards() {
        let edges = [vec![1], vec![2, 0], vec![3], vec![2], vec![0]];
        let found = components(5, |_| true, |node, to| to.extend(&edges[node]));
        assert_eq!(found.count, 3);
        assert_eq!(found.of[0], found.of[1]);
        assert_eq!(found.of[2], found.of[3]);
        assert!(found.of[2] < found.of[0] && found.of[0] < found.of[4]);
    }
}
