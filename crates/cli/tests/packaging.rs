//! What crates.io and packages show is what there is.
use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The first example in Rust, without lines that rustdoc hides.
fn example(text: &str, begin: &str) -> String {
    let code = text.split_once(begin).and_then(|(_, rest)| rest.split_once("```")).expect("there is an example").0;
    code.lines().filter(|line| !line.starts_with("# ")).map(|line| line.to_string() + "\n").collect()
}

/// The documentation at the beginning of a library.
fn crate_documentation(code: &str) -> String {
    let lines = code.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_string() + "\n").collect()
}

/// The names of the folders in `crates` whose crates are for crates.io.
fn published() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|folder| folder.unwrap().file_name());
    let names = folders.map(|name| name.into_string().unwrap());
    names.filter(|name| !read(&format!("crates/{name}/Cargo.toml")).contains("\npublish = false\n")).collect()
}

/// The example of a README is compiled and run as the one of the crate's documentation.
#[test]
fn the_example_of_a_readme_is_that_of_the_documentation() {
    for name in published() {
        let (readme, library) = (format!("crates/{name}/README.md"), format!("crates/{name}/src/lib.rs"));
        if root().join(&readme).exists() && root().join(&library).exists() {
            let documentation = crate_documentation(&read(&library));
            assert_eq!(example(&read(&readme), "```rust\n"), example(&documentation, "```\n"), "{readme}");
        }
    }
}

#[test]
fn every_published_crate_is_in_the_order_of_a_release() {
    let guide = read("docs/releasing.md");
    for name in published() {
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        let package = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert!(guide.contains(&format!("`{package}`")), "docs/releasing.md does not name `{package}`");
        assert!(manifest.contains("\ndescription = \""), "`{package}` has no description");
    }
}

/// An archive of a crate contains only the crate's own folder, and the targets of links in it.
#[test]
fn no_published_crate_includes_a_file_outside_its_folder() {
    fn search(folder: &Path) {
        for path in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if path.is_dir() {
                search(&path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("include_str!(\"../../"), "{}", path.display());
            }
        }
    }
    published().iter().for_each(|name| search(&root().join(format!("crates/{name}/src"))));
}
