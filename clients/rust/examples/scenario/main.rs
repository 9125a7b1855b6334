//! Runs the scenario of `clients/scenario.json` and prints what every client must print; or measures calls.
//!
//! Usage: `scenario --url URL --project NAME PATH`, or `scenario --url URL --project NAME --bench SECONDS`.

mod bench;
mod failing;
mod finding;
mod json;
mod storing;

use std::error::Error;
use std::time::Duration;
use std::{env, fs};

use satchel_client::Satchel;
use satchel_client::api::store::v1::StoreMemoryResponse;
use serde_json::{Map, Value};

type Fault = Box<dyn Error>;

const USAGE: &str = "scenario --url URL --project NAME (PATH | --bench SECONDS)";

/// What the command line asks for.
enum Task {
    Scenario(String),
    Bench(Duration),
}

/// A run of the scenario: where it runs, and what its steps hand on.
struct Run {
    satchel: Satchel,
    project: String,
    wing: String,
    /// Answers of `store_three`, with the texts.
    stored: Vec<(String, StoreMemoryResponse)>,
    /// Revision of the last stored memory.
    revision: i64,
    /// The request of `recall`.
    question: Value,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let (url, project, task) = arguments(env::args().skip(1))?;
    let satchel = Satchel::builder().url(url).timeout(Duration::from_secs(30)).build()?;
    let result = match task {
        Task::Bench(time) => bench::measure(&satchel, &project, time).await?,
        Task::Scenario(path) => {
            let scenario: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
            let wing = json::text(&scenario, "wing");
            let run = Run { satchel, project, wing, stored: Vec::new(), revision: 0, question: Value::Null };
            run.all(json::items(&scenario, "steps")).await?
        }
    };
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}

fn arguments(mut words: impl Iterator<Item = String>) -> Result<(String, String, Task), Fault> {
    let (mut url, mut project, mut task) = (None, None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--url" => url = words.next(),
            "--project" => project = words.next(),
            "--bench" => task = Some(Task::Bench(Duration::try_from_secs_f64(words.next().ok_or(USAGE)?.parse()?)?)),
            _ => task = Some(Task::Scenario(word)),
        }
    }
    Ok((url.ok_or(USAGE)?, project.ok_or(USAGE)?, task.ok_or(USAGE)?))
}

impl Run {
    /// Carries out the steps in order, and returns what each prints under its name.
    async fn all(mut self, steps: &[Value]) -> Result<Value, Fault> {
        let mut printed = Map::new();
        for step in steps {
            let name = json::text(step, "name");
            let result = self.step(&name, step).await.map_err(|fault| format!("{name}: {fault}"))?;
            printed.insert(name, result);
        }
        Ok(printed.into())
    }

    async fn step(&mut self, name: &str, step: &Value) -> Result<Value, Fault> {
        match name {
            "health" => self.health(step).await,
            "store_three" => self.store_three(step).await,
            "store_by_stream" => self.store_by_stream(step).await,
            "same_request_id" => self.same_request_id(step).await,
            "recall" => self.recall(step).await,
            "search" => self.search(step).await,
            "allocate" => self.allocate(step).await,
            "embed" => self.embed(step).await,
            "list" => self.list(step).await,
            "watch" => self.watch().await,
            "invalid_argument" => self.invalid_argument(step).await,
            "missing_memory" => self.missing_memory(step).await,
            "deadline" => self.deadline(step).await,
            "trace" => self.trace().await,
            _ => Err("this runner does not know the step".into()),
        }
    }
}
