//! All jobs of the cluster. The Dispatcher writes, everybody reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use millstream_types::JobId;
use parking_lot::RwLock;

use crate::gateway::{JobMasterGateway, JobMasterLocator};
use crate::job_master::{JobEntry, JobMasterClient};

/// Jobs by id.
#[derive(Debug, Default)]
pub(crate) struct JobDirectory {
    jobs: RwLock<BTreeMap<JobId, DirectoryJob>>,
}

#[derive(Debug, Clone)]
pub(crate) struct DirectoryJob {
    pub(crate) entry: Arc<JobEntry>,
    pub(crate) job_master: JobMasterClient,
}

impl JobDirectory {
    pub(crate) fn contains(&self, job: JobId) -> bool {
        self.jobs.read().contains_key(&job)
    }

    pub(crate) fn get(&self, job: JobId) -> Option<DirectoryJob> {
        self.jobs.read().get(&job).cloned()
    }

    pub(crate) fn entries(&self) -> Vec<Arc<JobEntry>> {
        self.jobs.read().values().map(|j| Arc::clone(&j.entry)).collect()
    }

    pub(super) fn insert(&self, entry: Arc<JobEntry>, job_master: JobMasterClient) {
        self.jobs.write().insert(entry.job, DirectoryJob { entry, job_master });
    }

    pub(super) fn remove(&self, job: JobId) -> Option<DirectoryJob> {
        self.jobs.write().remove(&job)
    }
}

impl JobMasterLocator for JobDirectory {
    fn job_master(&self, job: JobId) -> Option<Arc<dyn JobMasterGateway>> {
        let job_master = self.jobs.read().get(&job)?.job_master.clone();
        Some(Arc::new(job_master))
    }
}
