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
    let (embedder, memories, allocator) = (satchel.embedder(), satchel.memories(), satchel.allocator());
    let embed = timed(time, async |text| {
        let request = EmbedTextsRequest { texts: vec![text], role: TextRole::Passage.into(), ..Default::default() };
        embedder.clone().embed_texts(request).await.map(drop)
    });
    let embed = embed.await?;
    let store = timed(time, async |text| {
        let request =
            StoreMemoryRequest { content: text, wing: WING.into(), project: project.into(), ..Default::default() };
        memories.clone().store_memory(request).await.map(drop)
    });
    let store = store.await?;
    let recall = timed(time, async |text| {
        let query = format!("Is this right? {text}");
        let request =
            RecallRequest { query, budget: 1000, wing: WING.into(), project: project.into(), ..Default::default() };
        allocator.clone().recall(request).await.map(drop)
    });
    Ok(json!({"EmbedTexts": embed, "StoreMemory": store, "Recall": recall.await?}))
}

/// Repeats a call, each time with another text, and returns its rate and the median of its times.
async fn timed(time: Duration, call: impl AsyncFn(String) -> Result<(), Status>) -> Result<Value, Fault> {
    let run = Uuid::new_v4().simple().to_string().split_off(24);
    let text =
        |number: u32| format!("Order {number} of {run} left the bakery at noon with {} loaves of bread.", number % 97);
    for number in 0..WARM_UP_CALLS {
        call(text(number)).await?;
    }
    let mut times = Vec::new();
    let began = Instant::now();
    for number in WARM_UP_CALLS.. {
        let sent = Instant::now();
        if sent - began >= time {
            break;
        }
        call(text(number)).await?;
        times.push(sent.elapsed());
    }
    let whole = began.elapsed();
    times.sort_unstable();
    let median = times.get(times.len() / 2).ok_or("no call ended in time")?;
    let rate = f64::from(u32::try_from(times.len())?) / whole.as_secs_f64();
    Ok(json!({"calls_per_second": rate, "median_ms": median.as_secs_f64() * 1000.0}))
}
