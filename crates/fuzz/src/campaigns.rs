//! The campaigns: kinds of programs and of questions about them. A campaign and a seed always give the same case.
use crate::{
    catalogue::{Named, fenced_locks, k_locks, locks},
    compare::{Job, fits, has_tickets},
    games::{heavy_and_light, one_register, overtaken, ticket_games},
    lang::{Program, Stmt, Ty},
    mutate::{Palette, is_valid, mutate},
    parts::parts,
    random::Random,
    setup::{Mem, Setup},
};

/// A program and a question about it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// Its setup.
    pub setup: Setup,
    /// What is compared.
    pub job: Job,
}

/// The names of all campaigns.
pub const NAMES: [&str; 29] = [
    "plain",
    "plain-three",
    "k-exclusion",
    "crashes",
    "deaths",
    "aborts",
    "deaths-and-aborts",
    "tso",
    "tso-without-fences",
    "tso-fences-everywhere",
    "tso-deaths",
    "tso-barrier",
    "safe",
    "tickets",
    "tickets-heavy",
    "linked",
    "rmr-dsm",
    "rmr-cc",
    "parts",
    "assignment",
    "symmetry",
    "cover",
    "limits",
    "exclusion-only",
    "parts-limited",
    "expiries",
    "without-edges",
    "forgotten",
    "merged",
];

/// The campaigns of which the steps are also computed again instead of being stored.
const RECOMPUTED: [&str; 13] = [
    "plain",
    "plain-three",
    "k-exclusion",
    "crashes",
    "deaths-and-aborts",
    "tso",
    "tickets",
    "linked",
    "rmr-dsm",
    "rmr-cc",
    "parts",
    "limits",
    "expiries",
];

/// The campaigns of which values on which no step depends are also forgotten.
const FORGETTING: [&str; 13] = [
    "plain",
    "plain-three",
    "k-exclusion",
    "deaths-and-aborts",
    "tso",
    "tso-deaths",
    "tickets",
    "tickets-heavy",
    "linked",
    "parts",
    "limits",
    "rmr-cc",
    "rmr-dsm",
];

/// The campaigns of which states are also merged.
const MERGING: [&str; 12] = [
    "plain",
    "plain-three",
    "k-exclusion",
    "crashes",
    "deaths",
    "aborts",
    "deaths-and-aborts",
    "tickets",
    "tickets-heavy",
    "linked",
    "assignment",
    "limits",
];

const PALETTE: Palette =
    Palette { names: true, atomic: true, fences: false, barriers: false, nexts: 1, single_writer: false };

/// The case of a campaign and a seed.
///
/// # Panics
/// If there is no such campaign.
pub fn case(campaign: &str, seed: u64) -> Case {
    let place = NAMES.iter().position(|name| *name == campaign).expect("there is such a campaign");
    let mut random = Random::new(seed.wrapping_mul(64).wrapping_add(place as u64));
    random.draw();
    loop {
        let (case, palette) = draw(campaign, &mut random);
        let mut program = case.program;
        let changes = [0, 1, 1, 2, 2, 3, 4, 6][random.below(8)];
        for _ in 0..changes {
            let mutant = mutate(&program, &palette, &mut random);
            if is_valid(&mutant) && suits(campaign, &mutant) {
                program = mutant;
            }
        }
        let case = Case { program, ..case };
        if is_valid(&case.program) && suits(campaign, &case.program) && fits(&case.program, &case.setup, case.job) {
            return case;
        }
    }
}

/// Whether a program is suitable for a campaign.
fn suits(campaign: &str, program: &Program) -> bool {
    match campaign {
        "symmetry" => !uses_numbers(program),
        "cover" | "safe" => only_reads_and_writes(program),
        _ => true,
    }
}

