//! The defects that `scripts/fuzz-defects` plants can be applied to the checker's source.
use std::{fs, path::Path};

#[test]
fn the_old_text_of_every_defect_occurs_once_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut defects = 0;
    for entry in fs::read_dir(root.join("crates/fuzz/defects")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let (head, change) = text.split_once("\n--- old\n").expect("a defect has an old text");
        let (old, new) = change.trim_end_matches('\n').split_once("\n--- new\n").expect("a defect has a new text");
        let file = head.lines().find_map(|line| line.strip_prefix("file: ")).expect("a defect names its file");
        let source = fs::read_to_string(root.join(file)).unwrap();
        assert_eq!(source.matches(old).count(), 1, "{}: the old text is in {file} once", path.display());
        assert_ne!(old, new, "{}", path.display());
        defects += 1;
    }
    assert!(defects >= 20, "{defects} defects");
}
