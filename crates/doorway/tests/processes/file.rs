//! The file: foreign, damaged, replaced, forgotten.
use std::{
    fs,
    ops::Range,
    os::unix::fs::{FileExt, MetadataExt, symlink},
    path::Path,
    process::{self, Command, Stdio},
    thread,
    time::Duration,
};

use doorway::process::{Error, Semaphore};

use crate::support::{Directory, LONG, Random, SHORT, TestProcess, forget, until};

#[test]
fn a_file_that_is_not_a_semaphore_is_refused_and_not_changed() {
    let directory = Directory::new();
    let path = directory.file("file");
    let good = {
        drop(Semaphore::open(&path, 2).unwrap());
        fs::read(&path).unwrap()
    };
    let refused = |bytes: &[u8], why: &str| {
        fs::write(&path, bytes).unwrap();
        let error = Semaphore::open(&path, 2).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains(&format!("`{}`", path.display())), "{error}");
        assert!(Semaphore::existing(&path).is_err() && Semaphore::forget(&path).is_err());
        assert!(fs::read(&path).unwrap() == bytes, "the file is not changed");
    };
    refused(b"", "is too short");
    refused(b"precious", "is too short");
    refused(&[7; 100_000], "is not a semaphore");
    refused(&good[..good.len() - 1], "truncated");
    refused(&good[..4096], "truncated");
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    refused(&with(8, 0), "has format 0, but this program supports format 2");
    refused(&with(8, 1), "has format 1, but this program supports format 2");
    refused(&with(16, 5), "checksum");
    refused(&with(24, 9), "checksum");
    fs::write(&path, &good).unwrap();
    let error = Semaphore::open(&path, 3).unwrap_err().to_string();
    assert!(error.contains("has capacity 2, not 3"), "{error}");
    drop(Semaphore::open(&path, 2).unwrap().acquire().unwrap());
    let error = Semaphore::open(&directory.0, 2).unwrap_err().to_string();
    assert!(error.contains("is a directory"), "{error}");
    assert!(Semaphore::open(&path, 0).is_err() && Semaphore::open(&path, 2048).is_err());
    assert!(Semaphore::open("", 1).is_err() && Semaphore::open("..", 1).is_err());
}

#[test]
fn a_name_is_a_file_in_a_private_directory_of_the_user() {
    let name = format!("test-{}", process::id());
    let semaphore = Semaphore::open(&name, 1).unwrap();
    let directory = semaphore.path().parent().unwrap().to_owned();
    assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(semaphore.path()).unwrap().mode() & 0o777, 0o600);
    drop(semaphore);
    Semaphore::forget(&name).unwrap();
    let link = directory.join(&name);
    symlink("/dev/null", &link).unwrap();
    let error = Semaphore::open(&name, 1).unwrap_err().to_string();
    fs::remove_file(link).unwrap();
    assert!(error.contains("is a link"), "{error}");
}

/// The name is that of one file, wherever the process goes.
#[test]
fn a_relative_path_is_resolved_once() {
    let (directory, elsewhere) = (Directory::new(), Directory::new());
    let role = format!("chdir|{}|{}", directory.file("relative").display(), elsewhere.0.display());
    assert_eq!(TestProcess::start(&role).line(), "excluded");
    assert_eq!(fs::read_dir(&elsewhere.0).unwrap().count(), 0);
}

#[test]
fn waiters_move_to_the_file_that_replaces_a_removed_one() {
    let directory = Directory::new();
    let path = directory.file("replaced");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    let permit = semaphore.acquire().unwrap();
    let mut waiter = TestProcess::start(&format!("hold|{}|1", path.display()));
    until(|| semaphore.waiters().len() == 1);
    fs::remove_file(&path).unwrap();
    let new = Semaphore::open(&path, 1).unwrap();
    let new_permit = new.acquire().unwrap(); // the new file knows nothing of the old one's holders
    drop(permit);
    until(|| new.waiters().len() == 1);
    drop(new_permit);
    assert_eq!(waiter.line(), "entered");
    assert_eq!(new.holders().len(), 1);
    thread::sleep(Duration::from_millis(150));
    assert!(semaphore.acquire_timeout(SHORT).unwrap().is_none(), "this handle uses the new file too");
}

