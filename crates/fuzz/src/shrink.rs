//! Shrinks programs on which the answers differ.
use crate::{
    campaigns::Case,
    compare::{Outcome, compare, fits},
    lang::{Program, Stmt},
    mutate::is_valid,
};

/// The smallest case found on which the answers still differ, and how.
pub fn shrink(case: &Case) -> (Case, Outcome) {
    let mut best = case.clone();
    let mut outcome = compare(&best.program, &best.setup, best.job);
    let mut left = 3_000;
    'again: loop {
        for program in smaller(&best.program) {
            if left == 0 {
                break 'again;
            }
            left -= 1;
            if !is_valid(&program) || !fits(&program, &best.setup, best.job) {
                continue;
            }
            let tried = compare(&program, &best.setup, best.job);
            // The mismatch must be of the same kind, or shrinking could end with another one.
            let same = tried.mismatches.iter().any(|text| kind(text) == kind(&outcome.mismatches[0]));
            if same {
                (best.program, outcome) = (program, tried);
                continue 'again;
            }
        }
        break;
    }
    (best, outcome)
}

/// The subject of a mismatch.
pub fn kind(text: &str) -> String {
    text.split(|c: char| c.is_ascii_digit() || c == '\n').next().unwrap_or("").to_string()
}

/// Programs with one statement less, or with a block in place of the statement around it.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let sections = program.sections().count();
    for section in 0..sections {
        let stmts = program.sections().nth(section).expect("it is there").clone();
        for block in reduced(&stmts) {
            let mut smaller = program.clone();
            *smaller.sections_mut().nth(section).expect("it is there") = block;
            all.push(smaller);
        }
    }
    all
}

fn reduced(stmts: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut all = Vec::new();
    let replaced = |at: usize, with: Vec<Stmt>| {
        let mut block = stmts.to_vec();
        block.splice(at..=at, with);
        block
    };
    for (at, stmt) in stmts.iter().enumerate() {
        all.push(replaced(at, Vec::new()));
        match stmt {
            Stmt::If(cond, yes, no) => {
                all.push(replaced(at, yes.clone()));
                all.push(replaced(at, no.clone()));
                all.extend(reduced(yes).into_iter().map(|y| replaced(at, vec![Stmt::If(cond.clone(), y, no.clone())])));
                all.extend(reduced(no).into_iter().map(|n| replaced(at, vec![Stmt::If(cond.clone(), yes.clone(), n)])));
            }
            Stmt::Loop(body) => {
                all.push(replaced(at, body.clone()));
                all.extend(reduced(body).into_iter().map(|body| replaced(at, vec![Stmt::Loop(body)])));
            }
            Stmt::Call(body) => {
                all.push(replaced(at, body.clone()));
                all.extend(reduced(body).into_iter().map(|body| replaced(at, vec![Stmt::Call(body)])));
            }
            Stmt::For(variable, but_own, body) => {
                all.push(replaced(at, body.clone()));
                let again = |body| replaced(at, vec![Stmt::For(*variable, *but_own, body)]);
                all.extend(reduced(body).into_iter().map(again));
            }
            Stmt::Spin(tests) if tests.len() > 1 => {
                for i in 0..tests.len() {
                    let mut fewer = tests.clone();
                    fewer.remove(i);
                    all.push(replaced(at, vec![Stmt::Spin(fewer)]));
                }
            }
            _ => {}
        }
    }
    all
}