fn draw(campaign: &str, random: &mut Random) -> (Case, Palette) {
    if campaign == "without-edges" {
        let of: &str = random.pick::<&str>(&RECOMPUTED);
        let (case, palette) = draw(of, random);
        return (Case { setup: Setup { recomputes: true, ..case.setup }, ..case }, palette);
    }
    if campaign == "forgotten" {
        let of: &str = random.pick::<&str>(&FORGETTING);
        let (mut case, palette) = draw(of, random);
        case.setup.forgets = !case.setup.expiries && !matches!(case.job, Job::Cover);
        return (case, palette);
    }
    if campaign == "merged" {
        let of: &str = random.pick::<&str>(&MERGING);
        let (mut case, palette) = draw(of, random);
        case.setup.passages_in_all = None;
        case.setup.merges = true;
        return (case, palette);
    }
    let three = random.chance(12);
    let mut setup = Setup::new(if three { 3 } else { 2 });
    let mut job = Job::Check;
    let mut palette = PALETTE;
    let n = setup.n;
    let pick = |random: &mut Random, from: Vec<Named>| random.pick(&from).1.clone();
    let that = |from: Vec<Named>, will_do: &dyn Fn(&Program) -> bool| -> Vec<Named> {
        from.into_iter().filter(|(_, program)| will_do(program)).collect()
    };
    let without_tickets = |program: &Program| !has_tickets(program);
    let program = match campaign {
        "plain" if random.chance(1) => {
            setup.n = 2;
            overtaken(*random.pick(&[3, 7, 250, 260, 300]))
        }
        "plain" => pick(random, that(locks(n), &without_tickets)),
        "plain-three" => {
            setup.n = 3;
            pick(random, that(locks(3), &without_tickets))
        }
        "k-exclusion" => {
            (setup.n, setup.k) = (3, 1 + random.below(2));
            let mut from = k_locks(3, setup.k);
            from.extend(locks(3));
            pick(random, that(from, &without_tickets))
        }
        "crashes" => {
            setup.crashes = 1 + random.below(2);
            setup.k = 1 + random.below(2);
            let mut from = k_locks(n, setup.k);
            from.extend(locks(n));
            pick(random, that(from, &without_tickets))
        }
        "deaths" | "aborts" | "deaths-and-aborts" | "tso-deaths" | "expiries" => {
            setup.n = 2;
            setup.deaths = campaign != "aborts";
            setup.expiries = campaign == "expiries";
            setup.aborts = campaign == "aborts" || campaign == "deaths-and-aborts" || random.chance(20);
            setup.crashes = usize::from(random.chance(15));
            if campaign == "tso-deaths" {
                setup.mem = *random.pick(&[Mem::Tso, Mem::Tso, Mem::TsoNoFences]);
                palette.fences = true;
            }
            let mut from = locks(2);
            from.extend(k_locks(2, 1));
            if campaign == "expiries" && random.chance(60) {
                from = fenced_locks();
            }
            let (deaths, aborts) = (setup.deaths, setup.aborts);
            let mut program = pick(random, from);
            if deaths && program.reap.is_none() {
                program.reap = Some(program.exit.clone());
            }
            if aborts && program.abort.is_none() {
                program.abort = Some(program.exit.clone());
            }
            program
        }
        "tso" | "tso-without-fences" | "tso-fences-everywhere" | "tso-barrier" => {
            setup.mem = match campaign {
                "tso-without-fences" => Mem::TsoNoFences,
                "tso-fences-everywhere" => Mem::TsoFencesEverywhere,
                _ => Mem::Tso,
            };
            setup.crashes = usize::from(random.chance(15));
            (palette.fences, palette.barriers) = (true, campaign == "tso-barrier");
            let mut program = pick(random, that(locks(n), &without_tickets));
            if campaign == "tso-barrier" && n == 2 && random.chance(30) {
                program = heavy_and_light();
            } else if campaign == "tso-barrier" {
                let all = program.sections_mut().flat_map(|section| section.iter_mut());
                for stmt in all.filter(|stmt| **stmt == Stmt::Fence) {
                    if random.chance(60) {
                        *stmt = Stmt::Barrier;
                    }
                }
            }
            program
        }
        "safe" => {
            setup.mem = Mem::Safe;
            (palette.atomic, palette.single_writer) = (false, true);
            let bools_and_tickets =
                |program: &Program| program.decls.iter().all(|decl| decl.per_process && decl.ty != Ty::Num);
            pick(random, that(locks(n), &|program| only_reads_and_writes(program) && bools_and_tickets(program)))
        }
        "tickets" => {
            setup.n = 2;
            setup.crashes = usize::from(random.chance(10));
            pick(random, that(locks(2), &|program| has_tickets(program)))
        }
        "tickets-heavy" => {
            setup.n = 2;
            palette.nexts = 1 + random.below(5);
            let mut from = that(locks(2), &|program| has_tickets(program));
            for nexts in 1..=6 {
                from.extend(ticket_games(nexts));
            }
            job = *random.pick(&[Job::Check, Job::Check, Job::Check, Job::Dsm, Job::Cc(true)]);
            pick(random, from)
        }
        "linked" => {
            setup.deaths = random.chance(25);
            setup.aborts = random.chance(25);
            pick(random, that(locks(n), &|program| program.decls[0].ty == Ty::Linked))
        }
        "rmr-dsm" | "rmr-cc" => {
            job = if campaign == "rmr-dsm" { Job::Dsm } else { Job::Cc(random.chance(50)) };
            let mut from = locks(n);
            from.extend(k_locks(n, 1));
            let with_tickets = random.chance(10);
            pick(random, that(from, &|program| with_tickets || !has_tickets(program)))
        }
        "parts" | "parts-limited" => {
            setup.sequential = random.chance(25);
            match campaign {
                "parts-limited" if random.chance(50) => setup.passages = Some(1 + random.below(2) as u32),
                "parts-limited" => setup.passages_in_all = Some(1 + random.below(4) as u32),
                _ => {}
            }
            if random.chance(20) {
                setup.mem = Mem::Tso;
            }
            pick(random, parts())
        }
        "assignment" => {
            setup.n = 3;
            setup.k = 1 + random.below(2);
            setup.aborts = random.chance(20);
            pick(random, that(k_locks(3, setup.k), &|program| program.assigns))
        }
        "symmetry" => {
            job = Job::Symmetric;
            (setup.n, setup.k) = (2 + random.below(2), 1 + random.below(2));
            setup.crashes = usize::from(random.chance(30));
            palette.names = false;
            let mut from = locks(setup.n);
            from.extend(k_locks(setup.n, setup.k));
            let mut program = pick(random, that(from, &|program| !uses_numbers(&stripped(program))));
            program = stripped(&program);
            program
        }
        "cover" => {
            job = Job::Cover;
            palette.atomic = false;
            if random.chance(30) {
                one_register()
            } else {
                pick(random, that(locks(n), &|program| only_reads_and_writes(program)))
            }
        }
        "limits" => {
            match random.below(3) {
                0 => setup.passages = Some(1 + random.below(2) as u32),
                1 => setup.passages_in_all = Some(1 + random.below(4) as u32),
                _ => setup.max_states = 10 + random.below(200) as u64,
            }
            let mut from = locks(n);
            from.extend(k_locks(n, 1));
            pick(random, from)
        }
        "exclusion-only" => {
            job = Job::ExclusionOnly;
            setup.mem = *random.pick(&[Mem::Sc, Mem::Tso]);
            pick(random, locks(n))
        }
        other => unreachable!("there is no campaign {other}"),
    };
    (Case { program, setup, job }, palette)
}

/// The program without what a search with symmetry does not support.
fn stripped(program: &Program) -> Program {
    Program { reap: None, abort: None, ..program.clone() }
}

fn only_reads_and_writes(program: &Program) -> bool {
    fn all(stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| match stmt {
            Stmt::If(_, yes, no) => all(yes) && all(no),
            Stmt::Loop(body) | Stmt::For(_, _, body) | Stmt::Call(body) => all(body),
            Stmt::Swap(..)
            | Stmt::Cas(..)
            | Stmt::FetchAdd(..)
            | Stmt::Update(..)
            | Stmt::LoadLinked(..)
            | Stmt::StoreConditional(..)
            | Stmt::WriteLinked(..)
            | Stmt::ReadLinked(..)
            | Stmt::Barrier => false,
            _ => true,
        })
    }
    program.sections().all(|section| all(section))
}

/// Whether a program uses process numbers.
fn uses_numbers(program: &Program) -> bool {
    let text = program.to_string();
    let owned = program.decls.iter().any(|decl| decl.ty == Ty::Linked || decl.per_process);
    let words = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word);
    owned || words("p") || words("other")
}
