//! The one place that starts background work: actors and helpers, ended in order, first error kept.
//!
//! An actor's loop prefers the end of the cluster to a message, and a message to a timer, so that neither a flood of messages delays a
//! shutdown nor a timer delays a message.

use std::future::Future;
use std::time::Duration;

use millstream_types::{Error, Result, SqlState};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Messages an actor's mailbox holds unless it needs more; senders that wait are the bound beyond it.
pub(crate) const MAILBOX_MESSAGES: usize = 1_024;

/// An owner task's behaviour: one message at a time.
pub(crate) trait Actor: Send + 'static {
    /// What it is told and asked.
    type Message: Send + 'static;

    /// Handles one message. `Ok(false)` ends the actor.
    fn handle(&mut self, message: Self::Message) -> impl Future<Output = Result<bool>> + Send;

    /// The timer fired (only if it was started with one).
    fn on_timer(&mut self) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }
}

/// All background tasks of a cluster.
#[derive(Debug)]
pub(crate) struct TaskTracker {
    shutdown: watch::Sender<bool>,
    tasks: Mutex<Option<JoinSet<Result<()>>>>,
    failure: Mutex<Option<Error>>,
    /// Tasks of the runtime ask for work from threads that are not tokio's.
    runtime: Handle,
}

impl TaskTracker {
    /// Of the runtime that the caller is in.
    pub(crate) fn new() -> Self {
        TaskTracker {
            shutdown: watch::Sender::new(false),
            tasks: Mutex::new(Some(JoinSet::new())),
            failure: Mutex::new(None),
            runtime: Handle::current(),
        }
    }

    /// Runs an actor until its mailbox closes, it ends itself, or the cluster ends.
    pub(crate) fn actor<A: Actor>(
        &self,
        name: &'static str,
        actor: A,
        mailbox: mpsc::Receiver<A::Message>,
        timer: Option<Duration>,
    ) -> Result<()> {
        let shutdown = self.shutdown.subscribe();
        self.spawn(async move {
            let result = run(actor, mailbox, timer, shutdown).await;
            if let Err(error) = &result {
                tracing::error!(actor = name, %error, "actor ended");
            }
            result
        })
    }

    /// Runs work that blocks a thread for a moment, such as joining one.
    pub(crate) fn blocking(&self, work: impl FnOnce() + Send + 'static) {
        if let Some(tasks) = self.tasks.lock().as_mut() {
            let work = move || {
                work();
                Ok(())
            };
            tasks.spawn_blocking_on(work, &self.runtime);
            self.reap(tasks);
        }
    }

    /// Does something after a delay, unless the cluster ends before.
    pub(crate) fn after(&self, delay: Duration, then: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let mut shutdown = self.shutdown.subscribe();
        self.spawn(async move {
            tokio::select! {
                biased;
                () = is_down(&mut shutdown) => (),
                () = async { tokio::time::sleep(delay).await; then.await } => (),
            }
            Ok(())
        })
    }

    fn spawn(&self, task: impl Future<Output = Result<()>> + Send + 'static) -> Result<()> {
        let mut tasks = self.tasks.lock();
        let tasks = tasks.as_mut().ok_or_else(crate::job::shutting_down)?;
        tasks.spawn_on(task, &self.runtime);
        self.reap(tasks);
        Ok(())
    }

    /// Takes the results of tasks that have ended, so that the set does not grow with the life of the cluster.
    fn reap(&self, tasks: &mut JoinSet<Result<()>>) {
        while let Some(ended) = tasks.try_join_next() {
            self.keep_first(ended);
        }
    }

    fn keep_first(&self, ended: Result<Result<()>, tokio::task::JoinError>) {
        let error = match ended {
            Ok(Ok(())) => return,
            // Whoever asks another one that has ended already.
            Ok(Err(error)) if error.state() == SqlState::ADMIN_SHUTDOWN && *self.shutdown.borrow() => return,
            Ok(Err(error)) => error,
            Err(join) if join.is_cancelled() => return,
            Err(join) => Error::internal(format!("a background task panicked: {join}")),
        };
        self.failure.lock().get_or_insert(error);
    }

    /// Tells every task to end and waits for all of them.
    ///
    /// # Errors
    /// The first error any of them ended with.
    pub(crate) async fn shutdown(&self) -> Result<()> {
        self.shutdown.send_replace(true);
        let tasks = self.tasks.lock().take();
        if let Some(mut tasks) = tasks {
            while let Some(ended) = tasks.join_next().await {
                self.keep_first(ended);
            }
        }
        match self.failure.lock().take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

async fn run<A: Actor>(
    mut actor: A,
    mut mailbox: mpsc::Receiver<A::Message>,
    timer: Option<Duration>,
    mut shutdown: watch::Receiver<bool>,
) -> Result<()> {
    let mut interval = timer.map(tokio::time::interval);
    if let Some(interval) = &mut interval {
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    loop {
        tokio::select! {
            biased;
            () = is_down(&mut shutdown) => return Ok(()),
            message = mailbox.recv() => match message {
                Some(message) => if !actor.handle(message).await? { return Ok(()) },
                None => return Ok(()),
            },
            () = next(&mut interval) => actor.on_timer().await?,
        }
    }
}

async fn is_down(shutdown: &mut watch::Receiver<bool>) {
    // The sender going away is the end, too.
    let _ = shutdown.wait_for(|down| *down).await;
}

async fn next(interval: &mut Option<tokio::time::Interval>) {
    match interval {
        Some(interval) => {
            interval.tick().await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    struct Echo(mpsc::Sender<u32>);

    impl Actor for Echo {
        type Message = u32;
        async fn handle(&mut self, message: u32) -> Result<bool> {
            if message == 0 {
                return Err(Error::internal("zero"));
            }
            self.0.send(message).await.map_err(Error::internal)?;
            Ok(true)
        }
    }

    #[tokio::test]
    async fn messages_pass_and_the_first_error_is_kept() {
        let tracker = TaskTracker::new();
        let (out, mut seen) = mpsc::channel(8);
        for _ in 0..2 {
            let (tell, mailbox) = mpsc::channel(8);
            tracker.actor("echo", Echo(out.clone()), mailbox, None).unwrap();
            tell.send(7).await.unwrap();
            tell.send(0).await.unwrap();
            assert_eq!(seen.recv().await, Some(7));
            tell.closed().await;
        }
        assert_eq!(tracker.shutdown().await.unwrap_err().message(), "zero");
        let (_, mailbox) = mpsc::channel(8);
        assert!(tracker.actor("echo", Echo(out), mailbox, None).is_err(), "nothing starts after the end");
    }
}
