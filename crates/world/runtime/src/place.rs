//! The limit on simultaneous attempts. It counts attempts that use this computer's cores; an attempt that waits for a
//! model, an agent, another run or a person takes no place.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The place of one attempt. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Place(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    /// The attempt needs no place, or has ended.
    NotNeeded,
    /// The attempt has its place.
    Taken { _permit: OwnedSemaphorePermit },
    /// The attempt has given up its place while it waits for a person.
    GivenUp,
}

impl Place {
    /// Returns the place of an attempt that needs none.
    pub(crate) fn none() -> Self {
        Place(Arc::new(Mutex::new(State::NotNeeded)))
    }

    /// Returns a place that holds this permit.
    pub(crate) fn of(permit: OwnedSemaphorePermit) -> Self {
        Place(Arc::new(Mutex::new(State::Taken { _permit: permit })))
    }

    /// Waits for a place if the attempt needs one. Returns `None` if the runtime has ended.
    pub(crate) async fn wait(permits: &Arc<Semaphore>, is_needed: bool) -> Option<Self> {
        match is_needed {
            true => Arc::clone(permits).acquire_owned().await.ok().map(Place::of),
            false => Some(Place::none()),
        }
    }

    /// Takes a place if one is free, or if the attempt needs none.
    pub(crate) fn try_take(permits: &Arc<Semaphore>, is_needed: bool) -> Option<Self> {
        match is_needed {
            true => Arc::clone(permits).try_acquire_owned().ok().map(Place::of),
            false => Some(Place::none()),
        }
    }

    /// Gives the place up when the attempt has ended.
    pub(crate) fn end(&self) {
        *self.state() = State::NotNeeded;
    }

    /// Gives the place up while the attempt waits for a person.
    pub(crate) fn give_up(&self) {
        let mut state = self.state();
        if let State::Taken { .. } = *state {
            *state = State::GivenUp;
        }
    }

    /// Takes the place again after a wait, as soon as one is free.
    pub(crate) async fn take_again(&self, permits: &Arc<Semaphore>) {
        if !matches!(*self.state(), State::GivenUp) {
            return;
        }
        let Ok(permit) = Arc::clone(permits).acquire_owned().await else { return };
        let mut state = self.state();
        // Another wait of the same attempt may have taken it again, or the attempt may have ended.
        if let State::GivenUp = *state {
            *state = State::Taken { _permit: permit };
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_waiting_attempt_takes_no_place() {
        let permits = Arc::new(Semaphore::new(1));
        let place = Place::try_take(&permits, true).unwrap();
        assert!(Place::try_take(&permits, true).is_none(), "the only place is taken");
        assert!(Place::try_take(&permits, false).is_some(), "a wait needs none");
        place.give_up();
        assert_eq!(permits.available_permits(), 1);
        place.take_again(&permits).await;
        assert_eq!(permits.available_permits(), 0);
        place.end();
        place.take_again(&permits).await;
        assert_eq!(permits.available_permits(), 1, "an attempt that has ended takes no place again");
    }
}
