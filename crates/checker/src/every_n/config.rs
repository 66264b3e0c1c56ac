//! What a view has: the shared registers and some processes, in the order of their numbers.

/// No position: the process is in no loop over the processes.
pub(super) const NOWHERE: u8 = u8::MAX;

/// The value of a register that is not known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// No bound.
pub(super) const UNBOUNDED: u8 = u8::MAX;

/// The most families of registers that processes have.
pub(super) const FAMILIES: usize = 4;

/// The values of the shared registers, and the members: those of the processes that are known of, in the order of their
/// numbers. Members and the gaps between them, in which any number of strangers may be, have *positions*: gap 0 has position
/// 0, member 0 position 1, gap 1 position 2 and so on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Config {
    pub(super) shared: Box<[u32]>,
    pub(super) members: Box<[Member]>,
}

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Member {
    /// Its local state.
    pub(super) local: u32,
    /// The position that its loop over the processes has come to.
    pub(super) at: u8,
    /// The values of its own registers, one of each family.
    pub(super) own: [u32; FAMILIES],
    /// What it has added to the tally.
    pub(super) added: i8,
    /// How many other members are before it in the queue, if it is there.
    pub(super) rank: Option<u8>,
    /// At most so many processes, strangers too, are before it in the queue.
    pub(super) bound: u8,
    /// The members that have started the doorway after it had completed its own, while it waits and they have not entered; as
    /// bits.
    pub(super) late: u8,
    /// Those of them that have entered.
    pub(super) ahead: u8,
}

/// Of two members, for each of them, whether the other one is late and whether it is ahead.
pub(super) type Relation = [[bool; 2]; 2];

impl Member {
    /// A process in its initial state.
    pub(super) const fn initial(local: u32, at: u8) -> Member {
        Member { local, at, own: [0; FAMILIES], added: 0, rank: None, bound: UNBOUNDED, late: 0, ahead: 0 }
    }
}

/// The position of a member.
pub(super) fn position(member: usize) -> u8 {
    2 * member as u8 + 1
}

/// The member at a position; none if it is a gap.
pub(super) fn member_at(position: u8) -> Option<usize> {
    (position != NOWHERE && position % 2 == 1).then_some(usize::from(position / 2))
}

/// The position after a member has been forgotten: it is in the gap around it then.
pub(super) fn position_without(at: u8, forgotten: usize) -> u8 {
    let gap = 2 * forgotten as u8;
    match at {
        NOWHERE => NOWHERE,
        at if at < gap => at,
        at if at <= gap + 2 => gap,
        at => at - 2,
    }
}

/// The set without `member`, of which there is one less then.
fn bits_without(set: u8, member: usize) -> u8 {
    let below = (1 << member) - 1;
    set & below | set >> 1 & !below
}

/// The set after one more member has come to this place.
fn bits_around(set: u8, member: usize) -> u8 {
    let below = (1 << member) - 1;
    set & below | (set & !below) << 1
}

impl Config {
    /// Forgets a member.
    pub(super) fn without(&self, forgotten: usize) -> Config {
        let others = self.members.iter().enumerate().filter(|&(p, _)| p != forgotten);
        let members = others.map(|(_, member)| Member {
            at: position_without(member.at, forgotten),
            late: bits_without(member.late, forgotten),
            ahead: bits_without(member.ahead, forgotten),
            ..*member
        });
        Config { shared: self.shared.clone(), members: members.collect() }
    }

    /// Adds a process in a gap, whose own fields are already those that it has as a member. If the loop of another member is in
    /// that gap, it may be at a process before the new one, at the new one or at one after it: hence several results. `is_possible`
    /// tells of a member, counted without the new one, and a position whether its loop can be there.
    pub(super) fn with(&self, gap: usize, new: Member, is_possible: impl Fn(usize, u8) -> bool) -> Vec<Config> {
        let at_gap = 2 * gap as u8;
        let mut found = vec![Vec::new()];
        for (p, member) in self.members.iter().enumerate() {
            let places = match member.at {
                NOWHERE => NOWHERE..=NOWHERE,
                at if at < at_gap => at..=at,
                at if at == at_gap => at..=at + 2,
                at => at + 2..=at + 2,
            };
            let (late, ahead) = (bits_around(member.late, gap), bits_around(member.ahead, gap));
            let places: Vec<u8> = places.filter(|&at| is_possible(p, at)).collect();
            let longer = |members: Vec<Member>| {
                let with = |&at: &u8| {
                    members.iter().copied().chain([Member { at, late, ahead, ..*member }]).collect::<Vec<_>>()
                };
                places.iter().map(with).collect::<Vec<_>>()
            };
            found = found.into_iter().flat_map(longer).collect();
        }
        let finish = |mut members: Vec<Member>| {
            members.insert(gap, new);
            Config { shared: self.shared.clone(), members: members.into() }
        };
        found.into_iter().map(finish).collect()
    }

    /// Counts ranks from 0, without gaps.
    pub(super) fn close_ranks(&mut self) {
        let ranks: Vec<u8> = self.members.iter().filter_map(|member| member.rank).collect();
        for rank in self.members.iter_mut().filter_map(|member| member.rank.as_mut()) {
            *rank = ranks.iter().filter(|&other| other < rank).count() as u8;
        }
    }

