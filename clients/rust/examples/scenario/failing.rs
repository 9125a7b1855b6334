//! Steps that fail as the contract says.

use std::time::Duration;

use satchel_client::api::store::v1::{GetMemoryRequest, WatchChangesRequest};
use satchel_client::{Error, tonic::Request};
use serde_json::{Value, json};

use crate::json::{code_name, describe, number, refused, text};
use crate::{Fault, Run};

impl Run {
    pub async fn invalid_argument(&self, step: &Value) -> Result<Value, Fault> {
        let memory = self.memory(&step["request"])?;
        Ok(describe(&refused(self.satchel.memories().store_memory(memory).await)?))
    }

    pub async fn missing_memory(&self, step: &Value) -> Result<Value, Fault> {
        let request = GetMemoryRequest { id: text(&step["request"], "id"), project: self.project.clone() };
        Ok(describe(&refused(self.satchel.memories().get_memory(request).await)?))
    }

    pub async fn deadline(&self, step: &Value) -> Result<Value, Fault> {
        let request =
            WatchChangesRequest { project: self.project.clone(), after_revision: self.revision, ..Default::default() };
        let mut request = Request::new(request);
        request.set_timeout(Duration::from_millis(number(step, "deadline_ms")?.try_into()?));
        let mut feed = self.satchel.changes().watch_changes(request).await?.into_inner();
        let error = loop {
            match feed.message().await {
                Ok(Some(_)) => {}
                Ok(None) => return Err("the stream ended without an error".into()),
                Err(status) => break Error::from(status),
            }
        };
        Ok(json!({
            "code": code_name(error.code()),
            "reason": error.info().map(|info| &info.reason),
            "domain": error.info().map(|info| &info.domain),
        }))
    }
}
