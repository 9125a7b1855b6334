//! Calls per second and median latency, one call after the other over one connection.

use std::time::{Duration, Instant};

use satchel_client::api::allocator::v1::RecallRequest;
use satchel_client::api::embedder::v1::{EmbedTextsRequest, TextRole};
use satchel_client::api::store::v1::StoreMemoryRequest;
use satchel_client::{Satchel, tonic::Status};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Fault;

const WARM_UP_CALLS: u32 = 20;
const WING: &str = "bench";

/// Measures three RPCs for `time` each.
pub async fn measure(satchel: &Satchel, project: &str, time: Duration) -> Result<Value, Fault> {
    let run = Uuid::new_v4().simple().to_string().split_off(26);
    let (embedder, memories, allocator) = (satchel.embedder(), satchel.memories(), satchel.allocator());
    let note = |number: u32| format!("Note {number} of {run}: the baker wants the oven checked every {number} days.");
    let embed = timed(time, async |number| {
        let request =
            EmbedTextsRequest { texts: vec![note(number)], role: TextRole::Passage.into(), ..Default::default() };
        embedder.clone().embed_texts(request).await.map(drop)
    });
    let embed = embed.await?;
    let store = timed(time, async |number| {
        let request = StoreMemoryRequest {
            content: note(number),
            wing: WING.into(),
            project: project.into(),
            ..Default::default()
        };
        memories.clone().store_memory(request).await.map(drop)
    });
    let store = store.await?;
    let recall = timed(time, async |number| {
        let query = format!("How often does the baker want the oven checked after note {number}?");
        let request =
            RecallRequest { query, budget: 1000, wing: WING.into(), project: project.into(), ..Default::default() };
        allocator.clone().recall(request).await.map(drop)
    });
    Ok(json!({"EmbedTexts": embed, "StoreMemory": store, "Recall": recall.await?}))
}

/// Repeats a call, numbered from 0, and returns its rate and the median of its times.
async fn timed(time: Duration, call: impl AsyncFn(u32) -> Result<(), Status>) -> Result<Value, Fault> {
    for number in 0..WARM_UP_CALLS {
        call(number).await?;
    }
    let mut times = Vec::new();
    let began = Instant::now();
    for number in WARM_UP_CALLS.. {
        let sent = Instant::now();
        if sent - began >= time {
            break;
        }
        call(number).await?;
        times.push(sent.elapsed());
    }
    let whole = began.elapsed();
    times.sort_unstable();
    let median = times.get(times.len() / 2).ok_or("no call ended in time")?;
    let rate = f64::from(u32::try_from(times.len())?) / whole.as_secs_f64();
    Ok(json!({"calls_per_second": rate, "median_ms": median.as_secs_f64() * 1000.0}))
}