#[test]
fn only_an_unused_semaphore_is_forgotten() {
    let directory = Directory::new();
    let path = directory.file("forget");
    let semaphore = Semaphore::open(&path, 1).unwrap();
    Semaphore::forget(&path).unwrap(); // it is open, but no slot is taken
    assert!(!path.exists());
    let permit = semaphore.acquire().unwrap();
    assert!(path.exists(), "the next caller creates it again");
    assert!(matches!(Semaphore::forget(&path), Err(Error::InUse { .. })));
    drop(permit);
    assert!(matches!(Semaphore::forget(&path), Err(Error::InUse { .. })), "the handle may be used again");
    drop(semaphore);
    forget(&path);
    assert!(matches!(Semaphore::forget(&path), Err(Error::Missing { .. })));
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_file() {
    let directory = Directory::new();
    let mounted = |arguments: &[&str]| Command::new("mount").args(arguments).stderr(Stdio::null()).status();
    let target = directory.0.to_str().unwrap();
    if !mounted(&["-t", "tmpfs", "-o", "size=32k", "none", target]).is_ok_and(|status| status.success()) {
        eprintln!("skipped: only root can mount a small disk");
        return;
    }
    let error = Semaphore::open(directory.file("full"), 1).map(drop);
    let left = fs::read_dir(&directory.0).unwrap().count();
    assert!(Command::new("umount").arg(target).status().unwrap().success());
    assert!(matches!(&error, Err(Error::Full { .. })), "{error:?}");
    assert_eq!(left, 0);
}

#[test]
fn a_damaged_unused_file_is_refused_or_works() {
    let directory = Directory::new();
    let path = directory.file("fuzz");
    let mut random = Random(99);
    for round in 0..300 {
        if round % 50 == 0 {
            let _ = fs::remove_file(&path);
            drop(Semaphore::open(&path, 2).unwrap());
        }
        let good = fs::read(&path).unwrap();
        damage(&path, &mut random, if round % 2 == 0 { 0..good.len() } else { 4096..good.len() });
        if let Ok(semaphore) = Semaphore::open(&path, 2) {
            let permits: Vec<_> = (0..2).map(|_| semaphore.acquire_timeout(LONG).unwrap().unwrap()).collect();
            assert_eq!(semaphore.holders().len(), 2);
            let other = Semaphore::open(&path, 2).unwrap();
            assert!(other.try_acquire().unwrap().is_none());
            assert!(other.acquire_timeout(Duration::from_millis(1)).unwrap().is_none());
            drop(permits);
        } else {
            fs::write(&path, good).unwrap();
        }
    }
}

/// Exclusion is not guaranteed then.
#[test]
fn damage_to_a_file_in_use_causes_no_crash_and_no_hang() {
    let directory = Directory::new();
    let mut random = Random(5);
    for round in 0..60 {
        let path = directory.file(&format!("damaged{round}"));
        let (one, other) = (Semaphore::open(&path, 1).unwrap(), Semaphore::open(&path, 1).unwrap());
        let permit = one.acquire().unwrap();
        for _ in 0..3 {
            damage(&path, &mut random, 4096..fs::metadata(&path).unwrap().len() as usize);
            let _ = other.acquire_timeout(Duration::from_millis(2));
            let _ = other.try_acquire();
            let _ = (other.holders(), other.waiters());
        }
        drop(permit);
        let _ = one.acquire_timeout(Duration::from_millis(2));
        drop((one, other));
        drop(Semaphore::open(&path, 1).unwrap().acquire_timeout(LONG).unwrap().unwrap());
    }
}

#[test]
fn a_copy_that_was_never_written_is_an_error() {
    let directory = Directory::new();
    let path = directory.file("copy");
    let (one, other) = (Semaphore::open(&path, 1).unwrap(), Semaphore::open(&path, 1).unwrap());
    let permit = one.acquire().unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    /// The byte at which the register `Current` begins; `docs/shared-file.md`.
    const CURRENT: u64 = 4480;
    file.write_all_at(&u64::MAX.to_le_bytes(), CURRENT).unwrap();
    assert!(matches!(other.acquire_timeout(SHORT), Err(Error::Damaged { .. })));
    drop(permit);
    drop((one, other));
    assert!(Semaphore::open(&path, 1).unwrap().try_acquire().unwrap().is_some());
}

/// Overwrites random bytes in this range.
fn damage(path: &Path, random: &mut Random, range: Range<usize>) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    for _ in 0..1 + random.below(40) {
        let at = range.start + random.below(range.len() as u64 - 8) as usize;
        let word = match random.below(4) {
            0 => u64::MAX,
            1 => random.below(5),
            2 => 1 << random.below(64),
            _ => random.below(u64::MAX),
        };
        let at = if random.below(2) == 0 { at } else { at / 8 * 8 };
        file.write_all_at(&word.to_le_bytes(), at as u64).unwrap();
    }
}
