//! The actor around the slot manager, and its gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use millstream_types::{Result, TaskManagerId};
use tokio::sync::{mpsc, oneshot};

use super::SlotManager;
use super::core::SlotAction;
use crate::gateway::{
    AllocateSlot, FencingToken, FreeSlot, RegisterTaskManager, ReleaseSlots, RequestSlots, ResourceManagerGateway, SlotGrant,
    TaskExecutorGateway,
};
use crate::job::shutting_down;
use crate::spawn::{Actor, MAILBOX_MESSAGES, TaskTracker};

pub(crate) enum Message {
    Register(RegisterTaskManager, oneshot::Sender<Result<()>>),
    Request(RequestSlots, oneshot::Sender<Result<Vec<SlotGrant>>>),
    Release(ReleaseSlots, oneshot::Sender<Result<()>>),
}

/// Owns the slots.
pub(crate) struct ResourceManager {
    token: FencingToken,
    slots: SlotManager,
    task_managers: BTreeMap<TaskManagerId, Arc<dyn TaskExecutorGateway>>,
}

impl ResourceManager {
    pub(crate) fn start(token: FencingToken, tracker: &TaskTracker) -> Result<ResourceManagerClient> {
        let (mailbox, messages) = mpsc::channel(MAILBOX_MESSAGES);
        let actor = ResourceManager { token, slots: SlotManager::default(), task_managers: BTreeMap::new() };
        tracker.actor("resource manager", actor, messages, None)?;
        Ok(ResourceManagerClient { mailbox })
    }

    fn register(&mut self, message: RegisterTaskManager) -> Result<()> {
        self.token.check(message.token)?;
        self.slots.register(message.task_manager, message.slots);
        self.task_managers.insert(message.task_manager, message.gateway);
        Ok(())
    }

    async fn request(&mut self, message: RequestSlots) -> Result<Vec<SlotGrant>> {
        self.token.check(message.token)?;
        let (grants, actions) = self.slots.request(message.job, message.requirements)?;
        if let Err(error) = self.perform(actions).await {
            let undo = self.slots.release(message.job);
            self.perform(undo).await?;
            return Err(error);
        }
        Ok(grants)
    }

    async fn release(&mut self, message: ReleaseSlots) -> Result<()> {
        self.token.check(message.token)?;
        let actions = self.slots.release(message.job);
        self.perform(actions).await
    }

    async fn perform(&self, actions: Vec<SlotAction>) -> Result<()> {
        for action in actions {
            let (SlotAction::Allocate { slot, .. } | SlotAction::Free(slot)) = &action;
            let Some(gateway) = self.task_managers.get(&slot.slot.task_manager) else { continue };
            match action {
                SlotAction::Allocate { slot, group } => {
                    let message = AllocateSlot { token: self.token, slot: slot.slot, allocation: slot.allocation, group };
                    gateway.allocate_slot(message).await?;
                }
                SlotAction::Free(slot) => gateway.free_slot(FreeSlot { token: self.token, allocation: slot.allocation }).await?,
            }
        }
        Ok(())
    }
}

impl Actor for ResourceManager {
    type Message = Message;

    async fn handle(&mut self, message: Message) -> Result<bool> {
        // An asker that has gone needs no answer.
        match message {
            Message::Register(message, answer) => {
                let _ = answer.send(self.register(message));
            }
            Message::Request(message, answer) => {
                let _ = answer.send(self.request(message).await);
            }
            Message::Release(message, answer) => {
                let _ = answer.send(self.release(message).await);
            }
        }
        Ok(true)
    }
}

/// The ResourceManager of this process.
#[derive(Clone, Debug)]
pub(crate) struct ResourceManagerClient {
    mailbox: mpsc::Sender<Message>,
}

impl ResourceManagerClient {
    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<Result<T>>) -> Message) -> Result<T> {
        let (tell, answer) = oneshot::channel();
        self.mailbox.send(message(tell)).await.map_err(|_| shutting_down())?;
        answer.await.map_err(|_| shutting_down())?
    }
}

#[async_trait]
impl ResourceManagerGateway for ResourceManagerClient {
    async fn register_task_manager(&self, message: RegisterTaskManager) -> Result<()> {
        self.ask(|answer| Message::Register(message, answer)).await
    }

    async fn request_slots(&self, message: RequestSlots) -> Result<Vec<SlotGrant>> {
        self.ask(|answer| Message::Request(message, answer)).await
    }

    async fn release_slots(&self, message: ReleaseSlots) -> Result<()> {
        self.ask(|answer| Message::Release(message, answer)).await
    }
}
