//! Links `doorway` statically where that can be done: a process that a lock is taken for is often a short one, and loading three
//! shared libraries takes a fifth of the time of `doorway run NAME -- true`.
//!
//! `-C target-feature=+crt-static` would do the same, but cannot be said for one program by its manifest, and for a whole build it
//! forbids procedural macros. So the linker is told to link statically, and finds, under the names of the shared libraries that
//! rustc asks for, scripts which name the archives instead.
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The shared libraries rustc asks for, and what is linked in their place.
const LIBRARIES: [(&str, &str); 3] = [("c", "libc.a"), ("m", "libm.a"), ("gcc_s", "libgcc_eh.a")];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if !is_plain() {
        return;
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where")).join("archives");
    match write_scripts(&directory) {
        Ok(true) => {
            let search = format!("-L{}", directory.display());
            for argument in ["-static", "-no-pie", &search] {
                println!("cargo:rustc-link-arg-bin=doorway={argument}");
            }
        }
        Ok(false) => {} // no archives here: shared libraries do as well
        Err(error) => println!("cargo:warning=`doorway` is not linked statically: {error}"),
    }
}

/// Whether the program is for this machine, with the GNU C library, and nobody asks for anything special.
fn is_plain() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|v| v == value);
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    env::var("HOST") == env::var("TARGET")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && !features.split(',').any(|feature| feature == "crt-static")
        && env::var_os("CARGO_CFG_SANITIZE").is_none()
        && env::var_os("CARGO_FEATURE_ETCD").is_none() // host names are looked up by shared libraries
}

/// Writes a script for each library; false if the C compiler does not know one of the archives.
fn write_scripts(directory: &Path) -> io::Result<bool> {
    fs::create_dir_all(directory)?;
    for (library, archive) in LIBRARIES {
        let found = Command::new("cc").arg(format!("-print-file-name={archive}")).output()?;
        let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if !Path::new(&path).is_absolute() {
            return Ok(false);
        }
        fs::write(directory.join(format!("lib{library}.so")), format!("INPUT(\"{path}\")\n"))?;
    }
    Ok(true)
}
