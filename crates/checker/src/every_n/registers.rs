//! The registers of an algorithm made for several numbers of processes: shared ones, and one of each process.
use crate::{
    Subject,
    model::Model,
    registers::{Kind, Register},
};

/// What is the same for every number of processes: a shared register, or a *family* with a register for each process.
pub(super) struct Slot {
    pub(super) kind: Kind,
    pub(super) init: u64,
    pub(super) is_shared: bool,
}

/// A register of an algorithm that was made for some number of processes: its slot, and its process if that is a family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) slot: usize,
    pub(super) owner: Option<usize>,
}

/// The registers of one number of processes.
pub(super) struct Registers {
    /// For each register.
    pub(super) places: Vec<Place>,
    /// For each slot its registers: one, or one for each process.
    pub(super) numbers: Vec<Vec<u32>>,
}

/// The slots of an algorithm, the shared ones first, and the registers of it made for each of several numbers of processes. The first two numbers
/// must differ, or everything looks shared.
pub(super) fn of(subjects: &[(usize, Subject)]) -> Result<(Vec<Slot>, Vec<Registers>), String> {
    let refused = || "its registers depend on the number of processes, and are not one for each".to_string();
    let groups: Vec<Vec<Group<'_>>> = subjects.iter().map(|(_, subject)| grouped(subject)).collect();
    let mut slots = Vec::new();
    let mut all: Vec<Registers> = subjects
        .iter()
        .map(|(_, subject)| Registers {
            places: vec![Place { slot: 0, owner: None }; subject.registers.of(&Model::new(1)).len()],
            numbers: Vec::new(),
        })
        .collect();
    if groups.iter().any(|made| made.len() != groups[0].len()) {
        return Err(refused());
    }
    let mut families = Vec::new();
    for (at, first) in groups[0].iter().enumerate() {
        let same = || groups.iter().map(|made| &made[at]);
        let init = first.members[0].2.init;
        if same().any(|group| group.name != first.name || group.members.iter().any(|(.., reg)| reg.init != init)) {
            return Err(refused());
        }
        let is_family = |(group, &(n, _)): (&Group<'_>, &(usize, Subject))| group.indices().eq((0..n).map(|p| [p]));
        if same().all(|group| group.indices().eq(first.indices())) {
            for i in 0..first.members.len() {
                add(&mut slots, &mut all, &groups, at, Some(i));
            }
        } else if std::iter::zip(same(), subjects).all(is_family) {
            families.push(at);
        } else {
            return Err(refused());
        }
    }
    families.into_iter().for_each(|at| add(&mut slots, &mut all, &groups, at, None));
    Ok((slots, all))
}

/// Adds the slot of a group of registers: of one of them that is shared, or of all if they are a family.
fn add(slots: &mut Vec<Slot>, all: &mut [Registers], groups: &[Vec<Group<'_>>], at: usize, shared: Option<usize>) {
    let slot = slots.len();
    let Register { kind, init, .. } = *groups[0][at].members[0].2;
    slots.push(Slot { kind, init, is_shared: shared.is_some() });
    for (registers, made) in std::iter::zip(all, groups) {
        let group = &made[at].members;
        let members = shared.map_or(&group[..], |i| &group[i..=i]);
        registers.numbers.push(members.iter().map(|&(number, ..)| number as u32).collect());
        for (p, &(number, ..)) in members.iter().enumerate() {
            registers.places[number] = Place { slot, owner: shared.is_none().then_some(p) };
        }
    }
}

/// The registers of one name: their numbers and indices.
struct Group<'a> {
    name: &'static str,
    members: Vec<(usize, Vec<usize>, &'a Register)>,
}

impl Group<'_> {
    fn indices(&self) -> impl Iterator<Item = &[usize]> {
        self.members.iter().map(|(_, indices, _)| &indices[..])
    }
}

fn grouped(subject: &Subject) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (number, register) in subject.registers.of(&Model::new(1)).iter().enumerate() {
        let name = register.name.text();
        let member = (number, register.name.indices().collect(), register);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.members.push(member),
            None => groups.push(Group { name, members: vec![member] }),
        }
    }
    groups
}
