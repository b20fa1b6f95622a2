//! The Dispatcher's mailbox as others hold it.

use async_trait::async_trait;
use millstream_types::Result;
use tokio::sync::{mpsc, oneshot};

use crate::gateway::{DispatcherGateway, JobCommand, JobControl, JobEnded, SubmitJob};
use crate::job::shutting_down;
use crate::job_store::JobRecord;
use crate::spawn::MAILBOX_MESSAGES;

/// What the Dispatcher handles.
pub(crate) enum Message {
    Submit(Box<SubmitJob>, oneshot::Sender<Result<()>>),
    /// From the start of this process.
    Recover(Box<JobRecord>, oneshot::Sender<Result<()>>),
    Control(JobCommand, JobControl, oneshot::Sender<Result<()>>),
    /// Without an answer if nobody waits.
    Remove(JobCommand, Option<oneshot::Sender<Result<()>>>),
    Ended(JobEnded),
}

/// The Dispatcher of this process.
#[derive(Clone, Debug)]
pub(crate) struct DispatcherClient {
    mailbox: mpsc::Sender<Message>,
}

impl DispatcherClient {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Message>) {
        let (mailbox, messages) = mpsc::channel(MAILBOX_MESSAGES);
        (DispatcherClient { mailbox }, messages)
    }

    /// Takes in a job of an earlier process.
    pub(crate) async fn recover(&self, record: JobRecord) -> Result<()> {
        self.ask(|answer| Message::Recover(Box::new(record), answer)).await
    }

    async fn ask(&self, message: impl FnOnce(oneshot::Sender<Result<()>>) -> Message) -> Result<()> {
        let (tell, answer) = oneshot::channel();
        self.mailbox.send(message(tell)).await.map_err(|_| shutting_down())?;
        answer.await.map_err(|_| shutting_down())?
    }
}

#[async_trait]
impl DispatcherGateway for DispatcherClient {
    async fn submit(&self, message: SubmitJob) -> Result<()> {
        self.ask(|answer| Message::Submit(Box::new(message), answer)).await
    }

    async fn cancel(&self, message: JobCommand) -> Result<()> {
        self.ask(|answer| Message::Control(message, JobControl::Cancel, answer)).await
    }

    async fn set_paused(&self, message: JobCommand, paused: bool) -> Result<()> {
        let control = if paused { JobControl::Pause } else { JobControl::Resume };
        self.ask(|answer| Message::Control(message, control, answer)).await
    }

    async fn remove(&self, message: JobCommand) -> Result<()> {
        self.ask(|answer| Message::Remove(message, Some(answer))).await
    }

    fn tell_remove(&self, message: JobCommand) {
        if self.mailbox.try_send(Message::Remove(message, None)).is_err() {
            tracing::error!(job = %message.job, "the Dispatcher could not be told to remove a job");
        }
    }

    async fn job_ended(&self, message: JobEnded) -> Result<()> {
        self.mailbox.send(Message::Ended(message)).await.map_err(|_| shutting_down())
    }
}
