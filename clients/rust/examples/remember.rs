//! Stores a memory, and asks for it under a budget of 500 tokens.

use satchel_client::Satchel;
use satchel_client::api::{allocator::v1::RecallRequest, store::v1::StoreMemoryRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let satchel = Satchel::builder().build()?; // SATCHEL_URL, else 127.0.0.1:50051
    let memory = StoreMemoryRequest {
        wing: "billing".into(),
        content: "We chose PostgreSQL over MySQL because the ledger needs ACID.".into(),
        ..Default::default()
    };
    let stored = satchel.remember(memory).await?;

    let question = RecallRequest {
        query: "Which database does the ledger use, and why?".into(),
        wing: "billing".into(),
        budget: 500,
        min_revision: stored.revision, // read your own write
        ..Default::default()
    };
    let answer = satchel.recall(question).await?;
    println!("{}", answer.context);
    println!("{} of 500 tokens", answer.total_tokens);
    Ok(())
}
