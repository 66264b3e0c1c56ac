//! What can happen next in an execution, as a word.
use std::{fmt, str::FromStr};

use doorway_memory::Pid;

/// What happens next in an execution.
///
/// As text it is short, so that a list of choices fits into a link: `2`, `2=1`, `b2`, `d2`, `a2`, `e2`, `c2`.
///
/// ```
/// use doorway_checker::Choice;
///
/// let choices = ["2", "2=1", "b2", "d2", "a2", "e2", "c2"];
/// for text in choices {
///     let choice: Choice = text.parse()?;
///     assert_eq!((choice.to_string().as_str(), choice.process()), (text, 2));
/// }
/// assert!("x2".parse::<Choice>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Choice {
    /// The process takes its next step. If the process is dead, another one takes a step of the reap.
    Step(Pid),
    /// The process reads a safe register that is being written. Of the values that the read may return, it returns the
    /// one with this number.
    StepSeeing(Pid, usize),
    /// The oldest write in the process' store buffer becomes visible.
    Visible(Pid),
    /// The process dies.
    Dies(Pid),
    /// The process aborts.
    Aborts(Pid),
    /// The process is taken for dead while it lives, or finds out that it was.
    Expires(Pid),
    /// The process crashes: it takes no further step.
    Crashes(Pid),
}

impl Choice {
    /// The process that it is about.
    ///
    /// See the [type's example](Choice).
    #[must_use]
    pub fn process(self) -> Pid {
        match self {
            Choice::Step(p) | Choice::StepSeeing(p, _) | Choice::Visible(p) => p,
            Choice::Dies(p) | Choice::Aborts(p) | Choice::Expires(p) | Choice::Crashes(p) => p,
        }
    }

    /// The name of its kind: `step`, `visible`, `dies`, `aborts`, `expires` or `crashes`.
    ///
    /// ```
    /// assert_eq!(doorway_checker::Choice::Visible(0).kind(), "visible");
    /// ```
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Choice::Step(_) | Choice::StepSeeing(..) => "step",
            Choice::Visible(_) => "visible",
            Choice::Dies(_) => "dies",
            Choice::Aborts(_) => "aborts",
            Choice::Expires(_) => "expires",
            Choice::Crashes(_) => "crashes",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Step(p) => write!(f, "{p}"),
            Choice::StepSeeing(p, value) => write!(f, "{p}={value}"),
            Choice::Visible(p) => write!(f, "b{p}"),
            Choice::Dies(p) => write!(f, "d{p}"),
            Choice::Aborts(p) => write!(f, "a{p}"),
            Choice::Expires(p) => write!(f, "e{p}"),
            Choice::Crashes(p) => write!(f, "c{p}"),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        let number = |digits: &str| -> Option<usize> {
            digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let choice = match text.split_once('=') {
            Some((p, value)) => number(p).zip(number(value)).map(|(p, value)| Choice::StepSeeing(p, value)),
            None => {
                let kinds = [("b", Choice::Visible as fn(Pid) -> Choice), ("d", Choice::Dies), ("a", Choice::Aborts)];
                let more = [("e", Choice::Expires as fn(Pid) -> Choice), ("c", Choice::Crashes), ("", Choice::Step)];
                kinds.into_iter().chain(more).find_map(|(letter, kind)| Some(kind(number(text.strip_prefix(letter)?)?)))
            }
        };
        choice.ok_or_else(|| {
            format!("`{text}` is no choice; one is a process, as in `0`, or `0=1`, `b0`, `d0`, `a0`, `e0`, `c0`")
        })
    }
}