    /// Sorts the members of a view whose processes are all alike: the result is the same for all orders of the same members.
    pub(super) fn sort(&mut self) {
        let key = |member: &Member| Member { late: 0, ahead: 0, ..*member };
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|&p| key(&self.members[p]));
        let known = self.members.iter().fold(0, |set, member| set | member.late | member.ahead);
        let related = |p: usize| known >> p & 1 == 1 || self.members[p].late | self.members[p].ahead != 0;
        let mut best = self.ordered(&order);
        if known != 0 {
            // Members that are equal but for their relations: the smallest of all orders.
            let is_tied = |a: usize, b: usize| key(&self.members[a]) == key(&self.members[b]);
            let ties = |i: usize, order: &[usize]| {
                (i + 1..order.len())
                    .take_while(|&j| is_tied(order[i], order[j]))
                    .any(|j| related(order[i]) || related(order[j]))
            };
            if (0..order.len()).any(|i| ties(i, &order)) {
                permute(&mut order.clone(), 0, &is_tied, &mut |order| {
                    let other = self.ordered(order);
                    if other < best {
                        best = other;
                    }
                });
            }
        }
        self.members = best.into();
    }

    fn ordered(&self, order: &[usize]) -> Vec<Member> {
        let moved = |set: u8| order.iter().enumerate().fold(0, |moved, (to, &from)| moved | (set >> from & 1) << to);
        let member = |&p: &usize| Member {
            late: moved(self.members[p].late),
            ahead: moved(self.members[p].ahead),
            ..self.members[p]
        };
        order.iter().map(member).collect()
    }

    /// How two members are related.
    pub(super) fn relation(&self, p: usize, q: usize) -> Relation {
        let seen = |p: usize, q: usize| [self.members[p].late, self.members[p].ahead].map(|set| set >> q & 1 == 1);
        [seen(p, q), seen(q, p)]
    }

    /// Relates two members that are not related yet.
    pub(super) fn relate(&mut self, p: usize, q: usize, relation: Relation) {
        for ((p, q), [late, ahead]) in std::iter::zip([(p, q), (q, p)], relation) {
            self.members[p].late |= u8::from(late) << q;
            self.members[p].ahead |= u8::from(ahead) << q;
        }
    }

    /// The members in the queue, the first one first.
    pub(super) fn in_queue(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).filter(|&p| self.members[p].rank.is_some()).collect();
        order.sort_unstable_by_key(|&p| self.members[p].rank);
        order
    }
}

/// Every order of the members in which only tied ones change places.
fn permute(order: &mut [usize], from: usize, is_tied: &dyn Fn(usize, usize) -> bool, visit: &mut dyn FnMut(&[usize])) {
    if from == order.len() {
        return visit(order);
    }
    for other in from..order.len() {
        if is_tied(order[from], order[other]) {
            order.swap(from, other);
            permute(order, from + 1, is_tied, visit);
            order.swap(from, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBER: Member = Member::initial(0, NOWHERE);

    fn config(members: &[Member]) -> Config {
        Config { shared: Box::new([]), members: members.into() }
    }

    #[test]
    fn a_forgotten_member_is_in_a_gap() {
        let all = config(&[0, 1, 2, 3, 4, 5, 6].map(|at| Member { local: at.into(), at, late: 0b101, ..MEMBER })[..3]);
        let smaller = all.without(1);
        assert_eq!(smaller.members.iter().map(|member| member.at).collect::<Vec<_>>(), [0, 2]);
        assert!(smaller.members.iter().all(|member| member.late == 0b11));
    }

    #[test]
    fn forgetting_undoes_adding() {
        let places = [NOWHERE, 0, 1, 2, 3, 4];
        for (a, b) in places.iter().flat_map(|&a| places.map(|b| (a, b))) {
            let before = config(&[Member { at: a, late: 2, ..MEMBER }, Member { at: b, ahead: 1, ..MEMBER }]);
            for gap in 0..=2 {
                let larger = before.with(gap, Member { local: 7, ..MEMBER }, |_, _| true);
                let in_gap = [a, b].iter().filter(|&&at| usize::from(at) == 2 * gap).count();
                assert_eq!(larger.len(), 3_usize.pow(in_gap as u32));
                assert!(larger.iter().all(|larger| larger.without(gap) == before && larger.members[gap].local == 7));
            }
        }
    }

    #[test]
    fn sorting_does_not_depend_on_the_order() {
        let members = [(1, 0b100, 0), (1, 0, 0b001), (0, 0b010, 0)];
        let members = members.map(|(local, late, ahead)| Member { local, late, ahead, ..MEMBER });
        let original = config(&members);
        let mut sorted = Vec::new();
        permute(&mut [0, 1, 2], 0, &|_, _| true, &mut |order| {
            let mut other = config(&original.ordered(order));
            other.sort();
            sorted.push(other);
        });
        assert_eq!(sorted.len(), 6);
        assert!(sorted.iter().all(|other| *other == sorted[0]));
    }
}
