//! Time since an arbitrary start, counting the time the machine sleeps.

use std::time::Duration;

/// Source of the time by which the catalog ages.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment. Never goes back, and goes on while the
    /// machine sleeps where the system offers such a clock.
    fn now(&self) -> Duration;
}

/// The system's clock.
///
/// [`std::time::Instant`] stands still during sleep on Linux and macOS, which
/// would let a laptop that wakes after a day serve yesterday's catalog as fresh.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[cfg(unix)]
    fn now(&self) -> Duration {
        // Apple's CLOCK_MONOTONIC counts sleep (clock_gettime(3)); Linux has CLOCK_BOOTTIME for that.
        #[cfg(target_os = "linux")]
        let id = rustix::time::ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let id = rustix::time::ClockId::Monotonic;
        let time = rustix::time::clock_gettime(id);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or_default(),
            u32::try_from(time.tv_nsec).unwrap_or_default(),
        )
    }

    #[cfg(windows)]
    fn now(&self) -> Duration {
        crate::sandbox::windows::time_since_boot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_does_not_go_back() {
        let first = SystemClock.now();
        assert!(first > Duration::ZERO);
        assert!(SystemClock.now() >= first);
    }
}
