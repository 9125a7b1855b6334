//! From the scenario's JSON to messages, and from errors to JSON.

use std::collections::BTreeMap;

use satchel_client::Error;
use satchel_client::api::allocator::v1::{RecallRequest, Strategy};
use satchel_client::api::store::v1::StoreMemoryRequest;
use satchel_client::api::types::v1::MemoryType;
use satchel_client::prost_types::Timestamp;
use satchel_client::tonic::{Code, Response, Status};
use serde_json::{Value, json};

use crate::{Fault, Run};

pub fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_default().to_owned()
}

pub fn texts(object: &Value, name: &str) -> Vec<String> {
    items(object, name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub fn items<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map_or(&[], Vec::as_slice)
}

pub fn number(object: &Value, name: &str) -> Result<i32, Fault> {
    let number = object[name].as_i64().ok_or_else(|| format!("{name} is no whole number"))?;
    Ok(i32::try_from(number)?)
}

pub fn time(object: &Value, name: &str) -> Result<Option<Timestamp>, Fault> {
    Ok(object[name].as_str().map(str::parse).transpose()?)
}

/// Returns the number of an enum's value; 0 when the field is not there.
fn value_of<E: Into<i32>>(text: &Value, from_name: fn(&str) -> Option<E>) -> Result<i32, Fault> {
    let Some(name) = text.as_str() else { return Ok(0) };
    from_name(name).map(Into::into).ok_or_else(|| format!("the contract does not know {name}").into())
}

pub fn memory_type(text: &Value) -> Result<i32, Fault> {
    value_of(text, MemoryType::from_str_name)
}

pub fn strategy(text: &Value) -> Result<i32, Fault> {
    value_of(text, Strategy::from_str_name)
}

impl Run {
    /// The memory that a request of the scenario describes, in the run's project, and in its wing unless it names one.
    pub fn memory(&self, request: &Value) -> Result<StoreMemoryRequest, Fault> {
        Ok(StoreMemoryRequest {
            project: self.project.clone(),
            content: text(request, "content"),
            wing: request["wing"].as_str().unwrap_or(&self.wing).to_owned(),
            room: text(request, "room"),
            r#type: memory_type(&request["type"])?,
            session_id: text(request, "session_id"),
            occurred_at: time(request, "occurred_at")?,
            tags: texts(request, "tags"),
            ..Default::default()
        })
    }

    /// The question of the scenario, in the run's wing, after everything that is stored.
    pub fn question(&self, request: &Value) -> Result<RecallRequest, Fault> {
        Ok(RecallRequest {
            project: self.project.clone(),
            query: text(request, "query"),
            budget: number(request, "budget")?,
            strategy: strategy(&request["strategy"])?,
            wing: self.wing.clone(),
            min_revision: self.revision,
            ..Default::default()
        })
    }
}

/// Returns the error of a call that must fail.
pub fn refused<T>(answer: Result<Response<T>, Status>) -> Result<Error, Fault> {
    answer.err().map(Error::from).ok_or_else(|| "the call should have failed".into())
}

/// Describes an error whole.
pub fn describe(error: &Error) -> Value {
    let info = error.info();
    json!({
        "code": code_name(error.code()),
        "reason": info.map(|info| &info.reason),
        "domain": info.map(|info| &info.domain),
        "metadata": info.map(|info| info.metadata.iter().collect::<BTreeMap<_, _>>()),
    })
}

/// Returns the canonical name, `INVALID_ARGUMENT` for `InvalidArgument`: `tonic` has it in another spelling only.
pub fn code_name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}
