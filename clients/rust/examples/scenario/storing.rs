//! Steps that store, list and watch.

use std::collections::HashSet;

use futures_util::stream;
use satchel_client::api::store::v1::import_memories_request::Record;
use satchel_client::api::store::v1::import_memories_response::Result as Outcome;
use satchel_client::api::store::v1::{DeleteMemoryRequest, ImportMemoriesRequest, ImportMemoriesResponse};
use satchel_client::api::store::v1::{ListMemoriesRequest, WatchChangesRequest};
use satchel_client::{Error, TryStreamExt, tonic::Code};
use serde_json::{Value, json};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use uuid::Uuid;

use crate::json::{code_name, items, number, refused, text};
use crate::{Fault, Run};

impl Run {
    pub async fn health(&self, step: &Value) -> Result<Value, Fault> {
        let mut health = HealthClient::new(self.satchel.connection());
        let answer =
            health.check(HealthCheckRequest { service: text(&step["request"], "service") }).await?.into_inner();
        Ok(json!({"status": answer.status().as_str_name()}))
    }

    pub async fn store_three(&mut self, step: &Value) -> Result<Value, Fault> {
        let mut printed = Vec::new();
        for request in items(step, "requests") {
            let answer = self.satchel.remember(self.memory(request)?).await?;
            printed.push(json!({
                "type": answer.r#type().as_str_name(),
                "room": answer.room,
                "duplicate": answer.duplicate,
                "embedding": answer.embedding().as_str_name(),
                "token_count": answer.token_count,
                "is_uuid": Uuid::try_parse(&answer.id).is_ok_and(|id| id.to_string() == answer.id),
            }));
            self.stored.push((text(request, "content"), answer));
        }
        Ok(printed.into())
    }

    pub async fn store_by_stream(&self, step: &Value) -> Result<Value, Fault> {
        let memories =
            items(step, "requests").iter().map(|request| self.memory(request)).collect::<Result<Vec<_>, _>>()?;
        let records = (1..).zip(memories).map(|(sequence, memory)| {
            let record = Some(Record::NewMemory(memory));
            ImportMemoriesRequest { sequence, record }
        });
        let records = stream::iter(records.collect::<Vec<_>>());
        let answers = self.satchel.memories().import_memories(records).await?.into_inner();
        let printed: Vec<_> = answers.map_ok(of_record).try_collect().await?;
        Ok(printed.into())
    }

    pub async fn same_request_id(&mut self, step: &Value) -> Result<Value, Fault> {
        let request_id = Uuid::new_v4().to_string();
        let mut memory = self.memory(step)?;
        memory.request_id.clone_from(&request_id);
        let first = self.satchel.remember(memory.clone()).await?;
        let second = self.satchel.remember(memory.clone()).await?;
        self.revision = first.revision;
        memory.content = text(step, "other_content");
        let error = refused(self.satchel.memories().store_memory(memory).await)?;
        Ok(json!({
            "same_id": first.id == second.id,
            "code": code_name(error.code()),
            "reason": error.info().map(|info| &info.reason),
            "request_id_named": error.metadata().get("request_id") == Some(&request_id),
        }))
    }

    pub async fn list(&self, step: &Value) -> Result<Value, Fault> {
        let page_size = number(step, "page_size")?;
        let wing = self.wing.clone();
        let mut request = ListMemoriesRequest { project: self.project.clone(), wing, page_size, ..Default::default() };
        let pages: Vec<_> = self.satchel.pages(request.clone()).try_collect().await?;
        let memories: Vec<_> = pages.iter().flat_map(|page| &page.memories).collect();
        let mut contents: Vec<_> = memories.iter().map(|memory| &memory.content).collect();
        contents.sort();
        request.page_size = number(step, "other_page_size")?;
        request.page_token.clone_from(&pages.first().ok_or("there was no page")?.next_page_token);
        let error = refused(self.satchel.memories().list_memories(request).await)?;
        Ok(json!({
            "pages": pages.iter().map(|page| page.memories.len()).collect::<Vec<_>>(),
            "contents": contents,
            "unique": memories.iter().map(|memory| &memory.id).collect::<HashSet<_>>().len() == memories.len(),
            "code": code_name(error.code()),
            "reason": error.info().map(|info| &info.reason),
            "field": error.metadata().get("field"),
        }))
    }

    pub async fn watch(&self) -> Result<Value, Fault> {
        let (_, memory) = self.stored.get(1).ok_or("nothing to delete was stored")?;
        let request =
            WatchChangesRequest { project: self.project.clone(), after_revision: self.revision, ..Default::default() };
        let mut feed = self.satchel.changes().watch_changes(request).await?.into_inner();
        let first = feed.message().await?.ok_or("the feed ended")?;
        let request =
            DeleteMemoryRequest { id: memory.id.clone(), project: self.project.clone(), ..Default::default() };
        let deleted = self.satchel.memories().delete_memory(request).await?.into_inner();
        let change = loop {
            let response = feed.message().await?.ok_or("the feed ended")?;
            if let Some(change) = response.changes.into_iter().next() {
                break change;
            }
        };
        // A stream is cancelled by dropping it; who waited for it in a task learns that from the task.
        let reading = tokio::spawn(async move { feed.message().await });
        reading.abort();
        let code = match reading.await {
            Err(gone) if gone.is_cancelled() => Code::Cancelled,
            Err(panic) => return Err(panic.into()),
            Ok(read) => read.map_or_else(|status| status.code(), |_| Code::Ok),
        };
        Ok(json!({
            "first_is_empty": first.changes.is_empty(),
            "kind": change.kind().as_str_name(),
            "is_the_memory": change.memory_id == memory.id,
            "revision_agrees": change.revision == deleted.revision,
            "code": code_name(code),
        }))
    }
}

/// Describes what became of one record of an import.
fn of_record(answer: ImportMemoriesResponse) -> Value {
    let stored = matches!(answer.result, Some(Outcome::Stored(_)));
    let error = match answer.result {
        Some(Outcome::Error(status)) => Some(Error::from(status)),
        _ => None,
    };
    json!({
        "sequence": answer.sequence,
        "stored": stored,
        "code": error.as_ref().map(|error| code_name(error.code())),
        "reason": error.as_ref().and_then(Error::info).map(|info| &info.reason),
        "field": error.as_ref().and_then(|error| error.metadata().get("field")),
    })
}
