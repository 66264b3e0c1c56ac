//! A clock that goes on while the machine is suspended.
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment, as the time since the machine was started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Moment {
        let time = clock_gettime(ClockId::Boottime);
        Moment(Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0)))
    }

    /// The time from now until this moment: none if it has passed.
    pub(crate) fn remaining(self) -> Duration {
        self.0.saturating_sub(Moment::now().0)
    }

    pub(crate) fn after(self, time: Duration) -> Moment {
        Moment(self.0 + time)
    }
}
