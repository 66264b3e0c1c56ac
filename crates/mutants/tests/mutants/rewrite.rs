//! Which changes of a source are mutants.
use doorway_mutants::rewrite::functions;

const SAMPLE: &str = r#"
    //! Größe ≠ bytes
    impl<M: Memory> Exclusion<M> for Sample<M> {
        fn doorway(&self, m: &mut M, p: Pid) -> Result<Ticket, M::Halt> {
            m.at("3").write(&self.a[p], true)?;
            m.at("3").fence()?;
            m.at("4").write(&self.b[p], max.next())?;
            m.relax();
            m.at("5").write(&self.c[p], 1)?;
            m.at("6").write(&self.d[p], 2)
        }
        fn wait(&self, m: &mut M, p: Pid) -> bool { self.x < p && !self.y || p == 1 }
    }
    impl<M: Memory> Sample<M> {
        fn new(space: &mut impl Space<Mem = M>) -> Self { Sample { a: true } }
    }
    impl Value for Sample { fn to_word(self) -> u64 { u64::from(self.0 < 1) } }
"#;

fn descriptions(name: &str) -> Vec<String> {
    let functions = functions(SAMPLE).unwrap();
    let function = functions.iter().find(|function| function.name == name).unwrap();
    function.mutants.iter().map(|mutant| mutant.description.clone()).collect()
}

#[test]
fn statements_are_removed_and_swapped_and_constants_flipped() {
    assert_eq!(
        descriptions("Sample::doorway"),
        [
            "remove `m.at(\"3\").write(&self.a[p], true)?;`",
            "true -> false in `m.at(\"3\").write(&self.a[p], true)?;`",
            "remove `m.at(\"3\").fence()?;`",
            "remove `m.at(\"4\").write(&self.b[p], max.next())?;`",
            "`max.next()` -> `max`",
            "remove `m.at(\"5\").write(&self.c[p], 1)?;`",
            "swap `m.at(\"5\").write(&self.c[p], 1)?;` and `m.at(\"6\").write(&self.d[p], 2)`",
            "`m.at(\"6\").write(&self.d[p], 2)` -> `Ok(())`",
            "`m.at(\"6\").write(&self.d[p], 2)` -> `Ok(true)`",
            "`m.at(\"6\").write(&self.d[p], 2)` -> `Ok(false)`",
        ]
    );
}

#[test]
fn conditions_are_changed_and_their_operands_dropped() {
    let all = descriptions("Sample::wait");
    let changed = |text: &str| all.iter().any(|description| description == text);
    assert!(changed("`self.x < p`: `<` -> `<=`") && changed("`self.x < p`: `<` -> `>`"), "{all:?}");
    assert!(changed("`!self.y` -> `self.y`") && changed("`p == 1`: `==` -> `!=`"), "{all:?}");
    assert!(changed("`self.x < p && !self.y`: without `!self.y`"), "{all:?}");
    assert!(changed("`self.x < p && !self.y || p == 1`: `||` -> `&&`"), "{all:?}");
}

#[test]
fn constructors_and_representations_have_no_mutants() {
    let names: Vec<String> = functions(SAMPLE).unwrap().into_iter().map(|function| function.name).collect();
    assert_eq!(names, ["Sample::doorway", "Sample::wait"]);
}

#[test]
fn a_swap_moves_the_question_mark_with_the_result() {
    let functions = functions(SAMPLE).unwrap();
    let swap = functions[0].mutants.iter().find(|mutant| mutant.description.starts_with("swap")).unwrap();
    let body = swap.apply(SAMPLE, &functions[0].body);
    assert_eq!((swap.line, swap.paper_line.as_deref()), (9, Some("5")));
    let end: String = body.split("relax();").nth(1).unwrap().split_whitespace().collect();
    assert_eq!(end, "m.at(\"6\").write(&self.d[p],2)?;m.at(\"5\").write(&self.c[p],1)}");
}
