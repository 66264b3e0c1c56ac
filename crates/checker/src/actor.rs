//! The actors that take the steps of an execution.
use doorway_memory::Pid;

use crate::model::Model;

/// The one that takes a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Actor {
    /// A process.
    Process(Pid),
    /// The store buffer of a process: its oldest write becomes visible.
    Buffer(Pid),
    /// A process dies, aborts or is taken for dead; its sections before and afterwards tell which.
    Interruption(Pid),
    /// A process crashes. Only paths contain such steps: a crash changes no state.
    Crash(Pid),
}

impl Actor {
    /// The process that the actor is or belongs to.
    pub(crate) fn pid(self) -> Pid {
        let (Actor::Process(p) | Actor::Buffer(p) | Actor::Interruption(p) | Actor::Crash(p)) = self;
        p
    }

    fn bit(self) -> u32 {
        let kind = match self {
            Actor::Process(_) => 0,
            Actor::Buffer(_) => 1,
            Actor::Interruption(_) => 2,
            Actor::Crash(_) => 3,
        };
        kind * 16 + self.pid() as u32
    }
}

/// A set of actors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ActorSet(pub(crate) u64);

impl ActorSet {
    pub(crate) fn of(actor: Actor) -> ActorSet {
        ActorSet(1 << actor.bit())
    }

    pub(crate) fn contains(self, actor: Actor) -> bool {
        self.0 >> actor.bit() & 1 == 1
    }

    pub(crate) fn with(self, actor: Actor) -> ActorSet {
        ActorSet(self.0 | ActorSet::of(actor).0)
    }

    /// The processes in the set, as bits.
    pub(crate) fn processes(self) -> u32 {
        self.0 as u16 as u32
    }

    /// The processes whose store buffers are in the set, as bits.
    pub(crate) fn buffers(self) -> u32 {
        (self.0 >> 16) as u16 as u32
    }
}

/// The number of different actors that an edge can have.
const CODES: usize = 16;

/// How the edges of a graph pack actors into four bits: first the processes, then their store buffers, then their
/// interruptions, as far as the model has them.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    n: usize,
    has_buffers: bool,
    actors: [Actor; CODES],
}

impl Packing {
    /// The largest number of processes for which a model's actors can be packed.
    pub(crate) fn most_processes(model: &Model) -> usize {
        CODES / (1 + usize::from(model.store_buffers) + usize::from(model.has_interruptions()))
    }

    pub(crate) fn of(model: &Model) -> Packing {
        let mut actors = [Actor::Crash(0); CODES]; // in no edge
        let buffers = model.processes().filter(|_| model.store_buffers).map(Actor::Buffer);
        let interruptions = model.processes().filter(|_| model.has_interruptions()).map(Actor::Interruption);
        let all = model.processes().map(Actor::Process).chain(buffers).chain(interruptions);
        std::iter::zip(&mut actors, all).for_each(|(code, actor)| *code = actor);
        Packing { n: model.n, has_buffers: model.store_buffers, actors }
    }

    #[inline]
    pub(crate) fn pack(&self, actor: Actor) -> u8 {
        let code = match actor {
            Actor::Process(p) => p,
            Actor::Buffer(p) => self.n + p,
            Actor::Interruption(p) => self.n * (1 + usize::from(self.has_buffers)) + p,
            Actor::Crash(_) => unreachable!("a crash is no edge"),
        };
        code as u8
    }

    #[inline]
    pub(crate) fn unpack(&self, code: u32) -> Actor {
        self.actors[code as usize % CODES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_tells_all_actors_of_a_model_apart() {
        for model in [Model::new(10), Model::new(8).tso(), Model::new(8).deaths(), Model::new(5).tso().aborts()] {
            let packing = Packing::of(&model);
            let mut kinds: Vec<fn(Pid) -> Actor> = vec![Actor::Process];
            kinds.extend(model.store_buffers.then_some(Actor::Buffer as fn(Pid) -> Actor));
            kinds.extend(model.has_interruptions().then_some(Actor::Interruption as fn(Pid) -> Actor));
            let mut codes = Vec::new();
            for actor in kinds.iter().flat_map(|kind| model.processes().map(kind)) {
                let code = packing.pack(actor);
                assert_eq!(packing.unpack(code.into()), actor);
                codes.push(code);
            }
            assert!(codes.is_sorted_by(|a, b| a < b) && codes.len() <= CODES, "{codes:?}");
            assert!(model.n <= Packing::most_processes(&model));
        }
    }

    #[test]
    fn a_set_keeps_a_process_its_buffer_and_its_interruption_apart() {
        let all = [Actor::Process(9), Actor::Buffer(9), Actor::Interruption(9), Actor::Crash(9)];
        for actor in all {
            let set = ActorSet::of(actor);
            assert!(all.iter().all(|&other| set.contains(other) == (other == actor)));
        }
        assert_eq!(ActorSet::of(Actor::Process(3)).with(Actor::Buffer(2)).processes(), 1 << 3);
        assert_eq!(ActorSet::of(Actor::Process(3)).with(Actor::Buffer(2)).buffers(), 1 << 2);
    }
}
