//! The command on a terminal: width, colour, lanes and progress.
use std::{
    fs::File,
    io::Read,
    process::{Command, Stdio},
};

use rustix::{
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// What the command prints on a terminal of this width, with these variables.
fn on_terminal(width: u16, variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize { ws_row: 40, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let path = ptsname(&terminal, Vec::new()).unwrap();
    let side = || Stdio::from(open(&*path, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_doorway"));
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied()).args(arguments);
    let mut child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
    drop(command); // it holds the other side, which must be closed for the output to end
    let mut printed = Vec::new();
    let read = File::from(terminal).read_to_end(&mut printed);
    // When the other side is closed, Linux reports an error instead of an end.
    assert!(read.is_ok() || read.is_err_and(|error| error.raw_os_error() == Some(EIO)));
    child.wait().unwrap();
    String::from_utf8(printed).unwrap().replace("\r\n", "\n")
}

const EIO: i32 = 5;

#[test]
fn colour_is_for_terminals_without_no_color() {
    let printed = |variables: &[(&str, &str)]| on_terminal(100, variables, &["check", "lock-one"]);
    assert!(printed(&[]).contains("\x1b[1m\x1b[31m FAILS\x1b[0m"), "{:?}", printed(&[]));
    assert!(printed(&[("NO_COLOR", "")]).contains("\x1b[31m"), "an empty variable is as good as none");
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let printed = without_progress(&printed(&[plain]));
        assert!(!printed.contains('\x1b') && printed.contains("deadlock-freedom FAILS in 2 steps"), "{printed:?}");
    }
    for arguments in [&["list"][..], &["list", "lock-one"], &["survey", "lock-one"]] {
        assert!(on_terminal(100, &[], arguments).contains("\x1b[1m\x1b[31m"), "{arguments:?}");
        assert!(!on_terminal(100, &[("NO_COLOR", "1")], arguments).contains("m✗"), "{arguments:?}");
    }
}

#[test]
fn lanes_are_printed_if_the_terminal_is_wide_enough() {
    let printed = |width| on_terminal(width, &[("NO_COLOR", "1")], &["check", "lock-one"]);
    assert!(printed(80).contains(" ┌ then for ever\n │   3 │ 8  flag[1] = true  │\n"), "{}", printed(80));
    assert!(printed(40).contains("   1  p0  7  flag[0] := true\n"), "{}", printed(40));
}

#[test]
fn everything_fits_the_terminal() {
    for width in [70, 100, 160] {
        for arguments in [&["list"][..], &["survey", "flaky", "lock-one"], &["check", "lock-one"]] {
            let printed = on_terminal(width, &[("NO_COLOR", "1")], arguments);
            let shown = without_progress(&printed);
            for line in shown.lines() {
                assert!(line.chars().count() <= width.into(), "{arguments:?} at {width}: {line}");
            }
        }
    }
    let wide = on_terminal(160, &[("NO_COLOR", "1")], &["list"]);
    assert!(wide.contains("after Eisenberg & McGuire 1972"), "more room shows more:\n{wide}");
}

/// Progress is one line, which is erased before anything else is printed.
#[test]
fn progress_is_shown_with_an_estimate_and_erased() {
    let printed = on_terminal(100, &[("NO_COLOR", "1")], &["survey", "yang-anderson", "mcs", "clh"]);
    let shown: Vec<&str> = printed.split("\r\x1b[K").collect();
    assert!(shown.len() > 3, "each row is preceded by an erased line: {printed:?}");
    for progress in shown.iter().filter(|text| text.contains('╌')) {
        assert!(progress.starts_with("1/3  yang-anderson  ") || progress.contains("/3  "), "{progress:?}");
        assert!(!progress.contains('\n') && progress.chars().count() < 100, "{progress:?}");
    }
    assert!(without_progress(&printed).ends_with(": all as claimed.\n"), "{printed:?}");
}

/// What stays on the terminal: a line of progress is erased by what follows it.
fn without_progress(printed: &str) -> String {
    let mut pieces = printed.split("\r\x1b[K");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |text, piece| if piece.contains('\n') { text + piece } else { text })
}

#[test]
fn pipes_have_no_escapes() {
    for arguments in [&["list"][..], &["check", "lock-one"], &["survey", "mcs"]] {
        let output = crate::doorway(arguments);
        assert!(!output.stdout.contains(&b'\x1b') && output.stderr.is_empty(), "{arguments:?}");
    }
}
