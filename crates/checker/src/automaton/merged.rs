//! The states that stand for others which no step can tell apart.
use std::sync::Arc;

use doorway_memory::Pid;

use super::Automaton;
use crate::{
    error::Error,
    merge::{Classes, Content, Filled},
    program::{Program, Section},
    view::Word,
};

/// What a search knows of classes of states.
pub(super) struct MergedStates {
    classes: Arc<Classes>,
    /// For each field and content, what the classes know of it.
    contents: Vec<Vec<Content>>,
    /// For each class and field the content of the state that stands for the class.
    members: Vec<u32>,
}

impl MergedStates {
    pub(super) fn of(classes: Arc<Classes>, fields: usize) -> MergedStates {
        MergedStates { classes, contents: vec![Vec::new(); fields], members: Vec::new() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.classes.bytes() + 4 * self.members.len()
    }

    fn member(&self, class: u32) -> &[u32] {
        let fields = self.contents.len();
        &self.members[class as usize * fields..][..fields]
    }
}

/// The content of a state that was not met when states were merged. It is in no class.
const UNKNOWN: u32 = u32::MAX;

impl Automaton {
    /// Whether states are merged.
    #[inline]
    pub(crate) fn merges(&self) -> bool {
        self.merged.is_some()
    }

    /// The contents of the state that stands for a state with these contents.
    pub(crate) fn merged(&self, content: impl Fn(usize) -> u32) -> Option<&[u32]> {
        let merged = self.merged.as_ref()?;
        let class = merged.classes.class(|field| &merged.contents[field][content(field) as usize])?;
        Some(merged.member(class))
    }

    /// As [`merged`](Self::merged), for a state whose tickets may be any numbers.
    pub(crate) fn merged_real<'a>(
        &self,
        processes: impl Iterator<Item = &'a (Section, u32, Vec<Word>)>,
        words: &[u64],
    ) -> Option<&[u32]> {
        let merged = self.merged.as_ref()?;
        let classes = &merged.classes;
        let locals = processes
            .enumerate()
            .map(|(p, (section, passages, history))| classes.local(p, *section, *passages, history));
        let values = words.iter().enumerate().map(|(reg, &word)| classes.value(reg, &self.registers[reg], word));
        let contents: Vec<Content> = locals.chain(values).collect::<Option<_>>()?;
        Some(merged.member(classes.class(|field| &contents[field])?))
    }

    /// Learns the states that stand for classes.
    pub(super) fn learn_merged(&mut self, program: &dyn Program) -> Result<(), Error> {
        let Some(MergedStates { classes, .. }) = &self.merged else { return Ok(()) };
        let classes = classes.clone();
        let mut ids: Vec<Vec<u32>> = Vec::new();
        for (field, contents) in classes.contents.iter().enumerate() {
            let id = |content: &Filled| match (content, field.checked_sub(self.n())) {
                (Filled::Value(word), Some(reg)) => self.value_id(reg, *word, None).map_err(super::unfounded),
                (Filled::Value(_), None) => unreachable!("the first fields are those of processes"),
                (Filled::Local(section, passages, history), _) => {
                    self.local_id(program, field, *section, *passages, history.clone())
                }
            };
            ids.push(contents.iter().map(id).collect::<Result<_, _>>()?);
        }
        let members = classes.members.chunks_exact(ids.len());
        let members =
            members.flat_map(|member| std::iter::zip(&ids, member).map(|(ids, &content)| ids[content as usize]));
        let members = members.collect();
        if let Some(merged) = &mut self.merged {
            merged.members = members;
        }
        Ok(())
    }

    /// Takes note of a new local state.
    pub(super) fn note_merged_local(&mut self, p: Pid, section: Section, passages: u32, history: &[Word]) {
        if let Some(MergedStates { classes, contents, .. }) = &mut self.merged {
            let content = classes.local(p, section, passages, history);
            contents[p].push(content.unwrap_or((UNKNOWN, [].into())));
        }
    }

    /// Takes note of a new value of a register.
    pub(super) fn note_merged_value(&mut self, reg: usize, word: u64) {
        let field = self.processes.len() + reg;
        if let Some(MergedStates { classes, contents, .. }) = &mut self.merged {
            let content = classes.value(reg, &self.registers[reg], word);
            contents[field].push(content.unwrap_or((UNKNOWN, [].into())));
        }
    }
}
