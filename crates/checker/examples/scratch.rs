//! scratch
use doorway_algorithms::{About, Size, registry::{self, Visitor}};
use doorway_checker::*;
use doorway_memory::{Exclusion, Part};
struct Go(Model);
impl Visitor for Go {
    type Space = Registers;
    type Output = Result<Report, Error>;
    fn exclusion<A: Exclusion<View>>(self, _: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) -> Self::Output { check(&self.0, make) }
    fn part<A: Part<View>>(self, about: &'static About, _: Size, make: impl Fn(&mut Registers) -> A) -> Self::Output {
        let m = if about.sequential { self.0.sequential() } else { self.0 };
        check_part(&m, make) }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads: usize = std::env::var("T").ok().map_or(1, |t| t.parse().unwrap());
    let excl = std::env::var("X").is_ok();
    let one = |about: &'static About, n: Option<usize>| {
        let size = about.size(n, None).unwrap();
        let mut m = Model::new(size.n).threads(threads);
        if excl { m = m.only([Property::Exclusion]); }
        if let Ok(c) = std::env::var("CAP") { m = m.ticket_cap(c.parse().unwrap()); }
        match registry::visit(about, size, Go(m)) {
            Ok(r) => print!("{} n={}: {:.3}s {:.1}B depth {} trans {} cut? {:?} {}", about.name, size.n, r.seconds, r.bytes_per_state, r.depth, r.transitions, r.incomplete, r),
            Err(e) => println!("{} n={}: ERROR {e}", about.name, size.n),
        }
    };
    match args.get(1) {
        Some(name) => one(registry::find(name).unwrap(), args.get(2).map(|n| n.parse().unwrap())),
        None => registry::all().iter().for_each(|a| one(a, None)),
    }
}
