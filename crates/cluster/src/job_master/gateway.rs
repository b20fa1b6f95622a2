//! The JobMaster's mailbox as others hold it.

use tokio::sync::mpsc;

use super::core::Event;
use crate::checkpoint::Recovered;
use crate::gateway::{CheckpointNews, ControlJob, FencingToken, JobMasterGateway, TickJob, UpdateTask};

/// Messages per task that a JobMaster's mailbox has room for: its states, a tick each, its wishes.
const MESSAGES_PER_TASK: usize = 16;

/// The JobMaster of one job in this process.
#[derive(Clone, Debug)]
pub(crate) struct JobMasterClient {
    token: FencingToken,
    mailbox: mpsc::Sender<Event>,
}

impl JobMasterClient {
    /// A mailbox that cannot be full: what a task may tell, and the ticks under way, are bounded by protocol.
    pub(crate) fn new(token: FencingToken, tasks: usize) -> (Self, mpsc::Receiver<Event>) {
        let (mailbox, events) = mpsc::channel(crate::spawn::MAILBOX_MESSAGES + tasks * MESSAGES_PER_TASK);
        (JobMasterClient { token, mailbox }, events)
    }

    fn tell(&self, event: Event) {
        match self.mailbox.try_send(event) {
            // A job that has ended listens no more.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => (),
            Err(mpsc::error::TrySendError::Full(event)) => tracing::error!(?event, "the mailbox of a JobMaster is full: message lost"),
        }
    }

    /// The delay before a restart is over.
    pub(super) fn restart(&self, newest: millstream_types::Result<Recovered>) {
        self.tell(Event::Restart(newest));
    }

    pub(super) fn start(&self) {
        self.tell(Event::Start);
    }
}

impl JobMasterGateway for JobMasterClient {
    fn tick(&self, message: TickJob) {
        if self.token.admits(message.token, "tick") {
            self.tell(Event::Tick(message.barrier));
        }
    }

    fn update_task(&self, message: UpdateTask) {
        if self.token.admits(message.token, "update task") {
            self.tell(Event::Task { attempt: message.attempt, report: message.report });
        }
    }

    fn control(&self, message: ControlJob) {
        if self.token.admits(message.token, "control job") {
            self.tell(Event::Control(message.control));
        }
    }

    fn checkpoint(&self, message: CheckpointNews) {
        if self.token.admits(message.token, "checkpoint") {
            self.tell(match message.durable {
                Some(checkpoint) => Event::Checkpointed(std::sync::Arc::new(checkpoint)),
                None => Event::CheckpointAborted(message.epoch),
            });
        }
    }
}
